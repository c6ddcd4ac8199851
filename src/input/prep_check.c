/* Whether the settings of a preparation make sense, and what they say in words. */
#include "base/text.h"
#include "input/match.h"
#include "input/prep_place.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const struct by_prep by_prep_default = {
    .resize = BY_RESIZE_STRETCH,
    .filter = BY_FILTER_PIL_BILINEAR,
    .pad = 114,
};

const struct by_choice by_resize_names[] = {
    {"stretch", BY_RESIZE_STRETCH, "to the input size, ignoring proportions"},
    {"short-side", BY_RESIZE_SHORT_SIDE, "short side to --short-side, then centre crop"},
    {"letterbox", BY_RESIZE_LETTERBOX, "as large as fits, centred, padded on all sides"},
    {"fit", BY_RESIZE_FIT, "as large as fits, top left, padded right and below"},
    {"none", BY_RESIZE_NONE, "no resizing; pictures must have the input size"},
    {NULL, 0, NULL},
};
const struct by_choice by_colour_names[] = {
    {"rgb", BY_COLOUR_RGB, "red, green, blue"},
    {"bgr", BY_COLOUR_BGR, "blue, green, red"},
    {"gray", BY_COLOUR_GRAY, "one channel: 0.299 red + 0.587 green + 0.114 blue"},
    {NULL, 0, NULL},
};
const struct by_choice by_layout_names[] = {
    {"auto", BY_LAYOUT_AUTO, "derived from the input dimensions"},
    {"nchw", BY_LAYOUT_NCHW, "channels before rows and columns"},
    {"nhwc", BY_LAYOUT_NHWC, "channels after rows and columns"},
    {NULL, 0, NULL},
};

const struct by_choice *by_prep_name_of(const struct by_choice *names, int value)
{
    while (names->name && names->value != value)
        names++;
    return names;
}

static int check_list(const char *what, const double *values, size_t count, size_t channels,
                      struct baryon_error *err)
{
    if (count > 1 && count != channels)
        return by_fail(err, BARYON_ERR_USAGE,
                       "%s has %zu values for %zu channels, must be 1 or one per channel", what,
                       count, channels);
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return by_fail(err, BARYON_ERR_USAGE, "%s %g, must be finite", what, values[i]);
    return 0;
}

static int check_values(const struct by_prep *prep, const struct by_port *port, size_t channels,
                        struct baryon_error *err)
{
    if (check_list("mean", prep->mean, prep->mean_count, channels, err) < 0 ||
        check_list("std", prep->std, prep->std_count, channels, err) < 0)
        return -1;
    for (size_t i = 0; i < prep->std_count; i++)
        if (!((float)prep->std[i] > 0 || (float)prep->std[i] < 0))
            return by_fail(err, BARYON_ERR_USAGE, "std %g, must not be 0", prep->std[i]);
    if (!isfinite(prep->scale))
        return by_fail(err, BARYON_ERR_USAGE, "scale %g, must be finite", prep->scale);
    if (port->elem != BY_ELEM_UINT8 ||
        ((prep->scale == 0.0 || prep->scale == 1.0) && !prep->mean_count && !prep->std_count))
        return 0;
    by_fail(err, BARYON_ERR_USAGE,
            "the model takes uint8 pixels, scale, mean and std require a float input");
    return by_err_hint(err, "remove --scale, --mean and --std, and use --prep plain");
}

static int check_sizes(const struct by_prep *prep, const struct by_prep_axes *axes,
                       struct baryon_error *err)
{
    size_t width, height;
    if (by_prep_target(prep, axes, &width, &height, err) < 0)
        return -1;
    const size_t longer = width > height ? width : height;
    const size_t side = by_prep_short_side(prep, width, height);
    if (prep->resize == BY_RESIZE_SHORT_SIDE && (side < longer || side > BY_IMAGE_SIDE_MAX))
        return by_fail(err, BARYON_ERR_USAGE,
                       "short side %zu, must be %zu (the longer side of the input) to %d", side,
                       longer, BY_IMAGE_SIDE_MAX);
    if (prep->resize != BY_RESIZE_SHORT_SIDE && prep->short_side)
        return by_fail(err, BARYON_ERR_USAGE, "a short side requires short-side resizing");
    return 0;
}

static int check_stride(const struct by_prep *prep, const struct by_prep_axes *axes,
                        struct baryon_error *err)
{
    size_t width, height;
    if (!prep->stride)
        return 0;
    if (prep->resize != BY_RESIZE_LETTERBOX && prep->resize != BY_RESIZE_FIT)
        return by_fail(err, BARYON_ERR_USAGE, "a stride requires letterbox or fit resizing");
    if (by_prep_target(prep, axes, &width, &height, err) < 0)
        return -1;
    if (width % prep->stride || height % prep->stride)
        return by_fail(err, BARYON_ERR_USAGE, "stride %zu, must divide the size %zu x %zu",
                       prep->stride, width, height);
    if (axes->width >= 0 || axes->height >= 0)
        return by_fail(err, BARYON_ERR_USAGE,
                       "stride %zu produces pictures of different sizes, but the model's input is "
                       "fixed at %zu x %zu",
                       prep->stride, width, height);
    return 0;
}

int by_prep_check(const struct by_prep *prep, const struct by_port *port, struct baryon_error *err)
{
    struct by_prep_axes axes;
    if (by_prep_axes(prep, port, &axes, err) < 0)
        return -1;
    if (prep->pad > 255)
        return by_fail(err, BARYON_ERR_USAGE, "pad value %u, must be 0 to 255", prep->pad);
    if (check_values(prep, port, axes.channels, err) < 0 || check_sizes(prep, &axes, err) < 0)
        return -1;
    return check_stride(prep, &axes, err);
}

static void add_values(struct by_text *text, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        by_text_add(text, "%s%g", i ? "," : count > 1 ? "[" : "", values[i]);
    by_text_add(text, "%s", count > 1 ? "]" : "");
}

static void add_resize(struct by_text *text, const struct by_prep *prep, size_t width,
                       size_t height)
{
    const char *filter = by_prep_name_of(by_filter_names, (int)prep->filter)->name;
    switch (prep->resize) {
    case BY_RESIZE_NONE:
        by_text_add(text, "not resized");
        return;
    case BY_RESIZE_SHORT_SIDE:
        by_text_add(text, "short side to %zu (%s), centre %zux%zu",
                    by_prep_short_side(prep, width, height), filter, width, height);
        return;
    case BY_RESIZE_LETTERBOX:
    case BY_RESIZE_FIT:
        by_text_add(text, "%s into %zux%zu (%s)",
                    prep->resize == BY_RESIZE_FIT ? "fit" : "letterbox", width, height, filter);
        if (prep->no_upscale)
            by_text_add(text, ", never enlarged");
        by_text_add(text, ", filled with %u", prep->pad);
        if (prep->stride)
            by_text_add(text, " to multiples of %zu", prep->stride);
        return;
    default:
        by_text_add(text, "stretched to %zux%zu (%s)", width, height, filter);
    }
}

static void add_formula(struct by_text *text, const struct by_prep *prep,
                        const struct by_port *port)
{
    by_text_add(text, "%s = ", by_elem_name(port->elem));
    if (prep->mean_count)
        by_text_add(text, "(");
    if (port->elem == BY_ELEM_UINT8 || prep->scale == 1.0)
        by_text_add(text, "x");
    else if (prep->scale == 0.0)
        by_text_add(text, "x / 255");
    else
        by_text_add(text, "x * %.9g", prep->scale);
    if (prep->mean_count) {
        by_text_add(text, " - ");
        add_values(text, prep->mean, prep->mean_count);
        by_text_add(text, ")");
    }
    if (prep->std_count) {
        by_text_add(text, " / ");
        add_values(text, prep->std, prep->std_count);
    }
}

void by_prep_describe(const struct by_prep *prep, const struct by_port *port, char *buf,
                      size_t size)
{
    struct by_prep_axes axes;
    size_t width, height;
    struct by_text text;
    by_text_init(&text, buf, size);
    if (by_prep_axes(prep, port, &axes, NULL) < 0 ||
        by_prep_target(prep, &axes, &width, &height, NULL) < 0)
        return;
    by_text_add(&text, "%s, ", by_prep_name_of(by_colour_names, (int)prep->colour)->name);
    add_resize(&text, prep, width, height);
    by_text_add(&text, ", ");
    add_formula(&text, prep, port);
    by_text_add(&text, ", %s", by_prep_name_of(by_layout_names, (int)axes.layout)->name);
}
