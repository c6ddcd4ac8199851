/* Rows of small floats: the scale of each group, and the codes. */
#include "llm/scheme/group.h"

#include "dtype/weights_path.h"

/* Each group divided by what its stored scale amounts to. */
static void scale_row(const struct by_llm_tensor *tensor, const float *values, const float *scales,
                      float *out)
{
    const struct by_weight_path *path = by_weight_path_chosen();
    const size_t group = tensor->group;
    for (size_t g = 0; g < tensor->columns / group; g++)
        path->divide(values + g * group, group, by_llm_effective(tensor, scales[g]),
                     out + g * group);
    for (size_t i = 0; tensor->quark && i < tensor->columns && tensor->spec->dtype->bits == 8; i++)
        out[i] = by_llm_step(tensor, out[i]);
}

/* Squared errors of each group. */
static void errors_of_row(const struct by_llm_tensor *tensor, const float *values,
                          const float *scales, struct by_llm_scratch *scratch, double *errors)
{
    const struct by_weight_path *path = by_weight_path_chosen();
    scale_row(tensor, values, scales, scratch->scaled);
    by_dtype_path_chosen()->floats(scratch->rounded, scratch->scaled, tensor->columns,
                                   &scratch->grid);
    for (size_t g = 0; g < tensor->columns / tensor->group; g++) {
        const size_t at = g * tensor->group;
        const float scale = by_llm_effective(tensor, scales[g]);
        const float *scaled = scratch->scaled + at, *rounded = scratch->rounded + at;
        errors[g] = tensor->importance
                        ? by_llm_weighted(scaled, rounded, tensor->importance + at, tensor->group) *
                              ((double)scale * (double)scale)
                        : path->distance(scaled, rounded, tensor->group, scale);
    }
}

static void peaks_of_row(const struct by_llm_tensor *tensor, const float *values, float *peaks)
{
    const struct by_weight_path *path = by_weight_path_chosen();
    for (size_t g = 0; g < tensor->columns / tensor->group; g++)
        peaks[g] = path->peak(values + g * tensor->group, tensor->group);
}

/* Of all candidates the best for each group. */
static void search_row(const struct by_llm_tensor *tensor, const float *values,
                       struct by_llm_scratch *scratch, struct by_llm_row *row)
{
    const size_t pieces = tensor->columns / tensor->group;
    double *best = scratch->errors, *now = scratch->errors + pieces;
    size_t count;
    const float *factors = by_llm_factors(tensor, &count);
    errors_of_row(tensor, values, row->scales, scratch, best);
    for (size_t g = 0; g < pieces; g++)
        row->sums.minmax_error += best[g];
    for (size_t i = 1; i < count; i++) {
        by_llm_float_scales(&scratch->scales, tensor, scratch->peaks, pieces, factors[i],
                            scratch->trial, scratch->trial_codes);
        errors_of_row(tensor, values, scratch->trial, scratch, now);
        for (size_t g = 0; g < pieces; g++)
            if (now[g] < best[g]) {
                best[g] = now[g];
                row->scales[g] = scratch->trial[g];
                row->scale_codes[g] = scratch->trial_codes[g];
            }
    }
    for (size_t g = 0; g < pieces; g++)
        row->sums.error += best[g];
}

void by_llm_float_row(const struct by_llm_tensor *tensor, const float *values,
                      struct by_llm_scratch *scratch, struct by_llm_row *row)
{
    if (tensor->spec->grain == BY_LLM_TENSOR) {
        row->scales[0] = tensor->scale;
    } else {
        peaks_of_row(tensor, values, scratch->peaks);
        by_llm_float_scales(&scratch->scales, tensor, scratch->peaks,
                            tensor->columns / tensor->group, 1, row->scales, row->scale_codes);
    }
    if (tensor->search != BY_LLM_SEARCH_MINMAX && tensor->spec->grain != BY_LLM_TENSOR)
        search_row(tensor, values, scratch, row);
    scale_row(tensor, values, row->scales, scratch->scaled);
    by_dtype_path_chosen()->codes8(row->codes, scratch->scaled, tensor->columns, &scratch->grid);
}

double by_llm_float_error(const struct by_llm_tensor *tensor, const float *values, float scale,
                          struct by_llm_scratch *scratch)
{
    double own;
    errors_of_row(tensor, values, &scale, scratch, &own);
    return own;
}
