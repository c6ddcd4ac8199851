/* Reads rows of weights as floats. */
#include "llm/layout/source.h"

#include "base/half.h"

static int code_rows(const struct by_llm_source *source, const struct by_llm_weight *weight,
                     size_t first, size_t count, float *out, struct baryon_error *err)
{
    const uint8_t *data[BY_LLM_FIELDS_MAX] = {0};
    struct by_llm_coded coded;
    for (size_t i = 0; i < weight->fields.count; i++)
        if (weight->parts[i])
            data[i] = by_checkpoint_bytes(source->checkpoint, weight->parts[i]);
    if (by_llm_coded_open(&coded, &weight->tensor, count, err))
        return -1;
    int failed =
        by_llm_fields_get(&weight->fields, &weight->tensor, data, first, count, &coded, err) ||
        by_llm_dequantize_rows(&weight->tensor, &coded, count, out, err);
    by_llm_coded_close(&coded);
    return failed ? -1 : 0;
}

static int block_rows(const struct by_llm_source *source, const struct by_llm_weight *weight,
                      size_t first, size_t count, float *out, struct baryon_error *err)
{
    const uint64_t *block = source->dialect.block;
    const size_t across = (size_t)weight->scales->dims[1], columns = weight->columns;
    const uint8_t *codes = by_checkpoint_bytes(source->checkpoint, weight->stored);
    const uint8_t *scales = by_checkpoint_bytes(source->checkpoint, weight->scales);
    if (by_elem_to_floats(weight->stored->type->elem, codes, first * columns, count * columns, out,
                          err))
        return -1;
    float scale = 1;
    for (size_t r = 0; r < count; r++)
        for (size_t c = 0; c < columns; c++) {
            const size_t at = (first + r) / block[0] * across + c / block[1];
            if (c % block[1] == 0 &&
                by_elem_to_floats(weight->scales->type->elem, scales, at, 1, &scale, err))
                return -1;
            out[r * columns + c] *= scale;
        }
    return 0;
}

/* By vectors where values are aligned, as they are in files of the safetensors library. */
static int plain_rows(int64_t elem, const uint8_t *bytes, size_t first, size_t count, float *out,
                      struct baryon_error *err)
{
    const void *from = bytes + 2 * first;
    const bool aligned = (uintptr_t)from % alignof(uint16_t) == 0;
    if (elem == BY_ELEM_BFLOAT16 && aligned)
        by_bf16_to_f32(out, from, count);
    else if (elem == BY_ELEM_FLOAT16 && aligned)
        by_f16_to_f32(out, from, count);
    else
        return by_elem_to_floats(elem, bytes, first, count, out, err);
    return 0;
}

int by_llm_source_rows(const struct by_llm_source *source, const struct by_llm_weight *weight,
                       size_t first, size_t count, float *out, struct baryon_error *err)
{
    if (weight->as == BY_LLM_AS_CODES)
        return code_rows(source, weight, first, count, out, err);
    if (weight->as == BY_LLM_AS_BLOCKS)
        return block_rows(source, weight, first, count, out, err);
    return plain_rows(weight->stored->type->elem,
                      by_checkpoint_bytes(source->checkpoint, weight->stored),
                      first * weight->columns, count * weight->columns, out, err);
}

/* False: words of a row may lie all over the tensor. */
static bool place_of_rows(const struct by_llm_weight *weight, size_t first, size_t count,
                          uint64_t *at, uint64_t *size)
{
    const uint64_t row = weight->rows ? weight->stored->bytes / weight->rows : 0;
    *at = row * first;
    *size = row * count;
    return weight->as != BY_LLM_AS_CODES;
}

void by_llm_source_need(const struct by_llm_source *source, const struct by_llm_weight *weight,
                        size_t first, size_t count)
{
    uint64_t at, size;
    if (place_of_rows(weight, first, count, &at, &size))
        by_checkpoint_need(source->checkpoint, weight->stored, at, size);
}

void by_llm_source_done(const struct by_llm_source *source, const struct by_llm_weight *weight,
                        size_t first, size_t count)
{
    uint64_t at, size;
    if (place_of_rows(weight, first, count, &at, &size))
        by_checkpoint_done(source->checkpoint, weight->stored, at, size);
}

int64_t by_llm_source_elem(const struct by_llm_weight *weight)
{
    if (weight->as != BY_LLM_AS_CODES && weight->as != BY_LLM_AS_BLOCKS)
        return weight->stored->type->elem;
    return weight->as == BY_LLM_AS_CODES && weight->tensor.stored == BY_ELEM_FLOAT16
               ? BY_ELEM_FLOAT16
               : BY_ELEM_BFLOAT16;
}
