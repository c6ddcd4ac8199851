/* Quantizes rows of a weight, one after the other. */
#include "llm/scheme/group.h"

#include "dtype/block.h"
#include "dtype/weights_path.h"

/* --- Scratch --- */

struct by_llm_scratch *by_llm_scratch_open(const struct by_llm_tensor *tensor,
                                           struct baryon_error *err)
{
    const size_t columns = tensor->columns, groups = columns / tensor->group;
    struct by_llm_scratch *scratch;
    size_t bytes;
    if (by_mul_overflow(columns, 5 * sizeof(float) + 2 * sizeof(double) + 1, &bytes) ||
        bytes > SIZE_MAX - sizeof *scratch) {
        by_err_nomem(err, columns);
        return NULL;
    }
    scratch = by_alloc(sizeof *scratch + bytes, 1, err);
    if (!scratch)
        return NULL;
    scratch->errors = (double *)(scratch + 1);
    scratch->scaled = (float *)(scratch->errors + 2 * groups);
    scratch->rounded = scratch->scaled + columns;
    scratch->levels = (int32_t *)(scratch->rounded + columns);
    scratch->peaks = (float *)(scratch->levels + columns);
    scratch->trial = scratch->peaks + groups;
    scratch->trial_codes = (uint8_t *)(scratch->trial + groups);
    if (by_llm_spec_is_int(tensor->spec) || !by_llm_spec_is_scaled(tensor->spec))
        return scratch;
    by_float_grid(&tensor->spec->dtype->element, BY_TIES_EVEN, by_cast_default.saturate,
                  &scratch->grid);
    if (tensor->spec->dtype->bits <= 6)
        scratch->grid.zero_sign = 0;
    by_llm_scales_open(&scratch->scales, tensor);
    return scratch;
}

void by_llm_scratch_close(struct by_llm_scratch *scratch)
{
    by_free(scratch);
}

/* --- Block formats of dtype --- */

static int extent_of(const struct by_llm_tensor *tensor, size_t rows, int64_t dims[2],
                     struct by_block_cast *cast, struct by_block_extent *extent,
                     struct baryon_error *err)
{
    dims[0] = (int64_t)rows;
    dims[1] = (int64_t)tensor->columns;
    *cast = (struct by_block_cast){.dims = dims, .rank = 2, .axis = 1};
    return by_block_extent(tensor->spec->dtype, cast, extent, err);
}

size_t by_llm_shared_bytes(const struct by_llm_tensor *tensor)
{
    struct by_block_cast cast;
    struct by_block_extent extent;
    int64_t dims[2];
    if (by_llm_spec_is_scaled(tensor->spec) || !tensor->spec->dtype->block.size ||
        extent_of(tensor, 1, dims, &cast, &extent, NULL))
        return 0;
    return extent.scale_bytes;
}

static int encode_blocks(const struct by_llm_tensor *tensor, const float *values, size_t rows,
                         struct by_llm_coded *coded, struct baryon_error *err)
{
    struct by_block_cast cast;
    struct by_block_extent extent;
    int64_t dims[2];
    return extent_of(tensor, rows, dims, &cast, &extent, err) ||
                   by_block_encode(tensor->spec->dtype, values, &cast, NULL, coded->codes,
                                   coded->shared, err)
               ? -1
               : 0;
}

/* --- Rows --- */

int by_llm_coded_open(struct by_llm_coded *coded, const struct by_llm_tensor *tensor, size_t rows,
                      struct baryon_error *err)
{
    const size_t scales = rows * tensor->groups;
    const size_t codes = rows * tensor->columns * by_dtype_code_bytes(tensor->spec->dtype);
    float *memory = by_alloc(scales * (sizeof(float) + sizeof(int32_t) + 1) + codes +
                                 rows * by_llm_shared_bytes(tensor),
                             1, err);
    if (!memory)
        return -1;
    *coded = (struct by_llm_coded){.scales = memory};
    coded->zeros = (int32_t *)(coded->scales + scales);
    coded->codes = (uint8_t *)(coded->zeros + scales);
    coded->scale_codes = coded->codes + codes;
    coded->shared = coded->scale_codes + scales;
    return 0;
}

void by_llm_coded_close(struct by_llm_coded *coded)
{
    by_free(coded->scales);
}

struct by_llm_coded by_llm_coded_from(const struct by_llm_coded *coded,
                                      const struct by_llm_tensor *tensor, size_t row)
{
    const size_t codes = tensor->columns * by_dtype_code_bytes(tensor->spec->dtype);
    return (struct by_llm_coded){.codes = coded->codes + row * codes,
                                 .scales = coded->scales + row * tensor->groups,
                                 .scale_codes = coded->scale_codes + row * tensor->groups,
                                 .zeros = coded->zeros + row * tensor->groups,
                                 .shared = coded->shared + row * by_llm_shared_bytes(tensor)};
}

/* As errors count. */
static double energy_of(const struct by_llm_tensor *tensor, const float *row)
{
    double sum = 0;
    if (!tensor->importance)
        return by_weight_path_chosen()->energy(row, tensor->columns);
    for (size_t i = 0; i < tensor->columns; i++)
        sum += (double)tensor->importance[i] * ((double)row[i] * (double)row[i]);
    return sum;
}

static int quantize_scaled(const struct by_llm_tensor *tensor, struct by_llm_scratch *scratch,
                           const float *values, size_t rows, struct by_llm_coded *coded,
                           struct baryon_error *err)
{
    const size_t bytes = by_dtype_code_bytes(tensor->spec->dtype), columns = tensor->columns;
    const size_t groups = tensor->groups;
    int failed = 0;
    for (size_t r = 0; r < rows && !failed; r++) {
        struct by_llm_row row = {.codes = coded->codes + r * columns * bytes,
                                 .scales = coded->scales + r * groups,
                                 .scale_codes = coded->scale_codes + r * groups,
                                 .zeros = coded->zeros + r * groups};
        const float *from = values + r * columns;
        if (by_llm_spec_is_int(tensor->spec))
            failed = by_llm_int_row(tensor, from, scratch, &row, err);
        else
            by_llm_float_row(tensor, from, scratch, &row);
        coded->sums.error += row.sums.error;
        coded->sums.minmax_error += row.sums.minmax_error;
        if (tensor->search != BY_LLM_SEARCH_MINMAX)
            coded->sums.energy += energy_of(tensor, from);
    }
    return failed;
}

int by_llm_quantize_rows(const struct by_llm_tensor *tensor, struct by_llm_scratch *scratch,
                         const float *values, size_t rows, struct by_llm_coded *coded,
                         struct baryon_error *err)
{
    const struct by_dtype *dtype = tensor->spec->dtype;
    coded->sums = (struct by_llm_errors){0};
    if (by_llm_spec_is_scaled(tensor->spec))
        return quantize_scaled(tensor, scratch, values, rows, coded, err);
    if (dtype->block.size)
        return encode_blocks(tensor, values, rows, coded, err);
    return by_dtype_encode(dtype, values, rows * tensor->columns, &by_cast_default, NULL,
                           coded->codes, err);
}

void by_llm_try(const struct by_llm_tensor *tensor, struct by_llm_scratch *scratch,
                const float *values, size_t rows, struct by_llm_tries *tries)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < tensor->candidate_count; i++) {
            const float *from = values + r * tensor->columns, scale = tensor->candidates[i];
            if (by_llm_spec_is_int(tensor->spec)) {
                const int64_t zero = tensor->candidate_zeros[i];
                tries->errors[i] += by_llm_int_error(tensor, from, scale, zero, scratch);
                if (!tensor->importance)
                    tries->cut[i] += by_llm_int_cut(tensor, from, scale, zero);
            } else
                tries->errors[i] += by_llm_float_error(tensor, from, scale, scratch);
        }
}

/* --- Back --- */

static void dequantize_ints(const struct by_llm_tensor *tensor, const uint8_t *codes,
                            const float *scales, const int32_t *zeros, float *out)
{
    const bool has_sign = tensor->spec->dtype->low < 0;
    const float unit = tensor->spec->over_fp8 ? tensor->scale : 1;
    for (size_t i = 0; i < tensor->columns; i++) {
        const size_t group = tensor->group_of ? (size_t)tensor->group_of[i] : i / tensor->group;
        const int32_t level = has_sign ? (int8_t)codes[i] : (int32_t)codes[i];
        out[i] = (float)(level - (zeros ? zeros[group] : 0)) * (scales[group] * unit);
    }
}

static void scale_up(const struct by_llm_tensor *tensor, const float *scales, float *out)
{
    for (size_t g = 0; g < tensor->columns / tensor->group; g++) {
        const float scale = by_llm_effective(tensor, scales[g]);
        for (size_t i = g * tensor->group; i < (g + 1) * tensor->group; i++)
            out[i] *= scale;
    }
}

static int decode_blocks(const struct by_llm_tensor *tensor, const struct by_llm_coded *coded,
                         size_t rows, float *out, struct baryon_error *err)
{
    struct by_block_cast cast;
    struct by_block_extent extent;
    int64_t dims[2];
    return extent_of(tensor, rows, dims, &cast, &extent, err) ||
                   by_block_decode(tensor->spec->dtype, coded->codes, coded->shared, &cast, NULL,
                                   out, err)
               ? -1
               : 0;
}

int by_llm_dequantize_rows(const struct by_llm_tensor *tensor, const struct by_llm_coded *coded,
                           size_t rows, float *out, struct baryon_error *err)
{
    const struct by_dtype *dtype = tensor->spec->dtype;
    const size_t columns = tensor->columns, groups = tensor->groups;
    if (!by_llm_spec_is_scaled(tensor->spec) && dtype->block.size)
        return decode_blocks(tensor, coded, rows, out, err);
    if (!by_llm_spec_is_int(tensor->spec) &&
        by_dtype_decode(dtype, coded->codes, rows * columns, &by_cast_default, NULL, out, err))
        return -1;
    for (size_t r = 0; r < rows && by_llm_spec_is_scaled(tensor->spec); r++) {
        if (by_llm_spec_is_int(tensor->spec))
            dequantize_ints(tensor, coded->codes + r * columns, coded->scales + r * groups,
                            coded->zeros ? coded->zeros + r * groups : NULL, out + r * columns);
        else
            scale_up(tensor, coded->scales + r * groups, out + r * columns);
    }
    return 0;
}
