/* The grid that integers lie on: what is refused, the nearest ones, their error. */
#include "solve/descent_internal.h"
#include "solve/descent_path.h"
#include "solve/descent_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SPAN_MAX (1 << 22)

/* --- What is refused --- */

static bool all_finite(const float *values, size_t count)
{
    uint32_t odd = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, values + i, sizeof bits);
        odd |= (uint32_t)((bits & 0x7f800000u) == 0x7f800000u);
    }
    return !odd;
}

static int check_finite(const char *name, const float *values, size_t count,
                        struct baryon_error *err)
{
    return all_finite(values, count)
               ? 0
               : by_fail(err, BARYON_ERR_INPUT, "%s contains values that are not finite", name);
}

static int check_sizes(const struct by_descent *p, struct baryon_error *err)
{
    if (!p->columns || !p->outs)
        return by_fail(err, BARYON_ERR_USAGE, "%zu columns and %zu outputs, must be at least 1",
                       p->columns, p->outs);
    if (p->columns > INT32_MAX)
        return by_fail(err, BARYON_ERR_USAGE, "%zu columns, must be at most %d", p->columns,
                       INT32_MAX);
    if (!p->group || !p->groups || p->groups != (p->columns - 1) / p->group + 1)
        return by_fail(err, BARYON_ERR_USAGE, "%zu groups of %zu, must add up to %zu columns",
                       p->groups, p->group, p->columns);
    return 0;
}

static int check_levels(const struct by_descent *p, struct baryon_error *err)
{
    if (p->low > p->high)
        return by_fail(err, BARYON_ERR_USAGE, "levels %d to %d, must be in ascending order", p->low,
                       p->high);
    for (size_t i = 0; i < p->outs * p->groups; i++) {
        const int64_t zero = by_descent_zero(p, i);
        const int64_t down = zero - p->low, up = p->high - zero;
        if (!p->grid && (!(p->scales[i] > 0) || !isfinite(p->scales[i])))
            return by_fail(err, BARYON_ERR_INPUT, "scale %g, must be positive and finite",
                           (double)p->scales[i]);
        if (llabs(down) >= SPAN_MAX || llabs(up) >= SPAN_MAX)
            return by_fail(err, BARYON_ERR_USAGE,
                           "levels %d to %d with zero point %d, must be less than %d apart", p->low,
                           p->high, (int)zero, SPAN_MAX);
    }
    return 0;
}

static int check_grid(const struct by_descent *p, struct baryon_error *err)
{
    if (!p->grid)
        return 0;
    if (!p->free || !p->gram || p->zeros)
        return by_fail(err, BARYON_ERR_USAGE,
                       "a grid must go with a Gram matrix, no zeros, and integers that are free");
    for (int32_t i = p->low; p->grid->table && i < p->high; i++)
        if (!(p->grid->table[i - p->low] < p->grid->table[i - p->low + 1]))
            return by_fail(err, BARYON_ERR_USAGE, "levels of a table, must be in ascending order");
    if (check_finite("scales", p->scales, p->outs * p->groups, err))
        return -1;
    return p->grid->offsets ? check_finite("offsets", p->grid->offsets, p->outs * p->groups, err)
                            : 0;
}

static int check_samples(const struct by_descent *p, struct baryon_error *err)
{
    if (p->gram && p->gram_is_finite)
        return 0;
    if (p->gram)
        return check_finite("gram", p->gram, p->columns * p->columns, err);
    if (!p->rows || !p->rows->count || p->rows->stride < p->rows->count)
        return by_fail(err, BARYON_ERR_USAGE, "either a Gram matrix or rows must be given");
    for (size_t i = 0; i < p->columns; i++)
        if (check_finite("rows", p->rows->values + i * p->rows->stride, p->rows->count, err))
            return -1;
    return 0;
}

int by_descent_check(const struct by_descent *p, struct baryon_error *err)
{
    if (check_sizes(p, err) || check_levels(p, err) || check_grid(p, err) ||
        check_samples(p, err) ||
        (p->cross && check_finite("cross", p->cross, p->outs * p->columns, err)) ||
        (p->pull && check_finite("pull", p->pull, p->outs * p->columns, err)) ||
        check_finite("weights", p->weights, p->outs * p->columns, err))
        return -1;
    return 0;
}

/* --- Levels --- */

float by_descent_level(const struct by_descent *p, float weight, size_t at)
{
    const int64_t zero = by_descent_zero(p, at);
    const float low = (float)(p->low - zero), high = (float)(p->high - zero);
    float level = weight / p->scales[at];
    level = isnan(level) ? 0 : level;
    level = level < low ? low : level;
    return level > high ? high : level;
}

static void grid_room(const struct by_descent *p, float scale, int32_t integer, float *down,
                      float *up)
{
    const int32_t turn = scale < 0 ? -1 : 1;
    *down = *up = 0;
    if (scale == 0)
        return;
    if (p->grid->table) {
        by_descent_distances(p->grid->table, p->low, p->high, integer, turn, down, up);
        return;
    }
    *(turn > 0 ? down : up) = (float)(integer - p->low);
    *(turn > 0 ? up : down) = (float)(p->high - integer);
}

void by_descent_room(const struct by_descent *p, size_t out, size_t column, int32_t integer,
                     float *down, float *up)
{
    const size_t at = by_descent_scale_index(p, out, column);
    if (p->grid) {
        grid_room(p, p->scales[at], integer, down, up);
        return;
    }
    const int64_t zero = by_descent_zero(p, at);
    const float now = (float)(integer - zero);
    float low = (float)(p->low - zero), high = (float)(p->high - zero);
    if (!p->free) {
        const float level = by_descent_level(p, p->weights[out * p->columns + column], at);
        low = floorf(level);
        high = ceilf(level);
    }
    *down = now - low;
    *up = high - now;
}

static int32_t pick_of_table(const struct by_descent *p, float level)
{
    const float *table = p->grid->table;
    int32_t low = 0, high = p->high - p->low;
    while (high - low > 1) {
        const int32_t middle = (low + high) / 2;
        if (level < table[middle])
            high = middle;
        else
            low = middle;
    }
    return p->low + (level - table[low] <= table[high] - level ? low : high);
}

int32_t by_descent_pick(const struct by_descent *p, size_t at, float value)
{
    value -= by_descent_offset(p, at);
    if (p->grid && p->grid->table) {
        const float level = value / p->scales[at];
        return pick_of_table(p, isnan(level) ? 0 : level);
    }
    return (int32_t)nearbyintf(by_descent_level(p, value, at)) + by_descent_zero(p, at);
}

void by_descent_nearest(const struct by_descent *p, int32_t *integers)
{
    for (size_t out = 0; out < p->outs; out++)
        for (size_t i = 0; i < p->columns; i++) {
            const size_t place = out * p->columns + i;
            integers[place] =
                by_descent_pick(p, by_descent_scale_index(p, out, i), p->weights[place]);
        }
}

void by_descent_values(const struct by_descent *p, size_t out, const int32_t *integers,
                       double *values)
{
    for (size_t i = 0; i < p->columns; i++) {
        const size_t at = by_descent_scale_index(p, out, i);
        values[i] = by_descent_number(p, at, integers[i]) * (double)p->scales[at] +
                    (double)by_descent_offset(p, at);
    }
}

/* --- Error --- */

/* gram is symmetric: each row from its diagonal on will do. */
static void few_errors(const struct by_descent *p, const double *values, size_t first, size_t count,
                       double *errors)
{
    const struct by_descent_path *path = by_descent_path_chosen();
    for (size_t k = 0; k < count; k++)
        errors[k] = 0;
    for (size_t i = 0; i < p->columns; i++) {
        const float *row = p->gram + i * p->columns;
        for (size_t k = 0; k < count; k++) {
            const double *w = values + k * p->columns;
            const double beyond = path->dot(row + i + 1, w + i + 1, p->columns - i - 1);
            const double cross = (double)p->cross[(first + k) * p->columns + i];
            errors[k] += w[i] * ((double)row[i] * w[i] + 2 * (beyond - cross));
        }
    }
}

int by_descent_error(const struct by_descent *p, const int32_t *integers, double *errors,
                     struct baryon_error *err)
{
    if (!p->gram)
        return by_descent_rows_error(p, integers, errors, err);
    double *values =
        by_alloc(by_descent_min(BY_DESCENT_FEW, p->outs) * p->columns, sizeof *values, err);
    if (!values)
        return -1;
    for (size_t first = 0; first < p->outs; first += BY_DESCENT_FEW) {
        const size_t count = by_descent_min(BY_DESCENT_FEW, p->outs - first);
        for (size_t k = 0; k < count; k++)
            by_descent_values(p, first + k, integers + (first + k) * p->columns,
                              values + k * p->columns);
        few_errors(p, values, first, count, errors + first);
    }
    by_free(values);
    return 0;
}

/* With w the sum of both and d their difference it is d' (gram w - 2 cross); without cross w is
 * what both are off the weights, and pull stands for it. */
void by_descent_changes(const struct by_descent *p, size_t first, size_t count, const int32_t *from,
                        const int32_t *to, double *room, double *changes)
{
    const struct by_descent_path *path = by_descent_path_chosen();
    double *sums = room, *differences = room + count * p->columns;
    for (size_t k = 0; k < count; k++) {
        double *sum = sums + k * p->columns, *difference = differences + k * p->columns;
        const float *weights = p->weights + (first + k) * p->columns;
        by_descent_values(p, first + k, to + k * p->columns, sum);
        by_descent_values(p, first + k, from + k * p->columns, difference);
        for (size_t i = 0; i < p->columns; i++) {
            const double now = sum[i], before = difference[i];
            sum[i] = now + before - (p->cross ? 0 : 2 * (double)weights[i]);
            difference[i] = now - before;
        }
        changes[k] = 0;
    }
    for (size_t i = 0; i < p->columns; i++)
        for (size_t k = 0; k < count; k++) {
            const double difference = differences[k * p->columns + i];
            const double cross = (double)by_descent_aim(p, (first + k) * p->columns + i);
            if (difference != 0)
                changes[k] += difference * (path->dot(p->gram + i * p->columns,
                                                      sums + k * p->columns, p->columns) -
                                            2 * cross);
        }
}
