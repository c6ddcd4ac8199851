/* Axes of a port, and the arithmetic of sizes. */
#include "input/prep_place.h"

#include "input/match.h"

#include <inttypes.h>
#include <math.h>

size_t by_prep_channels(enum by_colour colour)
{
    return colour == BY_COLOUR_GRAY ? 1 : 3;
}

static int refuse_port(const struct by_port *port, const char *rule, struct baryon_error *err)
{
    char shape[BY_SHAPE_TEXT_MAX], quoted[BY_QUOTE_MAX];
    by_port_text(port, shape, sizeof shape);
    by_fail(err, BARYON_ERR_USAGE, "the input is %s, %s", shape, rule);
    by_err_in(err, "input %s", by_quote(quoted, port->name));
    return -1;
}

static bool is_elem_for_pixels(int64_t elem)
{
    return elem == BY_ELEM_FLOAT || elem == BY_ELEM_FLOAT16 || elem == BY_ELEM_BFLOAT16 ||
           elem == BY_ELEM_DOUBLE || elem == BY_ELEM_UINT8;
}

/* Which dimension, if just one of the two, can be the channels. */
static int find_layout(const struct by_prep *prep, const struct by_port *port, size_t channels,
                       enum by_layout *layout, struct baryon_error *err)
{
    const int64_t first = port->dims[port->rank - 3], last = port->dims[port->rank - 1];
    const int64_t wanted = (int64_t)channels;
    *layout = prep->layout;
    if (*layout == BY_LAYOUT_AUTO) {
        if ((first == wanted) == (last == wanted)) {
            refuse_port(port,
                        channels == 3 ? "the axis of its 3 colour channels is not clear"
                                      : "the axis of its 1 channel is not clear",
                        err);
            return by_err_hint(
                err,
                first == wanted
                    ? "set it with --layout nchw or nhwc"
                    : "set it with --layout nchw or nhwc, or use --pixels gray for one channel");
        }
        *layout = first == wanted ? BY_LAYOUT_NCHW : BY_LAYOUT_NHWC;
    }
    const int64_t there = *layout == BY_LAYOUT_NCHW ? first : last;
    if (there < 0 || there == wanted)
        return 0;
    refuse_port(port,
                channels == 3 ? "RGB and BGR pictures require 3 channels"
                              : "gray pictures require 1 channel",
                err);
    return by_err_hint(err, "describe the picture with --pixels and --layout");
}

int by_prep_axes(const struct by_prep *prep, const struct by_port *port, struct by_prep_axes *axes,
                 struct baryon_error *err)
{
    *axes = (struct by_prep_axes){.channels = by_prep_channels(prep->colour)};
    if (!is_elem_for_pixels(port->elem))
        return refuse_port(port, "pictures require float32, float16, bfloat16, float64 or uint8",
                           err);
    if (port->rank != 3 && port->rank != 4)
        return refuse_port(port, "pictures require 4 dimensions, or 3 without a batch", err);
    axes->batch = port->rank == 4;
    if (axes->batch && port->dims[0] >= 0 && port->dims[0] != 1) {
        refuse_port(port, "pictures require a batch of 1 or a symbolic batch", err);
        return by_err_hint(err, "give larger batches as .npy files");
    }
    if (find_layout(prep, port, axes->channels, &axes->layout, err) < 0)
        return -1;
    const size_t height = (axes->batch ? 1u : 0u) + (axes->layout == BY_LAYOUT_NCHW ? 1u : 0u);
    axes->height = port->dims[height];
    axes->width = port->dims[height + 1];
    return 0;
}

static int agree(const char *what, size_t setting, int64_t fixed, bool needed, size_t *out,
                 struct baryon_error *err)
{
    if (setting && fixed >= 0 && (int64_t)setting != fixed)
        return by_fail(err, BARYON_ERR_USAGE, "%s %zu is given, but the model's input has %" PRId64,
                       what, setting, fixed);
    *out = setting ? setting : fixed > 0 ? (size_t)fixed : 0;
    if (*out == 0 && needed && fixed != 0) {
        by_fail(err, BARYON_ERR_USAGE, "the %s of the input is symbolic, must be given", what);
        return by_err_hint(
            err, "give --size WIDTHxHEIGHT, or --resize none for pictures of the right size");
    }
    if (fixed == 0 || *out > BY_IMAGE_SIDE_MAX)
        return by_fail(err, BARYON_ERR_USAGE, "%s %zu, must be 1 to %d pixels", what, *out,
                       BY_IMAGE_SIDE_MAX);
    return 0;
}

int by_prep_target(const struct by_prep *prep, const struct by_prep_axes *axes, size_t *width,
                   size_t *height, struct baryon_error *err)
{
    const bool needed = prep->resize != BY_RESIZE_NONE;
    if (agree("width", prep->width, axes->width, needed, width, err) < 0)
        return -1;
    return agree("height", prep->height, axes->height, needed, height, err);
}

size_t by_prep_short_side(const struct by_prep *prep, size_t width, size_t height)
{
    if (prep->short_side)
        return prep->short_side;
    const size_t longer = width > height ? width : height;
    return (size_t)rint((double)longer * 256.0 / 224.0);
}

/* torchvision's Resize(short side) and CenterCrop. */
static void place_short_side(const struct by_prep *prep, size_t target_w, size_t target_h,
                             size_t width, size_t height, struct by_prep_place *place)
{
    const size_t side = by_prep_short_side(prep, target_w, target_h);
    if (width <= height) {
        place->resized_w = side;
        place->resized_h = (size_t)((double)(side * height) / (double)width);
    } else {
        place->resized_h = side;
        place->resized_w = (size_t)((double)(side * width) / (double)height);
    }
    place->out_w = target_w;
    place->out_h = target_h;
    place->left = -(int64_t)rint(((double)place->resized_w - (double)target_w) / 2.0);
    place->top = -(int64_t)rint(((double)place->resized_h - (double)target_h) / 2.0);
}

static size_t scaled_side(size_t side, double factor, size_t limit)
{
    const size_t scaled = (size_t)rint((double)side * factor);
    return scaled < 1 ? 1 : scaled > limit ? limit : scaled;
}

/* As large as fits; with a stride, only as much is added as makes the side a multiple. */
static void place_inside(const struct by_prep *prep, size_t target_w, size_t target_h, size_t width,
                         size_t height, struct by_prep_place *place)
{
    const double by_width = (double)target_w / (double)width;
    const double by_height = (double)target_h / (double)height;
    double factor = by_width < by_height ? by_width : by_height;
    if (prep->no_upscale && factor > 1.0)
        factor = 1.0;
    place->resized_w = scaled_side(width, factor, target_w);
    place->resized_h = scaled_side(height, factor, target_h);
    size_t more_w = target_w - place->resized_w, more_h = target_h - place->resized_h;
    if (prep->stride) {
        more_w %= prep->stride;
        more_h %= prep->stride;
    }
    place->out_w = place->resized_w + more_w;
    place->out_h = place->resized_h + more_h;
    if (prep->resize == BY_RESIZE_LETTERBOX) {
        place->left = (int64_t)(more_w / 2);
        place->top = (int64_t)(more_h / 2);
    }
}

static int place_none(size_t target_w, size_t target_h, const struct by_prep_place *place,
                      struct baryon_error *err)
{
    if ((!target_w || target_w == place->out_w) && (!target_h || target_h == place->out_h))
        return 0;
    by_fail(err, BARYON_ERR_INPUT, "the picture has %zu x %zu pixels, the input requires %zu x %zu",
            place->out_w, place->out_h, target_w ? target_w : place->out_w,
            target_h ? target_h : place->out_h);
    return by_err_hint(err, "resize it with --resize");
}

int by_prep_place(const struct by_prep *prep, size_t target_w, size_t target_h, size_t width,
                  size_t height, struct by_prep_place *place, struct baryon_error *err)
{
    *place = (struct by_prep_place){.resized_w = width, .resized_h = height};
    switch (prep->resize) {
    case BY_RESIZE_SHORT_SIDE:
        place_short_side(prep, target_w, target_h, width, height, place);
        break;
    case BY_RESIZE_LETTERBOX:
    case BY_RESIZE_FIT:
        place_inside(prep, target_w, target_h, width, height, place);
        break;
    case BY_RESIZE_NONE:
        place->out_w = width;
        place->out_h = height;
        return place_none(target_w, target_h, place, err);
    default:
        place->resized_w = place->out_w = target_w;
        place->resized_h = place->out_h = target_h;
        break;
    }
    if (place->resized_w <= BY_IMAGE_SIDE_MAX && place->resized_h <= BY_IMAGE_SIDE_MAX)
        return 0;
    return by_fail(err, BARYON_ERR_INPUT,
                   "a picture of %zu x %zu pixels becomes %zu x %zu, sides must be at most %d",
                   width, height, place->resized_w, place->resized_h, BY_IMAGE_SIDE_MAX);
}
