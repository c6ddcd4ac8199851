/*
 * Structural similarity (Wang and others, 2004): of every window of a plane
 *
 *     (2 mx my + C1) (2 cxy + C2) / ((mx^2 + my^2 + C1) (vx + vy + C2))
 *
 * with weighted means, variances and covariance, C1 = (0.01 peak)^2, C2 = (0.03 peak)^2; the mean
 * over the windows that lie in the plane, then over the planes. A window is a Gaussian of sigma
 * 1.5 over 11 places; along a side that has fewer, over as many as there are, an odd number.
 *
 * Planes: the last two axes that are no channels; a line is a plane of one row.
 *
 * Quark's tool leaves out the means in variances and covariance, takes 255 as the peak whatever the
 * values are, and mirrors the plane at its ends.
 */
#include "metric/metric.h"

#include <math.h>
#include <string.h>

#define TAPS    11
#define HALF    (TAPS / 2)
#define MOMENTS 5

struct plane {
    const double *baseline, *result; /* the first value of each */
    size_t rows, columns;
    size_t step; /* between columns; between rows it is columns * step */
};

struct window {
    size_t taps;
    double weights[TAPS];
};

/* Filtered along a row: x, y, xx, yy, xy of each place. */
struct blur {
    struct window down, along;
    bool mirrored;
    size_t columns; /* that come out */
    double *rows;   /* a ring of `down.taps` rows */
};

/* --- Planes --- */

struct layout {
    size_t rows, columns, channels, pictures;
    bool last; /* channels are last */
};

static bool channels_last(const struct by_compared *pair)
{
    if (pair->rank < 3 || pair->where == BY_CHANNELS_FIRST)
        return false;
    return pair->where == BY_CHANNELS_LAST || pair->dims[pair->rank - 1] <= 4;
}

static struct layout find_layout(const struct by_compared *pair)
{
    struct layout layout = {.rows = 1, .columns = 1, .channels = 1, .last = channels_last(pair)};
    size_t rank = pair->rank;
    if (layout.last)
        layout.channels = (size_t)pair->dims[--rank];
    if (rank > 0)
        layout.columns = (size_t)pair->dims[rank - 1];
    if (rank > 1)
        layout.rows = (size_t)pair->dims[rank - 2];
    layout.pictures = pair->count / (layout.rows * layout.columns * layout.channels);
    return layout;
}

static struct plane plane_at(const struct by_compared *pair, const struct layout *layout,
                             size_t index)
{
    const size_t picture = index / layout->channels, channel = index % layout->channels;
    const size_t first = picture * layout->rows * layout->columns * layout->channels + channel;
    return (struct plane){.baseline = pair->baseline + first,
                          .result = pair->result + first,
                          .rows = layout->rows,
                          .columns = layout->columns,
                          .step = layout->channels};
}

/* --- Windows --- */

static struct window gauss(size_t most)
{
    struct window window = {.taps = most < TAPS ? (most - 1) / 2 * 2 + 1 : TAPS};
    double sum = 0;
    for (size_t i = 0; i < window.taps; i++) {
        const double far = (double)i - (double)(window.taps / 2);
        window.weights[i] = exp(-far * far / (2 * 1.5 * 1.5));
        sum += window.weights[i];
    }
    for (size_t i = 0; i < window.taps; i++)
        window.weights[i] /= sum;
    return window;
}

/* Of a place before the first one or after the last: the ends themselves are not repeated. */
static size_t mirror(int64_t at, size_t count)
{
    const int64_t last = (int64_t)count - 1;
    if (last == 0)
        return 0;
    while (at < 0 || at > last)
        at = at < 0 ? -at : 2 * last - at;
    return (size_t)at;
}

static int blur_open(struct blur *blur, const struct by_compared *pair, const struct layout *layout,
                     bool mirrored, struct baryon_error *err)
{
    *blur = (struct blur){.mirrored = mirrored,
                          .down = gauss(mirrored ? TAPS : layout->rows),
                          .along = gauss(mirrored ? TAPS : layout->columns)};
    blur->columns = mirrored ? layout->columns : layout->columns - blur->along.taps + 1;
    blur->rows = by_arena_alloc(pair->arena, blur->columns,
                                blur->down.taps * MOMENTS * sizeof *blur->rows, err);
    return blur->rows ? 0 : -1;
}

static double *ring_row(const struct blur *blur, size_t row)
{
    return blur->rows + row % blur->down.taps * blur->columns * MOMENTS;
}

/* Row `row` of the plane, to place `slot` of the ring. */
static void blur_along(const struct blur *blur, const struct plane *plane, size_t row, size_t slot)
{
    double *out = ring_row(blur, slot);
    const size_t first = row * plane->columns;
    for (size_t column = 0; column < blur->columns; column++, out += MOMENTS) {
        memset(out, 0, MOMENTS * sizeof *out);
        for (size_t tap = 0; tap < blur->along.taps; tap++) {
            size_t at = column + tap;
            if (blur->mirrored)
                at = mirror((int64_t)at - HALF, plane->columns);
            const double x = plane->baseline[(first + at) * plane->step];
            const double y = plane->result[(first + at) * plane->step];
            const double weight = blur->along.weights[tap];
            out[0] += weight * x;
            out[1] += weight * y;
            out[2] += weight * x * x;
            out[3] += weight * y * y;
            out[4] += weight * x * y;
        }
    }
}

static void blur_down(const struct blur *blur, size_t first, size_t column, double out[MOMENTS])
{
    memset(out, 0, MOMENTS * sizeof *out);
    for (size_t tap = 0; tap < blur->down.taps; tap++) {
        const double *in = ring_row(blur, first + tap) + column * MOMENTS;
        for (size_t k = 0; k < MOMENTS; k++)
            out[k] += blur->down.weights[tap] * in[k];
    }
}

/* --- The measure --- */

static double similarity(const double at[MOMENTS], double peak)
{
    const double c1 = 0.01 * 0.01 * peak * peak, c2 = 0.03 * 0.03 * peak * peak;
    const double squares = at[0] * at[0] + at[1] * at[1], product = at[0] * at[1];
    return (2 * product + c1) * (2 * (at[4] - product) + c2) /
           ((squares + c1) * (at[2] + at[3] - squares + c2));
}

static double similarity_compat(const double at[MOMENTS], double peak)
{
    (void)peak;
    const double c1 = 6.5025, c2 = 58.5225;
    return (2 * at[0] * at[1] + c1) * (2 * at[4] + c2) /
           ((at[0] * at[0] + at[1] * at[1] + c1) * (at[2] + at[3] + c2) + 1e-10);
}

/* Mean over the windows of a plane. */
static double of_plane(const struct blur *blur, const struct plane *plane, double peak)
{
    const size_t windows = blur->mirrored ? plane->rows : plane->rows - blur->down.taps + 1;
    double sum = 0, at[MOMENTS];
    for (size_t slot = 0; slot < windows + blur->down.taps - 1; slot++) {
        const int64_t row = (int64_t)slot - HALF;
        blur_along(blur, plane, blur->mirrored ? mirror(row, plane->rows) : slot, slot);
        if (slot + 1 < blur->down.taps)
            continue;
        for (size_t column = 0; column < blur->columns; column++) {
            blur_down(blur, slot + 1 - blur->down.taps, column, at);
            sum += blur->mirrored ? similarity_compat(at, peak) : similarity(at, peak);
        }
    }
    return sum / ((double)windows * (double)blur->columns);
}

static int of_pair(const struct by_compared *pair, bool compat, struct by_fraction *value,
                   struct baryon_error *err)
{
    struct blur blur;
    const struct layout layout = find_layout(pair);
    const size_t planes = layout.pictures * layout.channels;
    if (blur_open(&blur, pair, &layout, compat, err) < 0)
        return -1;
    for (size_t i = 0; i < planes; i++) {
        const struct plane plane = plane_at(pair, &layout, i);
        value->over += of_plane(&blur, &plane, pair->peak);
    }
    value->over /= (double)planes;
    return 0;
}

int by_metric_ssim(const struct by_compared *pair, struct by_fraction *value,
                   struct baryon_error *err)
{
    return of_pair(pair, false, value, err);
}

/* It reads arrays of rank 3 as rows, columns, channels. */
int by_metric_ssim_compat(const struct by_compared *pair, struct by_fraction *value,
                          struct baryon_error *err)
{
    struct by_compared theirs = *pair;
    if (pair->rank == 3)
        theirs.where = BY_CHANNELS_LAST;
    return of_pair(&theirs, true, value, err);
}
