/* Finds what all rows of a tensor share: its range and, where there is one, its scale. */
#include "llm/scheme/scale.h"

#include "array/elem.h"
#include "base/str.h"
#include "dtype/family.h"
#include "dtype/weights_path.h"

#include <math.h>

/* --- Group sizes --- */

static void hint_sizes(size_t columns, struct baryon_error *err)
{
    struct by_str text;
    by_str_init(&text);
    for (size_t size = 16; size <= 256 && size <= columns; size *= 2)
        if (columns % size == 0)
            by_str_printf(&text, "%s%zu", text.size ? ", " : "", size);
    if (text.size)
        by_err_hint(err, "--group-size %s or a scheme with a scale for each channel fits",
                    by_str_text(&text));
    else
        by_err_hint(err, "choose a scheme with a scale for each channel");
    by_str_release(&text);
}

int by_llm_tensor_init(struct by_llm_tensor *tensor, const struct by_llm_spec *spec, size_t columns,
                       struct baryon_error *err)
{
    const size_t block = spec->dtype->block.size;
    const size_t group = block ? block : spec->grain == BY_LLM_GROUP ? spec->group : columns;
    *tensor = (struct by_llm_tensor){
        .spec = spec, .columns = columns, .group = group, .stored = BY_ELEM_FLOAT, .scale = 1};
    if (!columns || !group || columns % group) {
        by_fail(err, BARYON_ERR_INPUT, "%zu columns are no multiple of the group size %zu", columns,
                group);
        hint_sizes(columns, err);
        return -1;
    }
    tensor->groups = spec->grain == BY_LLM_GROUP ? columns / group : 1;
    return 0;
}

/* --- Values that are not finite --- */

size_t by_llm_strange(const float *values, size_t count)
{
    float min, max;
    size_t i = 0;
    if (!count || by_weight_path_chosen()->extremes(values, count, &min, &max))
        return count;
    while (isfinite(values[i]))
        i++;
    return i;
}

void by_llm_clean_row(float *values, size_t count)
{
    float peak = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i]))
            peak = fmaxf(peak, fabsf(values[i]));
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            values[i] = isnan(values[i]) ? 0 : copysignf(peak, values[i]);
}

/* --- Ranges --- */

bool by_llm_needs_range(const struct by_llm_tensor *tensor)
{
    const struct by_llm_spec *spec = tensor->spec;
    return by_llm_spec_is_scaled(spec) &&
           (spec->grain == BY_LLM_TENSOR || spec->global || spec->over_fp8);
}

void by_llm_look(struct by_llm_range *range, const float *values, size_t count)
{
    struct by_llm_range own = {.known = count > 0};
    if (!count)
        return;
    by_weight_path_chosen()->extremes(values, count, &own.min, &own.max);
    by_llm_range_join(range, &own);
}

void by_llm_range_join(struct by_llm_range *into, const struct by_llm_range *range)
{
    if (!range->known)
        return;
    if (!into->known)
        *into = *range;
    into->min = fminf(into->min, range->min);
    into->max = fmaxf(into->max, range->max);
}

/* --- The tensor's scale --- */

static float peak_of(const struct by_llm_range *range)
{
    return range->known ? fmaxf(fabsf(range->min), fabsf(range->max)) : 0;
}

/* With it the greatest scale of a group is the greatest that its type has. */
static float global_scale(const struct by_llm_tensor *tensor, float peak)
{
    const double most = tensor->spec->scale == BY_LLM_SCALE_E4M3 ? by_dtype_max(&by_dtype_fp8_e4m3)
                                                                 : by_dtype_max(&by_llm_fp8_e5m3);
    const float reach = (float)(by_dtype_max(tensor->spec->dtype) * most);
    if (peak == 0)
        return 1;
    return tensor->inverse ? reach / peak : peak / reach;
}

static void list_candidates(struct by_llm_tensor *tensor, const struct by_llm_range *range)
{
    size_t count;
    const float *factors = by_llm_factors(tensor, &count), peak = peak_of(range);
    struct by_llm_scales scales;
    uint8_t code;
    by_llm_scales_open(&scales, tensor);
    tensor->candidate_count = count;
    for (size_t i = 0; i < count; i++) {
        int64_t *zero = &tensor->candidate_zeros[i];
        *zero = 0;
        if (by_llm_spec_is_int(tensor->spec))
            tensor->candidates[i] =
                by_llm_int_scale(tensor, range->min, range->max, factors[i], zero);
        else
            by_llm_float_scales(&scales, tensor, &peak, 1, factors[i], &tensor->candidates[i],
                                &code);
    }
}

void by_llm_tensor_scale(struct by_llm_tensor *tensor, const struct by_llm_range *range)
{
    if (!by_llm_needs_range(tensor))
        return;
    if (tensor->spec->over_fp8)
        tensor->scale = by_llm_stored(
            BY_ELEM_FLOAT,
            fmaxf(peak_of(range) / (float)by_dtype_max(&by_dtype_fp8_e4m3), BY_LLM_LEAST_SCALE));
    else if (tensor->spec->global)
        tensor->scale = global_scale(tensor, peak_of(range));
    else {
        list_candidates(tensor, range);
        tensor->scale = tensor->candidates[0];
        tensor->zero = tensor->candidate_zeros[0];
    }
}

bool by_llm_needs_tries(const struct by_llm_tensor *tensor)
{
    return tensor->search != BY_LLM_SEARCH_MINMAX && by_llm_spec_is_scaled(tensor->spec) &&
           tensor->spec->grain == BY_LLM_TENSOR;
}

void by_llm_tries_join(struct by_llm_tries *into, const struct by_llm_tries *tries)
{
    for (size_t i = 0; i < BY_LLM_CANDIDATES; i++) {
        into->errors[i] += tries->errors[i];
        into->cut[i] += tries->cut[i];
    }
}

size_t by_llm_tensor_choose(struct by_llm_tensor *tensor, const struct by_llm_tries *tries)
{
    const bool guess = by_llm_spec_is_int(tensor->spec) && !tensor->importance;
    const double weight = guess ? (double)(tensor->columns - 1) : 0;
    size_t best = 0;
    double least = tries->errors[0] + weight * tries->cut[0];
    for (size_t i = 1; i < tensor->candidate_count; i++) {
        const double own = tries->errors[i] + weight * tries->cut[i];
        if (own < least) {
            least = own;
            best = i;
        }
    }
    tensor->scale = tensor->candidates[best];
    tensor->zero = tensor->candidate_zeros[best];
    return best;
}
