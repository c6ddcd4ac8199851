/*
 * Geometry of the preparation: where the dimensions of a port are, and how large a
 * picture becomes and what part of it is kept.
 */
#ifndef BY_PREP_PLACE_H
#define BY_PREP_PLACE_H

#include "input/prep.h"

/* A port as a picture sees it. Sides are -1 where the port leaves them open. */
struct by_prep_axes {
    enum by_layout layout; /* NCHW or NHWC, never AUTO */
    bool batch;
    size_t channels;
    int64_t width, height;
};

/* The picture is resized and then lies in the output with its corner at left, top. */
struct by_prep_place {
    size_t resized_w, resized_h;
    size_t out_w, out_h;
    int64_t left, top; /* negative: that much is cut off */
};

int by_prep_axes(const struct by_prep *prep, const struct by_port *port, struct by_prep_axes *axes,
                 struct baryon_error *err);
/* Width and height that the settings and the port agree on; 0 when they are the picture's. */
int by_prep_target(const struct by_prep *prep, const struct by_prep_axes *axes, size_t *width,
                   size_t *height, struct baryon_error *err);
size_t by_prep_short_side(const struct by_prep *prep, size_t width, size_t height);
int by_prep_place(const struct by_prep *prep, size_t target_w, size_t target_h, size_t width,
                  size_t height, struct by_prep_place *place, struct baryon_error *err);
size_t by_prep_channels(enum by_colour colour);

#endif
