/* Turns an array into a picture. */
#include "report/picture.h"

#include <math.h>
#include <png.h>
#include <string.h>

#define SIDE_LEAST 8
#define SLACK      8.0 /* of 255: by so much values may be beyond a picture's */

/* --- Where the pixels are --- */

struct axes {
    size_t channels, width, height;
    size_t per_channel, per_row, per_pixel; /* distances, in elements */
};

static bool is_side(int64_t size)
{
    return size >= SIDE_LEAST && size <= 1 << 16;
}

static bool is_channels(int64_t size, size_t rank)
{
    return size == 3 || (size == 1 && rank == 4);
}

static bool find_axes(const struct by_array *array, const struct by_prep *prep, struct axes *axes)
{
    const enum by_layout layout = prep ? prep->layout : BY_LAYOUT_AUTO;
    if (array->rank < 3 || array->rank > 4 || (array->rank == 4 && array->dims[0] < 1))
        return false;
    const int64_t *dims = array->dims + (array->rank - 3);
    if (layout != BY_LAYOUT_NHWC && is_channels(dims[0], array->rank) && is_side(dims[1]) &&
        is_side(dims[2])) {
        const size_t width = (size_t)dims[2], height = (size_t)dims[1];
        *axes = (struct axes){(size_t)dims[0], width, height, width * height, width, 1};
        return true;
    }
    if (layout != BY_LAYOUT_NCHW && is_channels(dims[2], array->rank) && is_side(dims[0]) &&
        is_side(dims[1])) {
        const size_t channels = (size_t)dims[2], width = (size_t)dims[1];
        *axes = (struct axes){channels, width, (size_t)dims[0], 1, width * channels, channels};
        return true;
    }
    return false;
}

bool by_picture_sides(const struct by_array *array, const struct by_prep *prep, size_t *width,
                      size_t *height)
{
    struct axes axes;
    if (!find_axes(array, prep, &axes))
        return false;
    *width = axes.width;
    *height = axes.height;
    return true;
}

/* --- Values --- */

static double of_channel(const double *values, size_t count, size_t channel, double none)
{
    return !count ? none : values[count == 1 ? 0 : channel % count];
}

/* Back through the preparation: 0 to 255. Whole numbers of 8 bits were not prepared. */
static void undo_preparation(double *values, const struct axes *axes, const struct by_prep *prep)
{
    for (size_t c = 0; c < axes->channels; c++) {
        const double mean = of_channel(prep->mean, prep->mean_count, c, 0);
        const double std = of_channel(prep->std, prep->std_count, c, 1);
        const double scale = prep->scale != 0 ? prep->scale : 1.0 / 255;
        for (size_t i = 0; i < axes->width * axes->height; i++) {
            const size_t at = i / axes->width * axes->per_row + i % axes->width * axes->per_pixel +
                              c * axes->per_channel;
            values[at] = (values[at] * std + mean) / scale;
        }
    }
}

static void find_extremes(const double *values, size_t count, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        *low = isfinite(values[i]) ? fmin(*low, values[i]) : *low;
        *high = isfinite(values[i]) ? fmax(*high, values[i]) : *high;
    }
    if (*low > *high)
        *low = *high = 0;
}

static void stretch(double *values, size_t count, double low, double high)
{
    for (size_t i = 0; i < count; i++)
        values[i] = high > low ? (values[i] - low) / (high - low) * 255 : 0;
}

static bool fits_picture(double low, double high)
{
    return low >= -SLACK && high <= 255 + SLACK && high - low > SLACK;
}

/* Leaves values from 0 to 255. */
static void scale_values(struct by_picture *picture, double *values, size_t count,
                         const struct axes *axes, const struct by_prep *prep, bool is_bytes,
                         const struct by_picture *like)
{
    if (is_bytes)
        return;
    find_extremes(values, count, &picture->low, &picture->high);
    if (like) {
        picture->low = like->low;
        picture->high = like->high;
    }
    if (prep) {
        undo_preparation(values, axes, prep);
        find_extremes(values, count, &picture->low, &picture->high);
        if (fits_picture(picture->low, picture->high))
            return;
    }
    picture->stretched = true;
    stretch(values, count, picture->low, picture->high);
}

/* --- Pixels --- */

static uint8_t mean_of_block(const double *values, const struct axes *axes, size_t x, size_t y,
                             size_t channel, size_t side)
{
    double sum = 0;
    size_t count = 0;
    for (size_t row = y * side; row < (y + 1) * side && row < axes->height; row++)
        for (size_t column = x * side; column < (x + 1) * side && column < axes->width; column++) {
            const double value = values[row * axes->per_row + column * axes->per_pixel +
                                        channel * axes->per_channel];
            sum += isfinite(value) ? value : 0;
            count++;
        }
    return (uint8_t)lround(fmin(fmax(sum / (double)count, 0), 255));
}

/* BGR is turned. */
static void fill_pixels(struct by_picture *picture, const double *values, const struct axes *axes,
                        bool bgr)
{
    uint8_t *out = picture->pixels;
    for (size_t y = 0; y < picture->height; y++)
        for (size_t x = 0; x < picture->width; x++)
            for (size_t c = 0; c < axes->channels; c++) {
                const size_t from = bgr ? axes->channels - 1 - c : c;
                *out++ = mean_of_block(values, axes, x, y, from, picture->shrunk);
            }
}

static size_t shrink_factor(const struct axes *axes)
{
    const size_t side = axes->width > axes->height ? axes->width : axes->height;
    return (side + BY_PICTURE_SIDE - 1) / BY_PICTURE_SIDE;
}

static int make_pixels(struct by_picture *picture, const struct by_array *array,
                       const struct axes *axes, const struct by_prep *prep,
                       const struct by_picture *like, double *values, struct by_arena *arena,
                       struct baryon_error *err)
{
    const size_t count = axes->channels * axes->width * axes->height;
    if (by_elem_to_doubles(array->elem, array->data, 0, count, values, err) < 0)
        return -1;
    const size_t shrunk = shrink_factor(axes);
    *picture = (struct by_picture){.width = (axes->width + shrunk - 1) / shrunk,
                                   .height = (axes->height + shrunk - 1) / shrunk,
                                   .channels = axes->channels,
                                   .shrunk = shrunk};
    picture->pixels =
        by_arena_alloc(arena, picture->width * picture->height * axes->channels, 1, err);
    if (!picture->pixels)
        return -1;
    scale_values(picture, values, count, axes, prep, array->elem == BY_ELEM_UINT8, like);
    fill_pixels(picture, values, axes, prep && prep->colour == BY_COLOUR_BGR);
    return 0;
}

int by_picture_make(struct by_picture *picture, const struct by_array *array,
                    const struct by_prep *prep, const struct by_picture *like,
                    struct by_arena *arena, bool *is, struct baryon_error *err)
{
    struct axes axes;
    const struct by_elem_info *info = by_elem_info(array->elem);
    *is = info && (info->class == BY_CLASS_FLOAT || array->elem == BY_ELEM_UINT8) &&
          find_axes(array, prep, &axes);
    if (!*is)
        return 0;
    double *values = by_alloc(axes.channels * axes.width * axes.height, sizeof *values, err);
    const int status =
        values ? make_pixels(picture, array, &axes, prep, like, values, arena, err) : -1;
    by_free(values);
    return status;
}

/* --- PNG --- */

static void put_base64(const uint8_t *bytes, size_t size, struct by_str *text)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        const uint32_t three = (uint32_t)bytes[i] << 16 |
                               (uint32_t)(i + 1 < size ? bytes[i + 1] : 0) << 8 |
                               (i + 2 < size ? bytes[i + 2] : 0);
        const char four[4] = {letters[three >> 18], letters[three >> 12 & 63],
                              i + 1 < size ? letters[three >> 6 & 63] : '=',
                              i + 2 < size ? letters[three & 63] : '='};
        by_str_add(text, four, sizeof four);
    }
}

static int encode_png(const struct by_picture *picture, struct by_str *text,
                      struct baryon_error *err)
{
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)picture->width,
                       .height = (png_uint_32)picture->height,
                       .format = picture->channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB};
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
    uint8_t *bytes = by_alloc(size, 1, err);
    if (!bytes)
        return -1;
    int status = 0;
    if (png_image_write_to_memory(&image, bytes, &size, 0, picture->pixels, 0, NULL))
        put_base64(bytes, size, text);
    else
        status = by_fail(err, BARYON_ERR_NOMEM, "a picture cannot be encoded: %s", image.message);
    png_image_free(&image);
    by_free(bytes);
    return status;
}

int by_picture_json(const struct by_picture *picture, struct by_json *json,
                    struct baryon_error *err)
{
    struct by_str png;
    by_str_init(&png);
    const int status = encode_png(picture, &png, err);
    by_json_open(json, "picture", '{');
    by_json_int(json, "width", (int64_t)picture->width);
    by_json_int(json, "height", (int64_t)picture->height);
    by_json_int(json, "shrunk", (int64_t)picture->shrunk);
    if (picture->stretched)
        by_json_bool(json, "stretched", true);
    by_json_bytes(json, "png", by_str_text(&png), png.size);
    by_json_close(json, '}');
    json->out->failed |= png.failed;
    by_str_release(&png);
    return status;
}
