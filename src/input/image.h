/*
 * Decoding JPEG and PNG into 8-bit RGB. Header first, limits before any pixel.
 */
#ifndef BY_IMAGE_H
#define BY_IMAGE_H

#include "base/file.h"
#include "ir/model.h"

#define BY_IMAGE_SIDE_MAX 32768
#define BY_IMAGE_PIXELS_MAX 268435456u
#define BY_IMAGE_SCANS_MAX 500

struct by_image {
    size_t width, height;
    uint8_t *rgb;          /* width * height * 3, by_alloc'ed */
    unsigned orientation;  /* EXIF, 1 when none; already applied to rgb */
    bool had_profile, had_alpha, was_gray, was_16bit, was_palette, was_cmyk, animated;
};

struct by_image_info {
    const char *format; /* "jpeg", "png" */
    size_t width, height;
    unsigned orientation;
};

int by_image_header(const uint8_t *bytes, size_t size, struct by_image_info *info,
                    struct baryon_error *err);
int by_image_decode(const uint8_t *bytes, size_t size, struct by_image *image,
                    struct baryon_error *err);
void by_image_release(struct by_image *image);

#endif
