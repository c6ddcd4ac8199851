/*
 * From a picture to a model's input, in one fixed order:
 *
 *   decode -> EXIF orientation -> colour -> resize -> crop or letterbox -> float
 *   -> * scale -> (x - mean) / std -> layout -> element type
 */
#ifndef BY_PREP_H
#define BY_PREP_H

#include "engine/session.h"
#include "input/image.h"

enum by_resize { BY_RESIZE_STRETCH, BY_RESIZE_SHORT_SIDE, BY_RESIZE_LETTERBOX, BY_RESIZE_FIT,
                 BY_RESIZE_NONE };
enum by_filter { BY_FILTER_PIL_NEAREST, BY_FILTER_PIL_BILINEAR, BY_FILTER_PIL_BICUBIC,
                 BY_FILTER_PIL_BOX, BY_FILTER_PIL_LANCZOS, BY_FILTER_CV_NEAREST,
                 BY_FILTER_CV_LINEAR, BY_FILTER_CV_CUBIC, BY_FILTER_CV_AREA };
enum by_colour { BY_COLOUR_RGB, BY_COLOUR_BGR, BY_COLOUR_GRAY };
enum by_layout { BY_LAYOUT_AUTO, BY_LAYOUT_NCHW, BY_LAYOUT_NHWC };

struct by_prep {
    enum by_resize resize;
    enum by_filter filter;
    enum by_colour colour;
    enum by_layout layout;
    size_t width, height;  /* 0: from the model's input */
    size_t short_side;     /* for BY_RESIZE_SHORT_SIDE, 0: 256/224 of the crop */
    size_t stride;         /* letterbox: sides need only be multiples of it; 0: full size */
    unsigned pad;          /* letterbox value, 0..255 */
    bool no_upscale;
    double scale;          /* 0: 1/255 */
    double mean[4], std[4];
    size_t mean_count, std_count; /* 0: none */
};

extern const struct by_prep by_prep_default;

/* Checks that the settings agree with each other and with the port. */
int by_prep_check(const struct by_prep *prep, const struct by_port *port,
                  struct baryon_error *err);
/* One sentence with the formula and the sizes, for reports. */
void by_prep_describe(const struct by_prep *prep, const struct by_port *port, char *buf,
                      size_t size);
/* The picture as the port wants it, batch dimension 1 included; data from the arena. */
int by_prep_apply(const struct by_prep *prep, const struct by_image *image,
                  const struct by_port *port, struct by_arena *arena, struct by_array *out,
                  struct baryon_error *err);
/* The resize step alone on 8-bit pixels; out has out_w * out_h * channels bytes. */
int by_image_resize(enum by_filter filter, const uint8_t *in, size_t in_w, size_t in_h,
                    size_t channels, uint8_t *out, size_t out_w, size_t out_h,
                    struct baryon_error *err);

#endif
