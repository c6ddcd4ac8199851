/* Pillow's resampling: filter shapes, the weights of an axis, the two passes. */
#include "input/resize.h"

#include <math.h>
#include <string.h>

#define PRECISION 22

static double box(double x)
{
    return x > -0.5 && x <= 0.5 ? 1.0 : 0.0;
}

static double triangle(double x)
{
    x = fabs(x);
    return x < 1.0 ? 1.0 - x : 0.0;
}

static double cubic(double x)
{
    const double a = -0.5;
    x = fabs(x);
    if (x < 1.0)
        return ((a + 2.0) * x - (a + 3.0)) * x * x + 1;
    if (x < 2.0)
        return (((x - 5) * x + 8) * x - 4) * a;
    return 0.0;
}

static double sinc(double x)
{
    const double pi = 3.14159265358979323846;
    if (x == 0.0)
        return 1.0;
    x *= pi;
    return sin(x) / x;
}

static double lanczos(double x)
{
    return x >= -3.0 && x < 3.0 ? sinc(x) * sinc(x / 3) : 0.0;
}

struct shape {
    double support;
    double (*at)(double x);
};

static struct shape shape_of(enum by_filter filter)
{
    switch (filter) {
    case BY_FILTER_PIL_BOX:
        return (struct shape){0.5, box};
    case BY_FILTER_PIL_BICUBIC:
        return (struct shape){2.0, cubic};
    case BY_FILTER_PIL_LANCZOS:
        return (struct shape){3.0, lanczos};
    default:
        return (struct shape){1.0, triangle};
    }
}

/* Weights of output i: the filter stretched over the inputs it covers, normalised. */
static void fill_tap(const struct shape *shape, size_t in, double scale, size_t i,
                     struct by_taps *taps, double *weights)
{
    const double stretch = scale < 1.0 ? 1.0 : scale;
    const double support = shape->support * stretch, step = 1.0 / stretch;
    const double centre = ((double)i + 0.5) * scale;
    const double from = centre - support + 0.5, to = centre + support + 0.5;
    const size_t first = from < 0 ? 0 : (size_t)from;
    const size_t end = to > (double)in ? in : (size_t)to;
    double sum = 0.0;
    taps->first[i] = first;
    taps->count[i] = end - first;
    for (size_t j = 0; j < end - first; j++) {
        weights[j] = shape->at(((double)(j + first) - centre + 0.5) * step);
        sum += weights[j];
    }
    for (size_t j = 0; j < end - first; j++) {
        const double scaled = (sum != 0.0 ? weights[j] / sum : weights[j]) * (1 << PRECISION);
        taps->weight[i * taps->width + j] = (int32_t)(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
    }
}

static void free_taps(struct by_taps *taps)
{
    by_free(taps->first);
    by_free(taps->count);
    by_free(taps->weight);
    *taps = (struct by_taps){0};
}

static int make_taps(const struct shape *shape, size_t in, size_t out, struct by_taps *taps,
                     struct baryon_error *err)
{
    const double scale = (double)in / (double)out;
    const double support = shape->support * (scale < 1.0 ? 1.0 : scale);
    const size_t width = (size_t)ceil(support) * 2 + 1;
    *taps = (struct by_taps){.width = width};
    taps->first = by_alloc(out, sizeof *taps->first, err);
    taps->count = by_alloc(out, sizeof *taps->count, err);
    taps->weight = by_alloc_zero(out * width, sizeof *taps->weight, err);
    double *weights = by_alloc(width, sizeof *weights, err);
    if (!taps->first || !taps->count || !taps->weight || !weights) {
        free_taps(taps);
        by_free(weights);
        return -1;
    }
    for (size_t i = 0; i < out; i++)
        fill_tap(shape, in, scale, i, taps, weights);
    by_free(weights);
    return 0;
}

/* Columns of the rows that the second pass will ask for. */
static void pass_columns(const struct by_pixels *pixels, const struct by_taps *taps,
                         size_t first_row, size_t rows, uint8_t *out)
{
    const size_t in_stride = pixels->in_w * pixels->channels;
    const size_t out_stride = pixels->out_w * pixels->channels;
    for (size_t y = 0; y < rows; y++)
        by_weigh_columns(pixels->in + (first_row + y) * in_stride, pixels->channels, taps,
                         out + y * out_stride, pixels->out_w);
}

static void pass_rows(const uint8_t *in, size_t first_row, const struct by_pixels *pixels,
                      const struct by_taps *taps)
{
    const size_t stride = pixels->out_w * pixels->channels;
    for (size_t y = 0; y < pixels->out_h; y++)
        by_weigh_rows(in + (taps->first[y] - first_row) * stride, stride,
                      taps->weight + y * taps->width, taps->count[y], pixels->out + y * stride,
                      stride);
}

/*
 * Since Pillow 13, rows come first when the height shrinks by more than twice what the
 * width does. The order shows in the last steps, as what is between is rounded.
 */
static bool rows_come_first(const struct by_pixels *pixels)
{
    const int64_t height = (int64_t)pixels->in_h - (int64_t)pixels->out_h;
    const int64_t width = (int64_t)pixels->in_w - (int64_t)pixels->out_w;
    return height > 0 && height > 2 * width;
}

static int columns_then_rows(const struct by_pixels *pixels, const struct by_taps *x,
                             const struct by_taps *y, struct baryon_error *err)
{
    const size_t last = pixels->out_h - 1;
    const size_t first_row = y->first[0];
    const size_t rows = y->first[last] + y->count[last] - first_row;
    uint8_t *between = by_alloc(rows * pixels->out_w, pixels->channels, err);
    if (!between)
        return -1;
    pass_columns(pixels, x, first_row, rows, between);
    pass_rows(between, first_row, pixels, y);
    by_free(between);
    return 0;
}

static int rows_then_columns(const struct by_pixels *pixels, const struct by_taps *x,
                             const struct by_taps *y, struct baryon_error *err)
{
    uint8_t *between = by_alloc(pixels->in_w * pixels->out_h, pixels->channels, err);
    if (!between)
        return -1;
    struct by_pixels first = *pixels, second = *pixels;
    first.out = between;
    first.out_w = pixels->in_w;
    second.in = between;
    second.in_h = pixels->out_h;
    pass_rows(pixels->in, 0, &first, y);
    pass_columns(&second, x, 0, pixels->out_h, pixels->out);
    by_free(between);
    return 0;
}

static int two_passes(const struct by_pixels *pixels, const struct by_taps *x,
                      const struct by_taps *y, struct baryon_error *err)
{
    return rows_come_first(pixels) ? rows_then_columns(pixels, x, y, err)
                                   : columns_then_rows(pixels, x, y, err);
}

static int one_pass(const struct by_pixels *pixels, const struct shape *shape,
                    struct baryon_error *err)
{
    struct by_taps taps;
    const bool columns = pixels->in_w != pixels->out_w;
    const size_t in = columns ? pixels->in_w : pixels->in_h;
    if (make_taps(shape, in, columns ? pixels->out_w : pixels->out_h, &taps, err) < 0)
        return -1;
    if (columns)
        pass_columns(pixels, &taps, 0, pixels->in_h, pixels->out);
    else
        pass_rows(pixels->in, 0, pixels, &taps);
    free_taps(&taps);
    return 0;
}

int by_resize_pil(enum by_filter filter, const struct by_pixels *pixels, struct baryon_error *err)
{
    const struct shape shape = shape_of(filter);
    struct by_taps x, y;
    if (pixels->in_w == pixels->out_w || pixels->in_h == pixels->out_h)
        return one_pass(pixels, &shape, err);
    if (make_taps(&shape, pixels->in_w, pixels->out_w, &x, err) < 0)
        return -1;
    int failed = make_taps(&shape, pixels->in_h, pixels->out_h, &y, err);
    if (failed == 0) {
        failed = two_passes(pixels, &x, &y, err);
        free_taps(&y);
    }
    free_taps(&x);
    return failed;
}

/* Where each output position looks; positions are added up as Pillow does, for the same ties. */
static size_t *nearest(size_t in, size_t out, struct baryon_error *err)
{
    size_t *indices = by_alloc(out, sizeof *indices, err);
    const double step = (double)in / (double)out;
    double at = step * 0.5;
    for (size_t i = 0; indices && i < out; i++) {
        indices[i] = (size_t)at < in ? (size_t)at : in - 1;
        at += step;
    }
    return indices;
}

int by_resize_pil_nearest(const struct by_pixels *pixels, struct baryon_error *err)
{
    const size_t channels = pixels->channels;
    size_t *columns = nearest(pixels->in_w, pixels->out_w, err);
    size_t *rows = nearest(pixels->in_h, pixels->out_h, err);
    for (size_t y = 0; columns && rows && y < pixels->out_h; y++) {
        const uint8_t *in = pixels->in + rows[y] * pixels->in_w * channels;
        uint8_t *out = pixels->out + y * pixels->out_w * channels;
        for (size_t x = 0; x < pixels->out_w; x++)
            memcpy(out + x * channels, in + columns[x] * channels, channels);
    }
    const int failed = columns && rows ? 0 : -1;
    by_free(columns);
    by_free(rows);
    return failed;
}
