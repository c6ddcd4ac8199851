/* A decoded picture through the steps of its preparation. */
#include "input/prep.h"

#include "base/half.h"
#include "input/prep_place.h"

#include <string.h>

/* Luma with 16-bit weights, as Pillow converts to "L". */
static void to_gray(const uint8_t *rgb, size_t pixels, uint8_t *gray)
{
    for (size_t i = 0; i < pixels; i++)
        gray[i] = (uint8_t)((rgb[i * 3] * 19595u + rgb[i * 3 + 1] * 38470u +
                             rgb[i * 3 + 2] * 7471u + 0x8000u) >>
                            16);
}

/* Puts the resized picture into the frame: what lies outside is cut, what is bare is pad. */
static void frame(const struct by_prep_place *place, size_t channels, unsigned pad,
                  const uint8_t *in, uint8_t *out)
{
    const size_t skip_x = place->left < 0 ? (size_t)-place->left : 0;
    const size_t skip_y = place->top < 0 ? (size_t)-place->top : 0;
    const size_t left = place->left > 0 ? (size_t)place->left : 0;
    const size_t top = place->top > 0 ? (size_t)place->top : 0;
    size_t columns = place->resized_w - skip_x, rows = place->resized_h - skip_y;
    if (columns > place->out_w - left)
        columns = place->out_w - left;
    if (rows > place->out_h - top)
        rows = place->out_h - top;
    if (columns < place->out_w || rows < place->out_h)
        memset(out, (int)pad, place->out_w * place->out_h * channels);
    for (size_t y = 0; y < rows; y++)
        memcpy(out + ((top + y) * place->out_w + left) * channels,
               in + ((skip_y + y) * place->resized_w + skip_x) * channels, columns * channels);
}

/* 8-bit pixels of the output's size; by_free() them. */
static uint8_t *make_pixels(const struct by_prep *prep, const struct by_image *image,
                            const struct by_prep_place *place, size_t channels,
                            struct baryon_error *err)
{
    uint8_t *gray = NULL, *out = NULL;
    uint8_t *resized = by_alloc(place->resized_w * place->resized_h, channels, err);
    int failed = resized ? 0 : -1;
    if (failed == 0 && channels == 1) {
        gray = by_alloc(image->width * image->height, 1, err);
        failed = gray ? 0 : -1;
        if (gray)
            to_gray(image->rgb, image->width * image->height, gray);
    }
    if (failed == 0)
        failed =
            by_image_resize(prep->filter, gray ? gray : image->rgb, image->width, image->height,
                            channels, resized, place->resized_w, place->resized_h, err);
    if (failed == 0)
        out = by_alloc(place->out_w * place->out_h, channels, err);
    if (out)
        frame(place, channels, prep->pad, resized, out);
    by_free(gray);
    by_free(resized);
    return out;
}

/* What each of the 256 pixel values becomes, computed in float32 as torchvision does. */
static void make_table(const struct by_prep *prep, size_t channel, float table[256])
{
    const size_t at_mean = prep->mean_count > 1 ? channel : 0;
    const size_t at_std = prep->std_count > 1 ? channel : 0;
    for (int i = 0; i < 256; i++) {
        float value = prep->scale == 0.0 ? (float)i / 255.0f : (float)(i * prep->scale);
        if (prep->mean_count)
            value -= (float)prep->mean[at_mean];
        if (prep->std_count)
            value /= (float)prep->std[at_std];
        table[i] = value;
    }
}

/* How the pixels lie in the output: values between channels and between pixels. */
struct steps {
    size_t channel, pixel;
};

static size_t source_channel(const struct by_prep *prep, size_t channel)
{
    return prep->colour == BY_COLOUR_BGR ? 2 - channel : channel;
}

static void put_bytes(const struct by_prep *prep, const uint8_t *pixels, size_t count,
                      size_t channels, struct steps steps, uint8_t *out)
{
    for (size_t c = 0; c < channels; c++) {
        const uint8_t *in = pixels + source_channel(prep, c);
        for (size_t i = 0; i < count; i++)
            out[c * steps.channel + i * steps.pixel] = in[i * channels];
    }
}

static void put_floats(const struct by_prep *prep, const uint8_t *pixels, size_t count,
                       size_t channels, struct steps steps, float *out)
{
    float table[256];
    for (size_t c = 0; c < channels; c++) {
        const uint8_t *in = pixels + source_channel(prep, c);
        make_table(prep, c, table);
        for (size_t i = 0; i < count; i++)
            out[c * steps.channel + i * steps.pixel] = table[in[i * channels]];
    }
}

/* Through a table of 16- or 64-bit values made from the float one. */
static void put_other(const struct by_prep *prep, int64_t elem, const uint8_t *pixels, size_t count,
                      size_t channels, struct steps steps, void *out)
{
    float table[256];
    uint16_t halves[256];
    for (size_t c = 0; c < channels; c++) {
        const uint8_t *in = pixels + source_channel(prep, c);
        make_table(prep, c, table);
        if (elem == BY_ELEM_FLOAT16)
            by_f32_to_f16(halves, table, 256);
        else if (elem == BY_ELEM_BFLOAT16)
            by_f32_to_bf16(halves, table, 256);
        for (size_t i = 0; i < count; i++) {
            const size_t at = c * steps.channel + i * steps.pixel;
            if (elem == BY_ELEM_DOUBLE)
                ((double *)out)[at] = (double)table[in[i * channels]];
            else
                ((uint16_t *)out)[at] = halves[in[i * channels]];
        }
    }
}

static void put_pixels(const struct by_prep *prep, const struct by_prep_axes *axes, int64_t elem,
                       const uint8_t *pixels, size_t count, void *out)
{
    const size_t channels = axes->channels;
    const struct steps steps =
        axes->layout == BY_LAYOUT_NCHW ? (struct steps){count, 1} : (struct steps){1, channels};
    if (elem == BY_ELEM_UINT8)
        put_bytes(prep, pixels, count, channels, steps, out);
    else if (elem == BY_ELEM_FLOAT)
        put_floats(prep, pixels, count, channels, steps, out);
    else
        put_other(prep, elem, pixels, count, channels, steps, out);
}

static void set_dims(const struct by_prep_axes *axes, const struct by_prep_place *place,
                     struct by_array *out)
{
    const int64_t height = (int64_t)place->out_h, width = (int64_t)place->out_w;
    const int64_t channels = (int64_t)axes->channels;
    int64_t *dim = out->dims;
    if (axes->batch)
        *dim++ = 1;
    if (axes->layout == BY_LAYOUT_NCHW)
        *dim++ = channels;
    *dim++ = height;
    *dim++ = width;
    if (axes->layout == BY_LAYOUT_NHWC)
        *dim++ = channels;
    out->rank = (size_t)(dim - out->dims);
}

int by_prep_apply(const struct by_prep *prep, const struct by_image *image,
                  const struct by_port *port, struct by_arena *arena, struct by_array *out,
                  struct baryon_error *err)
{
    struct by_prep_axes axes;
    struct by_prep_place place;
    size_t width, height, bytes;
    *out = (struct by_array){.name = port->name, .elem = port->elem};
    if (by_prep_axes(prep, port, &axes, err) < 0 ||
        by_prep_target(prep, &axes, &width, &height, err) < 0 ||
        by_prep_place(prep, width, height, image->width, image->height, &place, err) < 0)
        return -1;
    set_dims(&axes, &place, out);
    const size_t count = place.out_w * place.out_h;
    if (by_elem_bytes(port->elem, count * axes.channels, &bytes, err) < 0)
        return -1;
    uint8_t *pixels = make_pixels(prep, image, &place, axes.channels, err);
    void *values = pixels ? by_arena_alloc(arena, bytes, 1, err) : NULL;
    if (values)
        put_pixels(prep, &axes, port->elem, pixels, count, values);
    by_free(pixels);
    out->data = values;
    out->size = bytes;
    return values ? 0 : -1;
}

static void add_double(struct by_hasher *hasher, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    by_hasher_number(hasher, bits);
}

void by_prep_identify(const struct by_prep *prep, struct by_hasher *hasher)
{
    const uint64_t numbers[] = {
        prep->resize, prep->filter,     prep->colour,     prep->layout,
        prep->width,  prep->height,     prep->short_side, prep->stride,
        prep->pad,    prep->no_upscale, prep->mean_count, prep->std_count,
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        by_hasher_number(hasher, numbers[i]);
    add_double(hasher, prep->scale);
    for (size_t i = 0; i < prep->mean_count; i++)
        add_double(hasher, prep->mean[i]);
    for (size_t i = 0; i < prep->std_count; i++)
        add_double(hasher, prep->std[i]);
}
