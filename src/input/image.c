/* Pictures: which format, limits, header, pixels. */
#include "input/image.h"

#include <string.h>

/* To add a format: one file with a struct by_image_format, and a row here. NULL ends. */
static const struct by_image_format *const formats[] = {&by_jpeg, &by_png, NULL};

static const struct by_image_format *find_format(const uint8_t *bytes, size_t size)
{
    for (const struct by_image_format *const *at = formats; *at; at++)
        if ((*at)->sniff(bytes, size))
            return *at;
    return NULL;
}

bool by_image_sniff(const uint8_t *bytes, size_t size)
{
    return find_format(bytes, size) != NULL;
}

int by_image_limits(size_t width, size_t height, struct baryon_error *err)
{
    if (!width || !height)
        return by_fail(err, BARYON_ERR_INPUT, "%zu x %zu pixels, both sides must be at least 1",
                       width, height);
    if (width > BY_IMAGE_SIDE_MAX || height > BY_IMAGE_SIDE_MAX)
        return by_fail(err, BARYON_ERR_INPUT, "%zu x %zu pixels, both sides must be at most %d",
                       width, height, BY_IMAGE_SIDE_MAX);
    if (width * height > BY_IMAGE_PIXELS_MAX)
        return by_fail(err, BARYON_ERR_INPUT, "%zu x %zu pixels, must be at most %u in total",
                       width, height, BY_IMAGE_PIXELS_MAX);
    return 0;
}

static int read_header(const uint8_t *bytes, size_t size, const struct by_image_format **format,
                       struct by_image_info *info, struct baryon_error *err)
{
    *info = (struct by_image_info){.orientation = 1};
    *format = find_format(bytes, size);
    if (!*format) {
        char quoted[BY_QUOTE_MAX];
        by_fail(err, BARYON_ERR_INPUT, "not a JPEG or PNG picture: it begins with %s",
                by_quote_bytes(quoted, bytes, size < 8 ? size : 8));
        by_err_offset(err, 0);
        return -1;
    }
    info->format = (*format)->name;
    return (*format)->header(bytes, size, info, err);
}

int by_image_header(const uint8_t *bytes, size_t size, struct by_image_info *info,
                    struct baryon_error *err)
{
    const struct by_image_format *format;
    return read_header(bytes, size, &format, info, err);
}

int by_image_decode(const uint8_t *bytes, size_t size, struct by_image *image,
                    struct baryon_error *err)
{
    const struct by_image_format *format;
    struct by_image_info info;
    *image = (struct by_image){0};
    if (read_header(bytes, size, &format, &info, err) < 0)
        return -1;
    uint8_t *rgb = by_alloc(info.width * info.height, 3, err);
    if (!rgb)
        return -1;
    *image = (struct by_image){info.width, info.height, rgb, info};
    if (format->decode(bytes, size, &info, rgb, err) == 0 &&
        by_image_orient(&image->rgb, &image->width, &image->height, info.orientation, err) == 0)
        return 0;
    by_image_release(image);
    return -1;
}

void by_image_release(struct by_image *image)
{
    if (!image)
        return;
    by_free(image->rgb);
    *image = (struct by_image){0};
}
