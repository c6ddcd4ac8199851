/* Lists the codes of all values of 16 bits and looks them up. */
#include "llm/scheme/table_path.h"

#include "array/elem.h"
#include "base/half.h"

#include <math.h>
#include <string.h>

#define EXPONENTS 256
#define STEPS     128 /* mantissas of bf16 */

bool by_llm_table_fits(const struct by_llm_tensor *tensor)
{
    const struct by_llm_spec *spec = tensor->spec;
    return by_llm_spec_is_scaled(spec) && spec->grain == BY_LLM_TENSOR && !spec->over_fp8 &&
           by_dtype_code_bytes(spec->dtype) == 1;
}

static void list_values(float *values, int64_t elem)
{
    for (size_t i = 0; i < BY_LLM_TABLE_VALUES; i++) {
        const float value = elem == BY_ELEM_FLOAT16 ? by_f16_to_f32_one((uint16_t)i)
                                                    : by_bf16_to_f32_one((uint16_t)i);
        values[i] = isfinite(value) ? value : 0;
    }
}

/* --- Steps --- */

/* Codes of the values with this exponent, those below 0 after those above. */
static const uint8_t *codes_of(const struct by_llm_table *table, size_t exponent, bool negative)
{
    return table->codes + (negative ? BY_LLM_TABLE_VALUES / 2 : 0) + exponent * STEPS;
}

/* Whether they rise by the steps, and those below 0 are the same with a bit for the sign. */
static bool is_stepped(const struct by_llm_table *table, size_t exponent, const uint8_t *steps)
{
    const uint8_t *above = codes_of(table, exponent, false);
    const uint8_t *below = codes_of(table, exponent, true);
    for (size_t i = 0; i < STEPS; i++)
        if (above[i] != above[0] + steps[i] || above[i] >= BY_LLM_TABLE_ODD ||
            below[i] != (above[i] | BY_LLM_TABLE_ODD))
            return false;
    return true;
}

static size_t try_steps(struct by_llm_table *table, size_t exponent, uint8_t steps[STEPS])
{
    const uint8_t *codes = codes_of(table, exponent, false);
    size_t alike = 0;
    for (size_t i = 0; i < STEPS; i++)
        steps[i] = (uint8_t)(codes[i] - codes[0]);
    for (size_t e = 0; e < EXPONENTS; e++)
        alike += is_stepped(table, e, steps);
    return alike;
}

/* Of all exponents the steps that most have. */
static void find_steps(struct by_llm_table *table)
{
    uint8_t steps[STEPS];
    size_t most = 1;
    table->is_stepped = false;
    for (size_t e = 0; e < EXPONENTS; e++) {
        const uint8_t *codes = codes_of(table, e, false);
        /* Where all are the same, nothing rises. */
        const size_t alike = codes[0] < codes[STEPS - 1] ? try_steps(table, e, steps) : 0;
        if (alike <= most)
            continue;
        most = alike;
        table->is_stepped = true;
        memcpy(table->steps, steps, sizeof steps);
    }
    for (size_t e = 0; table->is_stepped && e < EXPONENTS; e++)
        table->bases[e] =
            is_stepped(table, e, table->steps) ? *codes_of(table, e, false) : BY_LLM_TABLE_ODD;
}

/* As one long row of the tensor. */
int by_llm_table_fill(struct by_llm_table *table, int64_t elem, const struct by_llm_tensor *tensor,
                      struct baryon_error *err)
{
    struct by_llm_tensor row = *tensor;
    struct by_llm_coded coded;
    row.columns = row.group = BY_LLM_TABLE_VALUES;
    row.groups = 1;
    row.search = BY_LLM_SEARCH_MINMAX; /* the scale is there */
    row.importance = NULL;
    float *values = by_alloc(BY_LLM_TABLE_VALUES, sizeof *values, err);
    struct by_llm_scratch *scratch = values ? by_llm_scratch_open(&row, err) : NULL;
    int failed = scratch ? by_llm_coded_open(&coded, &row, 1, err) : -1;
    if (!failed) {
        list_values(values, elem);
        failed = by_llm_quantize_rows(&row, scratch, values, 1, &coded, err);
        if (!failed)
            memcpy(table->codes, coded.codes, sizeof table->codes);
        table->is_stepped = false;
        if (!failed && elem == BY_ELEM_BFLOAT16)
            find_steps(table);
        by_llm_coded_close(&coded);
    }
    by_llm_scratch_close(scratch);
    by_free(values);
    return failed ? -1 : 0;
}

/* --- Looking up --- */

static bool plain_supported(void)
{
    return true;
}

static void plain_codes(const struct by_llm_table *table, const uint16_t *values, size_t count,
                        uint8_t *codes)
{
    size_t i = 0;
    for (; i + 8 <= count; i += 8)
        for (size_t k = 0; k < 8; k++)
            codes[i + k] = table->codes[values[i + k]];
    for (; i < count; i++)
        codes[i] = table->codes[values[i]];
}

const struct by_llm_table_path by_llm_table_plain = {"plain", plain_supported, false, plain_codes};

const struct by_llm_table_path *const *by_llm_table_paths(size_t *count)
{
    static const struct by_llm_table_path *const paths[] = {
#if defined(__x86_64__)
        &by_llm_table_avx512,
#endif
        &by_llm_table_plain,
    };
    *count = sizeof paths / sizeof *paths;
    return paths;
}

void by_llm_table_codes(const struct by_llm_table *table, const uint16_t *values, size_t count,
                        uint8_t *codes)
{
    size_t paths;
    const struct by_llm_table_path *const *path = by_llm_table_paths(&paths);
    while (!(*path)->supported() || ((*path)->needs_steps && !table->is_stepped))
        path++;
    (*path)->codes(table, values, count, codes);
}
