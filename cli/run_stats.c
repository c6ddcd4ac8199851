/* Accumulates shape, range and mean of one model output over all samples. */
#include "cli/run_stats.h"

#include <math.h>
#include <string.h>

#define CHUNK 1024

static bool has_numbers(int64_t elem)
{
    const struct by_elem_info *info = by_elem_info(elem);
    return info && info->class != BY_CLASS_NONE &&
           (info->class != BY_CLASS_OTHER || elem == BY_ELEM_BOOL);
}

static void note_shape(struct by_output_stats *stats, const struct by_array *array)
{
    if (!stats->seen) {
        stats->seen = true;
        stats->elem = array->elem;
        stats->rank = array->rank;
        memcpy(stats->dims, array->dims, sizeof stats->dims);
        return;
    }
    stats->ragged |= stats->rank != array->rank;
    for (size_t i = 0; i < stats->rank && i < array->rank; i++)
        if (stats->dims[i] != array->dims[i])
            stats->dims[i] = -1;
}

static void note_value(struct by_output_stats *stats, double value)
{
    if (!isfinite(value)) {
        stats->nonfinite++;
        return;
    }
    if (stats->count == stats->nonfinite || value < stats->min)
        stats->min = value;
    if (stats->count == stats->nonfinite || value > stats->max)
        stats->max = value;
    stats->sum += value;
}

int by_output_stats_add(struct by_output_stats *stats, const struct by_array *array,
                        struct baryon_error *err)
{
    double values[CHUNK];
    size_t count;
    note_shape(stats, array);
    if (by_dims_count(array->dims, array->rank, &count, err) < 0)
        return -1;
    for (size_t first = 0; has_numbers(array->elem) && first < count; first += CHUNK) {
        size_t some = count - first < CHUNK ? count - first : CHUNK;
        if (by_elem_to_doubles(array->elem, array->data, first, some, values, err) < 0)
            return -1;
        for (size_t i = 0; i < some; i++, stats->count++)
            note_value(stats, values[i]);
    }
    return 0;
}
