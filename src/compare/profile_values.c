/* Reads scales and zero points, and what a stored constant means as floats. */
#include "compare/profile.h"

#include "dtype/dtype.h"
#include "ir/tensor.h"

#include <math.h>
#include <string.h>

#define MOST_SCALES (1u << 24)

int by_profile_read(struct by_arena *arena, const struct baryon_tensor *scales,
                    const struct baryon_tensor *zeros, int axis, struct by_params *params,
                    struct baryon_error *err)
{
    struct by_span bytes;
    size_t count = 0;
    int64_t *integers = NULL;
    *params = (struct by_params){.axis = -1, .group_axis = -1, .groups = 1};
    if (!scales)
        return 0;
    const struct by_elem_info *info = zeros ? by_elem_info(zeros->data_type) : NULL;
    if (by_tensor_count(scales, &params->count, err) < 0 ||
        by_tensor_bytes(scales, arena, &bytes, err) < 0)
        return -1;
    params->scales = by_arena_alloc(arena, params->count, sizeof(float), err);
    params->zeros = by_arena_alloc(arena, params->count, sizeof(int64_t), err);
    if (!params->scales || !params->zeros ||
        by_elem_to_floats(scales->data_type, bytes.data, 0, params->count, params->scales, err) <
            0 ||
        (info && info->class == BY_CLASS_INT &&
         by_tensor_ints(zeros, arena, MOST_SCALES, &integers, &count, err) < 0))
        return -1;
    for (size_t i = 0; count && i < params->count; i++)
        params->zeros[i] = integers[count == params->count ? i : 0];
    params->axis = params->count > 1 ? axis : -1;
    return 0;
}

/* --- Values --- */

/* Elements after one place of an axis, and places of that axis. */
struct stride {
    size_t inner, length;
};

static struct stride stride_of(const struct baryon_tensor *tensor, int axis)
{
    struct stride stride = {1, (size_t)tensor->dims.at[axis]};
    for (size_t i = (size_t)axis + 1; i < tensor->dims.count; i++)
        stride.inner *= (size_t)tensor->dims.at[i];
    return stride;
}

/* Which of the scales an element has. */
struct finder {
    struct stride stride;
    size_t scales, block, blocks; /* blocks: of a line along the axis */
};

static bool open_finder(const struct by_profile_tensor *tensor, struct finder *finder)
{
    const struct by_params *params = &tensor->params;
    *finder = (struct finder){{1, 1}, params->count, tensor->block, 1};
    if (params->count == 1)
        return true;
    if (params->axis < 0 || (size_t)params->axis >= tensor->stored->dims.count)
        return false;
    finder->stride = stride_of(tensor->stored, params->axis);
    if (tensor->block)
        finder->blocks = (finder->stride.length + tensor->block - 1) / tensor->block;
    return tensor->block || finder->stride.length == params->count;
}

static size_t find_scale(const struct finder *finder, size_t element)
{
    if (finder->scales == 1)
        return 0;
    const size_t place = element / finder->stride.inner % finder->stride.length;
    if (!finder->block)
        return place;
    const size_t line = element / finder->stride.inner / finder->stride.length;
    return (line * finder->blocks + place / finder->block) * finder->stride.inner +
           element % finder->stride.inner;
}

/* Levels of the integer type, for constants that are stored as floats. */
static void limits_of(int64_t elem, float *low, float *high)
{
    const int bits = (int)by_elem_info(elem)->bits;
    *low = by_elem_is_signed(elem) ? -ldexpf(1, bits - 1) : 0;
    *high = ldexpf(1, by_elem_is_signed(elem) ? bits - 1 : bits) - 1;
}

static void round_to_levels(const struct by_profile_tensor *tensor, const struct finder *finder,
                            float *values, size_t count)
{
    float low, high;
    limits_of(tensor->elem, &low, &high);
    for (size_t i = 0; i < count; i++) {
        const size_t at = find_scale(finder, i);
        const float scale = tensor->params.scales[at], zero = (float)tensor->params.zeros[at];
        const float level = fmaxf(low, fminf(high, nearbyintf(values[i] / scale) + zero));
        values[i] = (level - zero) * scale;
    }
}

/* Floats of fewer bits, whose scales are 1. */
static int round_to_floats(const struct by_profile_tensor *tensor, float *values, size_t count,
                           bool *known, struct baryon_error *err)
{
    size_t formats;
    const struct by_dtype *const *rows = by_dtypes(&formats);
    *known = false;
    for (size_t i = 0; i < formats; i++)
        if (rows[i]->elem == tensor->elem && rows[i]->does && tensor->params.count == 1 &&
            tensor->params.scales[0] == 1) {
            *known = true;
            return by_dtype_round(rows[i], values, count, &by_cast_default, NULL, values, err);
        }
    return 0;
}

static void scale_levels(const struct by_profile_tensor *tensor, const struct finder *finder,
                         float *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const size_t at = find_scale(finder, i);
        values[i] = (values[i] - (float)tensor->params.zeros[at]) * tensor->params.scales[at];
    }
}

static bool are_all_known(const struct by_profile_tensor *tensor, const struct finder *finder,
                          size_t count)
{
    const struct by_params *params = &tensor->params;
    if (count && find_scale(finder, count - 1) >= params->count)
        return false;
    for (size_t i = 0; i < params->count; i++)
        if (!(params->scales[i] > 0) || !isfinite(params->scales[i]))
            return false;
    return true;
}

static int read_floats(const struct baryon_tensor *stored, struct by_arena *arena, float **values,
                       size_t *count, struct baryon_error *err)
{
    struct by_span bytes;
    if (by_tensor_count(stored, count, err) < 0 || by_tensor_bytes(stored, arena, &bytes, err) < 0)
        return by_err_tensor(err, stored);
    *values = by_arena_alloc(arena, *count, sizeof **values, err);
    if (!*values)
        return -1;
    return by_elem_to_floats(stored->data_type, bytes.data, 0, *count, *values, err);
}

static bool is_class(int64_t elem, enum by_elem_class class)
{
    const struct by_elem_info *info = by_elem_info(elem);
    return info && info->class == class;
}

/* Stored values become what they mean; *known: they do. */
static int interpret(const struct by_profile_tensor *tensor, float *values, size_t count,
                     bool *known, struct baryon_error *err)
{
    struct finder finder;
    const bool stores_floats = is_class(tensor->stored->data_type, BY_CLASS_FLOAT);
    *known = stores_floats && !tensor->params.count && is_class(tensor->elem, BY_CLASS_FLOAT);
    if (!tensor->params.count)
        return 0;
    if (stores_floats && !is_class(tensor->elem, BY_CLASS_INT))
        return round_to_floats(tensor, values, count, known, err);
    *known = open_finder(tensor, &finder) && are_all_known(tensor, &finder, count);
    if (*known)
        (stores_floats ? round_to_levels : scale_levels)(tensor, &finder, values, count);
    return 0;
}

int by_profile_values(const struct by_profile_tensor *tensor, struct by_arena *arena,
                      float **values, size_t *count, struct baryon_error *err)
{
    bool known = false;
    *values = NULL;
    *count = 0;
    if (!tensor->stored || (!is_class(tensor->stored->data_type, BY_CLASS_FLOAT) &&
                            !is_class(tensor->stored->data_type, BY_CLASS_INT)))
        return 0;
    if (read_floats(tensor->stored, arena, values, count, err) < 0 ||
        interpret(tensor, *values, *count, &known, err) < 0)
        return -1;
    if (!known)
        *values = NULL;
    return 0;
}
