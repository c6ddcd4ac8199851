/*
 * An array as a picture: what a model saw, or gave, as PNG in base64.
 *
 * A picture has 1 or 3 channels, first or last, and sides of at least 8 pixels. Values go back
 * through the preparation to 0 to 255; where they do not fit, they are stretched from the least to
 * the greatest.
 */
#ifndef BY_REPORT_PICTURE_H
#define BY_REPORT_PICTURE_H

#include "array/array.h"
#include "base/json.h"
#include "input/prep.h"

#define BY_PICTURE_SIDE 320 /* pixels at most; larger ones are shrunk by a whole factor */

struct by_picture {
    size_t width, height, channels;
    size_t shrunk;    /* the factor */
    bool stretched;   /* values did not fit the preparation */
    uint8_t *pixels;  /* rows of RGB or gray */
    double low, high; /* what 0 and 255 stand for, where stretched */
};

/* Of the first picture of a batch. prep NULL: stretched. like: stretched as that one; NULL: by its
 * own values. *is: it is a picture. Pixels go to the arena. */
int by_picture_make(struct by_picture *picture, const struct by_array *array,
                    const struct by_prep *prep, const struct by_picture *like,
                    struct by_arena *arena, bool *is, struct baryon_error *err);
/* A member "picture". */
int by_picture_json(const struct by_picture *picture, struct by_json *json,
                    struct baryon_error *err);
/* Sides of the array's picture; false: it is none. */
bool by_picture_sides(const struct by_array *array, const struct by_prep *prep, size_t *width,
                      size_t *height);

#endif
