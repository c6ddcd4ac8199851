/* Counts values of 16 bits and sums the errors of scales over what was counted. */
#include "llm/scheme/tally.h"

#include "array/elem.h"
#include "base/half.h"
#include "dtype/path.h"
#include "dtype/weights_path.h"
#include "llm/scheme/group.h"

#include <math.h>
#include <string.h>

void by_llm_tally_add(struct by_llm_tally *tally, const uint8_t *values, size_t count)
{
    uint16_t some[4];
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        memcpy(some, values + 2 * i, sizeof some);
        tally->counts[some[0]]++;
        tally->counts[some[1]]++;
        tally->counts[some[2]]++;
        tally->counts[some[3]]++;
    }
    for (; i < count; i++) {
        memcpy(some, values + 2 * i, sizeof *some);
        tally->counts[some[0]]++;
    }
}

void by_llm_tally_join(struct by_llm_tally *into, const struct by_llm_tally *tally)
{
    for (size_t i = 0; i < BY_LLM_TALLY_VALUES; i++)
        into->counts[i] += tally->counts[i];
}

static float value_of(int64_t elem, size_t bits)
{
    return elem == BY_ELEM_FLOAT16 ? by_f16_to_f32_one((uint16_t)bits)
                                   : by_bf16_to_f32_one((uint16_t)bits);
}

bool by_llm_tally_range(const struct by_llm_tally *tally, int64_t elem, struct by_llm_range *range)
{
    *range = (struct by_llm_range){0};
    for (size_t i = 0; i < BY_LLM_TALLY_VALUES; i++) {
        if (!tally->counts[i])
            continue;
        const float value = value_of(elem, i);
        if (!isfinite(value))
            return false;
        by_llm_look(range, &value, 1);
    }
    return true;
}

double by_llm_tally_energy(const struct by_llm_tally *tally, int64_t elem)
{
    double sum = 0;
    for (size_t i = 0; i < BY_LLM_TALLY_VALUES; i++)
        if (tally->counts[i]) {
            const double value = (double)value_of(elem, i);
            sum += value * value * (double)tally->counts[i];
        }
    return sum;
}

/* --- Errors --- */

struct listed {
    float *values, *scaled, *rounded;
    int32_t *levels;
    double *counts;
    size_t count;
};

static int list_values(struct listed *listed, const struct by_llm_tally *tally, int64_t elem,
                       struct baryon_error *err)
{
    size_t count = 0;
    for (size_t i = 0; i < BY_LLM_TALLY_VALUES; i++)
        count += tally->counts[i] != 0;
    *listed = (struct listed){0};
    if (!(listed->counts = by_alloc(count, sizeof(double) + 4 * sizeof(float), err)))
        return -1;
    listed->values = (float *)(listed->counts + count);
    listed->scaled = listed->values + count;
    listed->rounded = listed->scaled + count;
    listed->levels = (int32_t *)(listed->rounded + count);
    for (size_t i = 0; i < BY_LLM_TALLY_VALUES; i++)
        if (tally->counts[i]) {
            listed->values[listed->count] = value_of(elem, i);
            listed->counts[listed->count++] = (double)tally->counts[i];
        }
    return 0;
}

static void try_ints(const struct listed *listed, const struct by_llm_tensor *tensor,
                     size_t candidate, struct by_llm_tries *tries)
{
    const float scale = tensor->candidates[candidate];
    const int64_t zero = tensor->candidate_zeros[candidate];
    const struct by_dtype *dtype = tensor->spec->dtype;
    const struct by_weight_grid grid = {
        .scale = scale, .low = (float)(dtype->low - zero), .high = (float)(dtype->high - zero)};
    const float low = grid.low * scale, high = grid.high * scale;
    by_weight_path_chosen()->round(listed->values, listed->count, &grid, listed->levels);
    for (size_t i = 0; i < listed->count; i++) {
        const float value = listed->values[i];
        const double off = (double)((float)listed->levels[i] * scale - value);
        const double beyond = (double)fmaxf(fmaxf(value - high, low - value), 0);
        tries->errors[candidate] += off * off * listed->counts[i];
        tries->cut[candidate] += beyond * beyond * listed->counts[i];
    }
}

static double float_error(const struct listed *listed, float scale,
                          const struct by_float_grid *grid)
{
    double sum = 0;
    by_weight_path_chosen()->divide(listed->values, listed->count, scale, listed->scaled);
    by_dtype_path_chosen()->floats(listed->rounded, listed->scaled, listed->count, grid);
    for (size_t i = 0; i < listed->count; i++) {
        const double off = (double)((listed->scaled[i] - listed->rounded[i]) * scale);
        sum += off * off * listed->counts[i];
    }
    return sum;
}

int by_llm_tally_errors(const struct by_llm_tally *tally, int64_t elem,
                        const struct by_llm_tensor *tensor, struct by_llm_tries *tries,
                        struct baryon_error *err)
{
    const bool is_int = by_llm_spec_is_int(tensor->spec);
    struct by_llm_scratch *scratch = by_llm_scratch_open(tensor, err);
    struct listed listed;
    if (!scratch)
        return -1;
    const int failed = list_values(&listed, tally, elem, err);
    for (size_t i = 0; i < tensor->candidate_count && !failed; i++) {
        if (is_int)
            try_ints(&listed, tensor, i, tries);
        else
            tries->errors[i] += float_error(&listed, tensor->candidates[i], &scratch->grid);
    }
    by_free(listed.counts);
    by_llm_scratch_close(scratch);
    return failed;
}
