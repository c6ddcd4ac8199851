/* Rows of integers: scale and zero point of each group, and the levels. */
#include "llm/scheme/group.h"

#include "array/elem.h"
#include "dtype/family.h"
#include "dtype/weights_path.h"

#include <math.h>

#define REFINEMENTS 2 /* of the scale by the levels that it gives */
#define TURNED_BITS 4 /* at most: beyond them one more level is worth nothing */

struct choice {
    float scale; /* that levels are made with */
    int64_t zero;
    double error;
    float stored;
};

/* A group of a row that is searched. */
struct span {
    const float *values, *importance; /* importance NULL: all the same */
    float min, max;
    int32_t *levels; /* room */
};

static struct by_weight_grid grid_of(const struct by_llm_tensor *tensor, float scale, int64_t zero)
{
    const struct by_dtype *dtype = tensor->spec->dtype;
    return (struct by_weight_grid){.scale = scale,
                                   .low = (float)(dtype->low - zero),
                                   .high = (float)(dtype->high - zero),
                                   .zero = (int32_t)zero};
}

static double error_with(const struct by_llm_tensor *tensor, const float *values, size_t count,
                         float scale, int64_t zero, double limit)
{
    const struct by_weight_grid grid = grid_of(tensor, scale, zero);
    return by_weight_path_chosen()->error(values, count, &grid, limit);
}

static double span_error(const struct by_llm_tensor *tensor, const struct span *span, float scale,
                         int64_t zero, double limit)
{
    if (!span->importance)
        return error_with(tensor, span->values, tensor->group, scale, zero, limit);
    const struct by_weight_grid grid = grid_of(tensor, scale, zero);
    by_weight_path_chosen()->round(span->values, tensor->group, &grid, span->levels);
    return by_llm_weighted_levels(span->values, span->levels, zero, scale, span->importance,
                                  tensor->group);
}

static void try_choice(const struct by_llm_tensor *tensor, const struct span *span, float scale,
                       int64_t zero, struct choice *best)
{
    const double error = span_error(tensor, span, scale, zero, best->error);
    if (error < best->error)
        *best = (struct choice){scale, zero, error, scale};
}

/* Whether what is cut off the extremes is too much already: no more than the sum of all. */
static bool is_cut(const struct by_llm_tensor *tensor, const struct span *span, float scale,
                   int64_t zero, double limit)
{
    const struct by_weight_grid grid = grid_of(tensor, scale, zero);
    const float low = scale < 0 ? grid.high * scale : grid.low * scale;
    const float high = scale < 0 ? grid.low * scale : grid.high * scale;
    const double below = (double)(low - span->min), above = (double)(span->max - high);
    if (span->importance)
        return false;
    return (below > 0 && below * below >= limit) || (above > 0 && above * above >= limit);
}

/* The scale that fits the levels of the best one in least squares. */
static void refine_scale(const struct by_llm_tensor *tensor, const struct span *span,
                         struct choice *best)
{
    const struct by_weight_grid grid = grid_of(tensor, best->scale, best->zero);
    const int64_t elem = tensor->spec->scale == BY_LLM_SCALE_MODEL ? tensor->stored : BY_ELEM_FLOAT;
    double across = 0, own = 0;
    by_weight_path_chosen()->round(span->values, tensor->group, &grid, span->levels);
    for (size_t i = 0; i < tensor->group; i++) {
        const double level = (double)(span->levels[i] - best->zero);
        const double weight = span->importance ? (double)span->importance[i] : 1;
        across += weight * (double)span->values[i] * level;
        own += weight * level * level;
    }
    if (own > 0 && across * (double)best->scale > 0)
        try_choice(tensor, span, by_llm_stored(elem, (float)(across / own)), best->zero, best);
}

/* Two's complement has one level more below zero than above. A negative scale turns it to the side
 * of the greatest magnitude. */
static bool wants_turn(const struct by_llm_tensor *tensor, const struct span *span)
{
    const struct by_llm_spec *spec = tensor->spec;
    return !spec->asymmetric && !spec->over_fp8 && !tensor->quark && spec->dtype->low < 0 &&
           spec->dtype->bits <= TURNED_BITS && span->max > -span->min;
}

static void search_group(const struct by_llm_tensor *tensor, const struct span *span,
                         struct choice *best)
{
    const struct by_dtype *dtype = tensor->spec->dtype;
    size_t count;
    const float *factors = by_llm_factors(tensor, &count);
    const float turn = wants_turn(tensor, span) ? -1 : 1;
    for (size_t i = 1; i < count; i++) {
        int64_t zero;
        const float scale =
            turn * by_llm_int_scale(tensor, span->min, span->max, factors[i], &zero);
        if (!is_cut(tensor, span, scale, zero, best->error))
            try_choice(tensor, span, scale, zero, best);
    }
    if (tensor->spec->asymmetric) {
        const int64_t zero = best->zero, first = dtype->low + tensor->least_zero;
        if (zero > first)
            try_choice(tensor, span, best->scale, zero - 1, best);
        if (zero < dtype->high)
            try_choice(tensor, span, best->scale, zero + 1, best);
    }
    for (int i = 0; i < REFINEMENTS; i++)
        refine_scale(tensor, span, best);
}

/*
 * Codes of least squared error lie at an angle to the weights, and their scale makes them shorter:
 * a share of each weight is lost, the same one in all inputs of an output, which adds up where the
 * inputs hang together with the weights. With this scale nothing is lost along the weights.
 */
static void lengthen_scale(const struct by_llm_tensor *tensor, const struct span *span,
                           struct choice *best)
{
    const struct by_weight_grid grid = grid_of(tensor, best->scale, best->zero);
    const int64_t elem = tensor->spec->scale == BY_LLM_SCALE_MODEL ? tensor->stored : BY_ELEM_FLOAT;
    double across = 0, energy = 0, error = 0;
    by_weight_path_chosen()->round(span->values, tensor->group, &grid, span->levels);
    for (size_t i = 0; i < tensor->group; i++) {
        across += (double)span->values[i] * (double)(span->levels[i] - best->zero);
        energy += (double)span->values[i] * (double)span->values[i];
    }
    if (!(across * (double)best->scale > 0))
        return;
    best->stored = by_llm_stored(elem, (float)(energy / across));
    for (size_t i = 0; i < tensor->group; i++) {
        const double level = (double)(span->levels[i] - best->zero);
        const double gap = (double)span->values[i] - level * (double)best->stored;
        error += gap * gap;
    }
    best->error = error;
}

static struct choice choose_group(const struct by_llm_tensor *tensor, struct span *span,
                                  struct by_llm_errors *sums)
{
    struct choice best = {.scale = tensor->scale, .zero = tensor->zero};
    if (tensor->spec->grain != BY_LLM_TENSOR) {
        by_weight_path_chosen()->extremes(span->values, tensor->group, &span->min, &span->max);
        best.scale = by_llm_int_scale(tensor, span->min, span->max, 1, &best.zero);
    }
    best.stored = best.scale;
    if (tensor->search == BY_LLM_SEARCH_MINMAX || tensor->spec->grain == BY_LLM_TENSOR)
        return best;
    best.error = span_error(tensor, span, best.scale, best.zero, INFINITY);
    sums->minmax_error += best.error;
    if (best.error > 0)
        search_group(tensor, span, &best);
    if (best.error > 0 && tensor->search == BY_LLM_SEARCH_UNBIASED && !span->importance)
        lengthen_scale(tensor, span, &best);
    sums->error += best.error;
    return best;
}

/* --- Levels --- */

static void put_levels(const struct by_llm_tensor *tensor, const float *values,
                       const struct choice *choice, struct by_llm_scratch *scratch, uint8_t *codes)
{
    struct by_weight_grid grid = grid_of(tensor, choice->scale, choice->zero);
    if (tensor->quark) {
        const float inverse = 1 / choice->scale;
        for (size_t i = 0; i < tensor->group; i++)
            scratch->rounded[i] = values[i] * inverse;
        values = scratch->rounded;
        grid.scale = 1;
    }
    by_weight_path_chosen()->codes(values, tensor->group, &grid, codes);
}

/* The values that integers are made of: as they are, or those of fp8 codes. */
static const float *base_of(const struct by_llm_tensor *tensor, const float *values,
                            struct by_llm_scratch *scratch, struct baryon_error *err)
{
    if (!tensor->spec->over_fp8)
        return values;
    by_weight_path_chosen()->divide(values, tensor->columns, tensor->scale, scratch->scaled);
    for (size_t i = 0; tensor->quark && i < tensor->columns; i++)
        scratch->scaled[i] = by_llm_step(tensor, scratch->scaled[i]);
    return by_dtype_round(&by_dtype_fp8_e4m3, scratch->scaled, tensor->columns, &by_cast_default,
                          NULL, scratch->scaled, err)
               ? NULL
               : scratch->scaled;
}

int by_llm_int_row(const struct by_llm_tensor *tensor, const float *values,
                   struct by_llm_scratch *scratch, struct by_llm_row *row, struct baryon_error *err)
{
    const size_t pieces = tensor->columns / tensor->group;
    const float *base = base_of(tensor, values, scratch, err);
    struct by_llm_errors sums = {0};
    if (!base)
        return -1;
    for (size_t g = 0; g < pieces; g++) {
        const size_t at = g * tensor->group;
        struct span span = {.values = base + at, .levels = scratch->levels};
        span.importance = tensor->importance ? tensor->importance + at : NULL;
        const struct choice choice = choose_group(tensor, &span, &sums);
        put_levels(tensor, base + at, &choice, scratch, row->codes + at);
        row->scales[g] = choice.stored;
        row->zeros[g] = (int32_t)choice.zero;
    }
    const double unit = tensor->spec->over_fp8 ? (double)tensor->scale * (double)tensor->scale : 1;
    row->sums.error += sums.error * unit;
    row->sums.minmax_error += sums.minmax_error * unit;
    return 0;
}

double by_llm_int_error(const struct by_llm_tensor *tensor, const float *values, float scale,
                        int64_t zero, struct by_llm_scratch *scratch)
{
    const struct span span = {
        .values = values, .importance = tensor->importance, .levels = scratch->levels};
    return span_error(tensor, &span, scale, zero, INFINITY);
}

double by_llm_int_cut(const struct by_llm_tensor *tensor, const float *values, float scale,
                      int64_t zero)
{
    const struct by_weight_grid grid = grid_of(tensor, scale, zero);
    const float low = grid.low * scale, high = grid.high * scale;
    float min, max;
    double sum = 0;
    by_weight_path_chosen()->extremes(values, tensor->columns, &min, &max);
    for (size_t i = 0; i < tensor->columns && (min < low || max > high); i++) {
        const double beyond = (double)fmaxf(fmaxf(values[i] - high, low - values[i]), 0);
        sum += beyond * beyond;
    }
    return sum;
}
