/* The resize step: filters by name, and which code computes them. */
#include "input/resize.h"

#include <string.h>

const struct by_choice by_filter_names[] = {
    {"pil-bilinear", BY_FILTER_PIL_BILINEAR, "Pillow: bilinear, antialiased when shrinking"},
    {"pil-nearest", BY_FILTER_PIL_NEAREST, "Pillow: nearest pixel"},
    {"pil-bicubic", BY_FILTER_PIL_BICUBIC, "Pillow: bicubic (a = -0.5), antialiased"},
    {"pil-box", BY_FILTER_PIL_BOX, "Pillow: mean of the covered pixels"},
    {"pil-lanczos", BY_FILTER_PIL_LANCZOS, "Pillow: Lanczos with 3 lobes, antialiased"},
    {"cv-nearest", BY_FILTER_CV_NEAREST, "OpenCV: INTER_NEAREST"},
    {"cv-linear", BY_FILTER_CV_LINEAR, "OpenCV: INTER_LINEAR, not antialiased"},
    {"cv-cubic", BY_FILTER_CV_CUBIC, "OpenCV: INTER_CUBIC (a = -0.75), not antialiased"},
    {"cv-area", BY_FILTER_CV_AREA, "OpenCV: INTER_AREA, mean of the area when shrinking"},
    {NULL, 0, NULL},
};

static int check_side(size_t side, struct baryon_error *err)
{
    if (side >= 1 && side <= BY_IMAGE_SIDE_MAX)
        return 0;
    return by_fail(err, BARYON_ERR_INPUT, "a side of %zu pixels, must be 1 to %d", side,
                   BY_IMAGE_SIDE_MAX);
}

int by_image_resize(enum by_filter filter, const uint8_t *in, size_t in_w, size_t in_h,
                    size_t channels, uint8_t *out, size_t out_w, size_t out_h,
                    struct baryon_error *err)
{
    const struct by_pixels pixels = {in, in_w, in_h, channels, out, out_w, out_h};
    if (check_side(in_w, err) < 0 || check_side(in_h, err) < 0 || check_side(out_w, err) < 0 ||
        check_side(out_h, err) < 0)
        return -1;
    if (channels < 1 || channels > 4)
        return by_fail(err, BARYON_ERR_INTERNAL, "%zu channels, must be 1 to 4", channels);
    if (in_w == out_w && in_h == out_h) {
        memcpy(out, in, in_w * in_h * channels);
        return 0;
    }
    switch (filter) {
    case BY_FILTER_PIL_NEAREST:
        return by_resize_pil_nearest(&pixels, err);
    case BY_FILTER_PIL_BILINEAR:
    case BY_FILTER_PIL_BICUBIC:
    case BY_FILTER_PIL_BOX:
    case BY_FILTER_PIL_LANCZOS:
        return by_resize_pil(filter, &pixels, err);
    default:
        return by_resize_cv(filter, &pixels, err);
    }
}
