/* Lists the codes of all values of 16 bits and looks them up. */
#include "llm/scheme/table.h"

#include "array/elem.h"
#include "base/half.h"

#include <math.h>
#include <string.h>

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
        by_llm_coded_close(&coded);
    }
    by_llm_scratch_close(scratch);
    by_free(values);
    return failed ? -1 : 0;
}

void by_llm_table_codes(const struct by_llm_table *table, const uint16_t *values, size_t count,
                        uint8_t *codes)
{
    size_t i = 0;
    for (; i + 8 <= count; i += 8)
        for (size_t k = 0; k < 8; k++)
            codes[i + k] = table->codes[values[i + k]];
    for (; i < count; i++)
        codes[i] = table->codes[values[i]];
}
