/* Rows of small floats: the scale of each group, and the codes. */
#include "llm/scheme/group.h"

#include "dtype/family.h"

/* Each group divided by what its stored scale amounts to. */
static void scale_row(const struct by_llm_tensor *tensor, const float *values, const float *scales,
                      float *out)
{
    const size_t pieces = tensor->columns / tensor->group;
    for (size_t g = 0; g < pieces; g++) {
        const float scale = by_llm_effective(tensor, scales[g]);
        by_llm_divide(values + g * tensor->group, tensor->group, scale, out + g * tensor->group);
        for (size_t i = 0; tensor->quark && i < tensor->group && tensor->spec->dtype->bits == 8;
             i++)
            out[g * tensor->group + i] = by_llm_step(tensor, out[g * tensor->group + i]);
    }
}

/* Squared errors of each group. */
static int errors_of_row(const struct by_llm_tensor *tensor, const float *values,
                         const float *scales, struct by_llm_scratch *scratch, double *errors,
                         struct baryon_error *err)
{
    scale_row(tensor, values, scales, scratch->scaled);
    if (by_dtype_round(tensor->spec->dtype, scratch->scaled, tensor->columns, &by_cast_default,
                       NULL, scratch->rounded, err))
        return -1;
    for (size_t g = 0; g < tensor->columns / tensor->group; g++) {
        const size_t at = g * tensor->group;
        errors[g] = by_llm_distance(scratch->scaled + at, scratch->rounded + at, tensor->group,
                                    by_llm_effective(tensor, scales[g]));
    }
    return 0;
}

static void scales_of_row(const struct by_llm_tensor *tensor, const float *values, float factor,
                          float *scales, uint8_t *codes)
{
    for (size_t g = 0; g < tensor->columns / tensor->group; g++) {
        const float peak = by_llm_peak(values + g * tensor->group, tensor->group);
        scales[g] = by_llm_float_scale(tensor, peak, factor, &codes[g]);
    }
}

/* Of all candidates the best for each group. */
static int search_row(const struct by_llm_tensor *tensor, const float *values,
                      struct by_llm_scratch *scratch, struct by_llm_row *row,
                      struct baryon_error *err)
{
    const size_t pieces = tensor->columns / tensor->group;
    double *best = scratch->errors, *now = scratch->errors + pieces;
    size_t count;
    const float *factors = by_llm_factors(tensor, &count);
    if (errors_of_row(tensor, values, row->scales, scratch, best, err))
        return -1;
    for (size_t g = 0; g < pieces; g++)
        row->sums.minmax_error += best[g];
    for (size_t i = 1; i < count && tensor->spec->grain != BY_LLM_TENSOR; i++) {
        scales_of_row(tensor, values, factors[i], scratch->trial, scratch->trial_codes);
        if (errors_of_row(tensor, values, scratch->trial, scratch, now, err))
            return -1;
        for (size_t g = 0; g < pieces; g++)
            if (now[g] < best[g]) {
                best[g] = now[g];
                row->scales[g] = scratch->trial[g];
                row->scale_codes[g] = scratch->trial_codes[g];
            }
    }
    for (size_t g = 0; g < pieces; g++)
        row->sums.error += best[g];
    return 0;
}

/* Formats without NaN have one zero in files. */
static void drop_negative_zeros(const struct by_dtype *dtype, uint8_t *codes, size_t count)
{
    const uint8_t sign = (uint8_t)(1u << (dtype->bits - 1));
    if (dtype->bits > 6)
        return;
    for (size_t i = 0; i < count; i++)
        codes[i] = codes[i] == sign ? 0 : codes[i];
}

int by_llm_float_row(const struct by_llm_tensor *tensor, const float *values,
                     struct by_llm_scratch *scratch, struct by_llm_row *row,
                     struct baryon_error *err)
{
    if (tensor->spec->grain == BY_LLM_TENSOR)
        row->scales[0] = tensor->scale;
    else
        scales_of_row(tensor, values, 1, row->scales, row->scale_codes);
    if (tensor->search == BY_LLM_SEARCH_MSE && search_row(tensor, values, scratch, row, err))
        return -1;
    scale_row(tensor, values, row->scales, scratch->scaled);
    if (by_dtype_encode(tensor->spec->dtype, scratch->scaled, tensor->columns, &by_cast_default,
                        NULL, row->codes, err))
        return -1;
    drop_negative_zeros(tensor->spec->dtype, row->codes, tensor->columns);
    return 0;
}

int by_llm_float_error(const struct by_llm_tensor *tensor, const float *values, float scale,
                       struct by_llm_scratch *scratch, double *error, struct baryon_error *err)
{
    double own;
    if (errors_of_row(tensor, values, &scale, scratch, &own, err))
        return -1;
    *error += own;
    return 0;
}
