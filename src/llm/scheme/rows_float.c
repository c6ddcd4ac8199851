/* Rows of small floats: the scale of each group, and the codes. */
#include "llm/scheme/group.h"

#include "dtype/weights_path.h"

#define LENGTHENINGS 3 /* of a row: each leaves a small part of what is lacking */

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

/* How much of the energy of the weights the codes have along them. */
static double kept_of_row(const struct by_llm_tensor *tensor, const float *scales,
                          const struct by_llm_scratch *scratch)
{
    double across = 0, energy = 0;
    for (size_t g = 0; g < tensor->columns / tensor->group; g++) {
        const float scale = by_llm_effective(tensor, scales[g]);
        double along = 0, own = 0;
        for (size_t i = g * tensor->group; i < (g + 1) * tensor->group; i++) {
            along += (double)scratch->scaled[i] * (double)scratch->rounded[i];
            own += (double)scratch->scaled[i] * (double)scratch->scaled[i];
        }
        across += along * ((double)scale * (double)scale);
        energy += own * ((double)scale * (double)scale);
    }
    return energy > 0 ? across / energy : 1;
}

static void round_longer(const struct by_llm_tensor *tensor, double factor,
                         struct by_llm_scratch *scratch)
{
    for (size_t i = 0; i < tensor->columns; i++)
        scratch->rounded[i] = scratch->scaled[i] * (float)factor;
    by_dtype_path_chosen()->floats(scratch->rounded, scratch->rounded, tensor->columns,
                                   &scratch->grid);
}

/*
 * Of scales that can be stored none may fit: weights that are made greater before they are rounded
 * give codes that lose nothing along the weights. See rows_int.c.
 */
static void lengthen_row(const struct by_llm_tensor *tensor, struct by_llm_scratch *scratch,
                         struct by_llm_row *row)
{
    double factor = 1;
    for (int step = 0; step < LENGTHENINGS; step++) {
        round_longer(tensor, factor, scratch);
        factor += 1 - kept_of_row(tensor, row->scales, scratch);
    }
    round_longer(tensor, factor, scratch);
    row->sums.error = 0;
    for (size_t g = 0; g < tensor->columns / tensor->group; g++)
        row->sums.error += by_weight_path_chosen()->distance(
            scratch->scaled + g * tensor->group, scratch->rounded + g * tensor->group,
            tensor->group, by_llm_effective(tensor, row->scales[g]));
}

/* Codes of 8 bits lose too little, as do those of one scale for the whole tensor, which is found
 * with all rows in view. */
static bool lengthens(const struct by_llm_tensor *tensor)
{
    return tensor->search == BY_LLM_SEARCH_UNBIASED && !tensor->importance &&
           tensor->spec->dtype->bits < 8 && tensor->spec->grain == BY_LLM_GROUP;
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
    const bool longer = lengthens(tensor);
    if (longer)
        lengthen_row(tensor, scratch, row);
    by_dtype_path_chosen()->codes8(row->codes, longer ? scratch->rounded : scratch->scaled,
                                   tensor->columns, &scratch->grid);
}

double by_llm_float_error(const struct by_llm_tensor *tensor, const float *values, float scale,
                          struct by_llm_scratch *scratch)
{
    double own;
    errors_of_row(tensor, values, &scale, scratch, &own);
    return own;
}
