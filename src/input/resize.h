/*
 * Resizing 8-bit pixels: what the filters share. Sizes are at least 1 and within
 * BY_IMAGE_SIDE_MAX; `in` and `out` do not overlap.
 */
#ifndef BY_RESIZE_H
#define BY_RESIZE_H

#include "input/prep.h"

struct by_pixels {
    const uint8_t *in;
    size_t in_w, in_h, channels;
    uint8_t *out;
    size_t out_w, out_h;
};

/*
 * Pillow's scheme: a filter as wide as the scale demands, two passes with 22-bit
 * weights, each rounded to 8 bits, in the order that Pillow 13 takes.
 */
int by_resize_pil(enum by_filter filter, const struct by_pixels *pixels, struct baryon_error *err);
int by_resize_pil_nearest(const struct by_pixels *pixels, struct baryon_error *err);
/* OpenCV's schemes: no antialiasing but in area; 11-bit weights. */
int by_resize_cv(enum by_filter filter, const struct by_pixels *pixels, struct baryon_error *err);

/*
 * Weights of one axis: output i takes count[i] inputs from first[i] on, with weights
 * weight[i * width ...] in units of 2^-22.
 */
struct by_taps {
    size_t width;
    size_t *first, *count;
    int32_t *weight;
};

/* out[i] = sum of rows[j][i] * weight[j], rounded and clipped, for i < size. */
void by_weigh_rows(const uint8_t *rows, size_t stride, const int32_t *weight, size_t count,
                   uint8_t *out, size_t size);
/* The same in plain C: what the vector path must equal. */
void by_weigh_rows_ref(const uint8_t *rows, size_t stride, const int32_t *weight, size_t count,
                       uint8_t *out, size_t size);
/* One row of pixels through the taps of the x axis. */
void by_weigh_columns(const uint8_t *row, size_t channels, const struct by_taps *taps, uint8_t *out,
                      size_t out_w);
void by_weigh_columns_ref(const uint8_t *row, size_t channels, const struct by_taps *taps,
                          uint8_t *out, size_t out_w);

#endif
