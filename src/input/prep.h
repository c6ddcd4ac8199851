/*
 * From a picture to a model's input, in one fixed order:
 *
 *   decode -> EXIF orientation -> colour -> resize -> crop or letterbox -> float
 *   -> * scale -> (x - mean) / std -> layout -> element type
 *
 * mean and std are in the units that x has after the scale. An input of type uint8
 * takes the pixels as they are: scale, mean and std must then be unset.
 */
#ifndef BY_PREP_H
#define BY_PREP_H

#include "base/choice.h"
#include "base/hash.h"
#include "engine/session.h"
#include "input/image.h"

enum by_resize {
    BY_RESIZE_STRETCH,    /* to width x height, whatever the proportions */
    BY_RESIZE_SHORT_SIDE, /* short side to short_side, then the centre width x height */
    BY_RESIZE_LETTERBOX,  /* as large as fits, centred, the rest filled with pad */
    BY_RESIZE_FIT,        /* as large as fits, in the top left corner, the rest filled with pad */
    BY_RESIZE_NONE,       /* pictures must have the right size already */
};
enum by_filter {
    BY_FILTER_PIL_NEAREST,
    BY_FILTER_PIL_BILINEAR,
    BY_FILTER_PIL_BICUBIC,
    BY_FILTER_PIL_BOX,
    BY_FILTER_PIL_LANCZOS,
    BY_FILTER_CV_NEAREST,
    BY_FILTER_CV_LINEAR,
    BY_FILTER_CV_CUBIC,
    BY_FILTER_CV_AREA,
};
enum by_colour { BY_COLOUR_RGB, BY_COLOUR_BGR, BY_COLOUR_GRAY };
enum by_layout { BY_LAYOUT_AUTO, BY_LAYOUT_NCHW, BY_LAYOUT_NHWC };

struct by_prep {
    enum by_resize resize;
    enum by_filter filter;
    enum by_colour colour;
    enum by_layout layout;
    size_t width, height; /* 0: from the model's input */
    size_t short_side;    /* for BY_RESIZE_SHORT_SIDE, 0: 256/224 of the longer crop side */
    size_t stride;        /* letterbox, fit: fill up only to a multiple of it; 0: to full size */
    unsigned pad;         /* value of the fill, 0..255 */
    bool no_upscale;      /* letterbox and fit: never enlarge */
    double scale;         /* 0: 1/255 (for uint8 inputs: none) */
    double mean[4], std[4];
    size_t mean_count, std_count; /* 0: none; 1: for all channels; else one a channel */
};

/* Stretch, pil-bilinear, RGB, 1/255. */
extern const struct by_prep by_prep_default;

/* Names people write, with one sentence each. */
extern const struct by_choice by_resize_names[], by_filter_names[], by_colour_names[],
    by_layout_names[];
/* The row of a value. */
const struct by_choice *by_prep_name_of(const struct by_choice *names, int value);

/*
 * Known preparations: "imagenet", "yolo", ...: rows of prep_presets.c. Their values as
 * names go to by_prep_preset().
 */
extern const struct by_choice by_prep_preset_names[];
const struct by_prep *by_prep_preset(int value);

/* Checks that the settings agree with each other and with the port. */
int by_prep_check(const struct by_prep *prep, const struct by_port *port, struct baryon_error *err);
/* One sentence with the formula and the sizes, for reports. Settings must have passed the check. */
void by_prep_describe(const struct by_prep *prep, const struct by_port *port, char *buf,
                      size_t size);
/* All settings. */
void by_prep_identify(const struct by_prep *prep, struct by_hasher *hasher);
/* The picture as the port wants it, batch dimension 1 included; data from the arena. */
int by_prep_apply(const struct by_prep *prep, const struct by_image *image,
                  const struct by_port *port, struct by_arena *arena, struct by_array *out,
                  struct baryon_error *err);
/*
 * The resize step alone on 8-bit pixels of 1 to 4 channels; out has out_w * out_h *
 * channels bytes. The pil filters give Pillow's result, the cv ones OpenCV's within
 * one step.
 */
int by_image_resize(enum by_filter filter, const uint8_t *in, size_t in_w, size_t in_h,
                    size_t channels, uint8_t *out, size_t out_w, size_t out_h,
                    struct baryon_error *err);

#endif
