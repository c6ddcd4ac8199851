/* OpenCV's resizing of 8-bit pixels: nearest, linear, cubic, area. */
#include "input/resize.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define WEIGHT_BITS 11
#define WEIGHT_ONE  (1 << WEIGHT_BITS)
#define TAPS_MAX    4

static size_t clip_index(int64_t index, size_t size)
{
    return index < 0 ? 0 : (uint64_t)index >= size ? size - 1 : (size_t)index;
}

static uint8_t clip_byte(int64_t value)
{
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

/* Source pixels for one destination pixel. As OpenCV forms it: the inverse of the inverse. */
static double scale_of(size_t in, size_t out)
{
    return 1.0 / ((double)out / (double)in);
}

static void resize_nearest(const struct by_pixels *p)
{
    const double scale_x = scale_of(p->in_w, p->out_w), scale_y = scale_of(p->in_h, p->out_h);
    for (size_t y = 0; y < p->out_h; y++) {
        const size_t row = clip_index((int64_t)floor((double)y * scale_y), p->in_h);
        const uint8_t *in = p->in + row * p->in_w * p->channels;
        uint8_t *out = p->out + y * p->out_w * p->channels;
        for (size_t x = 0; x < p->out_w; x++) {
            const size_t column = clip_index((int64_t)floor((double)x * scale_x), p->in_w);
            memcpy(out + x * p->channels, in + column * p->channels, p->channels);
        }
    }
}

/* What one destination position takes: `taps` sources from index[0] on, weights of 2^-11. */
struct position {
    size_t index[TAPS_MAX];
    int weight[TAPS_MAX];
};

static void cubic_weights(float x, float weight[4])
{
    const float a = -0.75f;
    weight[0] = ((a * (x + 1) - 5 * a) * (x + 1) + 8 * a) * (x + 1) - 4 * a;
    weight[1] = ((a + 2) * x - (a + 3)) * x * x + 1;
    weight[2] = ((a + 2) * (1 - x) - (a + 3)) * (1 - x) * (1 - x) + 1;
    weight[3] = 1.f - weight[0] - weight[1] - weight[2];
}

/* Position and fraction of a destination pixel's centre in the source. */
static int64_t locate(size_t i, double scale, bool area, float *fraction)
{
    if (area) {
        const int64_t at = (int64_t)floor((double)i * scale);
        const float part = (float)((double)(i + 1) - (double)(at + 1) / scale);
        *fraction = part <= 0 ? 0.f : part - floorf(part);
        return at;
    }
    const float centre = (float)(((double)i + 0.5) * scale - 0.5);
    const float below = floorf(centre);
    *fraction = centre - below;
    return (int64_t)below;
}

static void fill_position(size_t i, size_t in, double scale, size_t taps, bool area,
                          struct position *position)
{
    float fraction, weight[TAPS_MAX];
    const int64_t at = locate(i, scale, area, &fraction);
    const int64_t first = taps == 4 ? at - 1 : at;
    if (taps == 4) {
        cubic_weights(fraction, weight);
    } else {
        weight[0] = 1.f - fraction;
        weight[1] = fraction;
    }
    for (size_t j = 0; j < taps; j++) {
        position->index[j] = clip_index(first + (int64_t)j, in);
        position->weight[j] = (int)lrintf(weight[j] * WEIGHT_ONE);
    }
}

static struct position *make_positions(size_t in, size_t out, size_t taps, bool area,
                                       struct baryon_error *err)
{
    struct position *positions = by_alloc(out, sizeof *positions, err);
    for (size_t i = 0; positions && i < out; i++)
        fill_position(i, in, scale_of(in, out), taps, area, &positions[i]);
    return positions;
}

/* A source row as sums of 8 + 11 bits, one for each destination column. */
static void weigh_row(const struct by_pixels *p, size_t row, const struct position *columns,
                      size_t taps, int32_t *out)
{
    const uint8_t *in = p->in + row * p->in_w * p->channels;
    for (size_t x = 0; x < p->out_w; x++)
        for (size_t c = 0; c < p->channels; c++) {
            int32_t sum = 0;
            for (size_t j = 0; j < taps; j++)
                sum += in[columns[x].index[j] * p->channels + c] * columns[x].weight[j];
            *out++ = sum;
        }
}

/* Two rows: 4 bits are dropped before the product and 16 after, as 16-bit vectors do it. */
static void join_linear(int32_t *const rows[TAPS_MAX], const int *weight, size_t size, uint8_t *out)
{
    for (size_t i = 0; i < size; i++) {
        const int32_t upper = (weight[0] * (rows[0][i] >> 4)) >> 16;
        const int32_t lower = (weight[1] * (rows[1][i] >> 4)) >> 16;
        out[i] = clip_byte((upper + lower + 2) >> 2);
    }
}

static void join_cubic(int32_t *const rows[TAPS_MAX], const int *weight, size_t size, uint8_t *out)
{
    for (size_t i = 0; i < size; i++) {
        int64_t sum = 1 << (2 * WEIGHT_BITS - 1);
        for (size_t j = 0; j < TAPS_MAX; j++)
            sum += (int64_t)rows[j][i] * weight[j];
        out[i] = clip_byte(sum >> (2 * WEIGHT_BITS));
    }
}

/* The last few weighed rows; a source row is weighed once while it stays in use. */
struct window {
    int32_t *rows[TAPS_MAX];
    size_t holds[TAPS_MAX];
};

static int32_t *weighed(struct window *window, const struct by_pixels *p, size_t row,
                        const struct position *columns, size_t taps, const size_t *in_use)
{
    size_t slot = TAPS_MAX;
    for (size_t i = 0; i < TAPS_MAX; i++)
        if (window->holds[i] == row)
            return window->rows[i];
    for (size_t i = 0; i < TAPS_MAX && slot == TAPS_MAX; i++) {
        bool used = false;
        for (size_t j = 0; j < taps; j++)
            used |= window->holds[i] == in_use[j];
        if (!used)
            slot = i;
    }
    window->holds[slot] = row;
    weigh_row(p, row, columns, taps, window->rows[slot]);
    return window->rows[slot];
}

static void resize_rows(const struct by_pixels *p, const struct position *columns,
                        const struct position *lines, size_t taps, int32_t *scratch)
{
    const size_t size = p->out_w * p->channels;
    struct window window;
    for (size_t i = 0; i < TAPS_MAX; i++) {
        window.rows[i] = scratch + i * size;
        window.holds[i] = SIZE_MAX;
    }
    for (size_t y = 0; y < p->out_h; y++) {
        int32_t *rows[TAPS_MAX] = {0};
        for (size_t j = 0; j < taps; j++)
            rows[j] = weighed(&window, p, lines[y].index[j], columns, taps, lines[y].index);
        if (taps == 4)
            join_cubic(rows, lines[y].weight, size, p->out + y * size);
        else
            join_linear(rows, lines[y].weight, size, p->out + y * size);
    }
}

static int resize_taps(const struct by_pixels *p, size_t taps, bool area, struct baryon_error *err)
{
    struct position *columns = make_positions(p->in_w, p->out_w, taps, area, err);
    struct position *lines = make_positions(p->in_h, p->out_h, taps, area, err);
    int32_t *scratch = by_alloc(p->out_w * p->channels * TAPS_MAX, sizeof *scratch, err);
    int failed = columns && lines && scratch ? 0 : -1;
    if (failed == 0)
        resize_rows(p, columns, lines, taps, scratch);
    by_free(columns);
    by_free(lines);
    by_free(scratch);
    return failed;
}

/* Whole-number factors: plain sums. */
static void area_whole(const struct by_pixels *p, size_t fx, size_t fy)
{
    const float share = 1.f / (float)(fx * fy);
    for (size_t y = 0; y < p->out_h; y++)
        for (size_t i = 0; i < p->out_w * p->channels; i++) {
            const size_t x = i / p->channels, c = i % p->channels;
            uint64_t sum = 0;
            for (size_t dy = 0; dy < fy; dy++) {
                const uint8_t *in = p->in + ((y * fy + dy) * p->in_w + x * fx) * p->channels + c;
                for (size_t dx = 0; dx < fx; dx++)
                    sum += in[dx * p->channels];
            }
            uint8_t *out = p->out + y * p->out_w * p->channels + i;
            *out = fx == 2 && fy == 2 ? (uint8_t)((sum + 2) >> 2)
                                      : clip_byte(lrintf((float)sum * share));
        }
}

/* Source pixels that a destination pixel covers: the edges partly, between them whole. */
struct span {
    size_t first, count;
    float weight_first, weight, weight_last; /* first and last count also when they are whole */
};

static struct span cover(size_t i, size_t in, double scale)
{
    const double from = (double)i * scale, to = from + scale;
    const double cell = scale < (double)in - from ? scale : (double)in - from;
    size_t last = (size_t)floor(to), first = (size_t)ceil(from);
    if (last > in - 1)
        last = in - 1;
    if (first > last)
        first = last;
    struct span span = {.first = first, .count = last - first, .weight = (float)(1.0 / cell)};
    span.weight_first = span.weight_last = span.weight;
    if ((double)first - from > 1e-3) {
        span.first--;
        span.count++;
        span.weight_first = (float)(((double)first - from) / cell);
    }
    if (to - (double)last > 1e-3) {
        double part = to - (double)last < 1.0 ? to - (double)last : 1.0;
        span.count++;
        span.weight_last = (float)((part < cell ? part : cell) / cell);
    }
    return span;
}

static float span_weight(const struct span *span, size_t j)
{
    return j == 0 ? span->weight_first : j + 1 == span->count ? span->weight_last : span->weight;
}

static void area_row(const struct by_pixels *p, size_t row, const struct span *columns, float *out)
{
    const uint8_t *in = p->in + row * p->in_w * p->channels;
    for (size_t x = 0; x < p->out_w; x++)
        for (size_t c = 0; c < p->channels; c++) {
            float sum = 0;
            for (size_t j = 0; j < columns[x].count; j++)
                sum += (float)in[(columns[x].first + j) * p->channels + c] *
                       span_weight(&columns[x], j);
            *out++ = sum;
        }
}

static void area_rows(const struct by_pixels *p, const struct span *columns,
                      const struct span *lines, float *row, float *sums)
{
    const size_t size = p->out_w * p->channels;
    for (size_t y = 0; y < p->out_h; y++) {
        memset(sums, 0, size * sizeof *sums);
        for (size_t j = 0; j < lines[y].count; j++) {
            const float weight = span_weight(&lines[y], j);
            area_row(p, lines[y].first + j, columns, row);
            for (size_t i = 0; i < size; i++)
                sums[i] += row[i] * weight;
        }
        for (size_t i = 0; i < size; i++)
            p->out[y * size + i] = clip_byte(lrintf(sums[i]));
    }
}

static struct span *make_spans(size_t in, size_t out, struct baryon_error *err)
{
    struct span *spans = by_alloc(out, sizeof *spans, err);
    for (size_t i = 0; spans && i < out; i++)
        spans[i] = cover(i, in, scale_of(in, out));
    return spans;
}

static int area_parts(const struct by_pixels *p, struct baryon_error *err)
{
    const size_t size = p->out_w * p->channels;
    struct span *columns = make_spans(p->in_w, p->out_w, err);
    struct span *lines = make_spans(p->in_h, p->out_h, err);
    float *floats = by_alloc(size * 2, sizeof *floats, err);
    int failed = columns && lines && floats ? 0 : -1;
    if (failed == 0)
        area_rows(p, columns, lines, floats, floats + size);
    by_free(columns);
    by_free(lines);
    by_free(floats);
    return failed;
}

static bool is_whole(double scale)
{
    return fabs(scale - rint(scale)) < DBL_EPSILON;
}

/* Mean over the area when both sides shrink, otherwise linear with sharper steps. */
static int resize_area(const struct by_pixels *p, struct baryon_error *err)
{
    const double x = scale_of(p->in_w, p->out_w), y = scale_of(p->in_h, p->out_h);
    if (x < 1.0 || y < 1.0)
        return resize_taps(p, 2, true, err);
    if (!is_whole(x) || !is_whole(y))
        return area_parts(p, err);
    area_whole(p, (size_t)rint(x), (size_t)rint(y));
    return 0;
}

int by_resize_cv(enum by_filter filter, const struct by_pixels *pixels, struct baryon_error *err)
{
    switch (filter) {
    case BY_FILTER_CV_NEAREST:
        resize_nearest(pixels);
        return 0;
    case BY_FILTER_CV_CUBIC:
        return resize_taps(pixels, 4, false, err);
    case BY_FILTER_CV_AREA:
        return resize_area(pixels, err);
    default:
        return resize_taps(pixels, 2, false, err);
    }
}
