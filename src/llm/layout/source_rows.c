/* Reads rows of weights as floats. */
#include "llm/layout/source.h"

#include "base/half.h"
#include "llm/layout/stacks.h"

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

static int ggml_rows(const struct by_llm_source *source, const struct by_llm_weight *weight,
                     size_t first, size_t count, float *out, struct baryon_error *err)
{
    const struct by_stored_type *type = weight->stored->type;
    const struct by_ggml_type *blocks = by_ggml_type((uint32_t)type->ggml);
    const size_t row = weight->columns / type->block * type->bytes;
    if (!blocks || !blocks->decode)
        return by_fail(err, BARYON_ERR_UNSUPPORTED, "type %s cannot be decoded", type->name);
    return by_ggml_decode(blocks,
                          by_checkpoint_bytes(source->checkpoint, weight->stored) + first * row,
                          count * weight->columns, out, err);
}

int by_llm_source_rows(const struct by_llm_source *source, const struct by_llm_weight *weight,
                       size_t first, size_t count, float *out, struct baryon_error *err)
{
    switch (weight->as) {
    case BY_LLM_AS_CODES:
        return code_rows(source, weight, first, count, out, err);
    case BY_LLM_AS_BLOCKS:
        return block_rows(source, weight, first, count, out, err);
    case BY_LLM_AS_STACK:
        return by_llm_stack_rows(source, weight, first, count, out, err);
    case BY_LLM_AS_GGML:
        return ggml_rows(source, weight, first, count, out, err);
    case BY_LLM_AS_MADE:
        return by_made_floats(weight->made, source->checkpoint, first, count, out, err);
    case BY_LLM_AS_EDITED:
        return weight->edit->rows(weight->edit, source, first, count, out, err);
    case BY_LLM_AS_FLOATS:
    case BY_LLM_AS_OTHER:
        break;
    }
    return plain_rows(weight->stored->type->elem,
                      by_checkpoint_bytes(source->checkpoint, weight->stored),
                      first * weight->columns, count * weight->columns, out, err);
}

const uint16_t *by_llm_source_halves(const struct by_llm_source *source,
                                     const struct by_llm_weight *weight)
{
    if (weight->as != BY_LLM_AS_FLOATS || (weight->stored->type->elem != BY_ELEM_BFLOAT16 &&
                                           weight->stored->type->elem != BY_ELEM_FLOAT16))
        return NULL;
    const void *bytes = by_checkpoint_bytes(source->checkpoint, weight->stored);
    return (uintptr_t)bytes % alignof(uint16_t) ? NULL : bytes;
}

void by_llm_source_edit(struct by_llm_weight *weight, struct by_llm_edit *edit)
{
    edit->from = *weight;
    weight->as = BY_LLM_AS_EDITED;
    weight->edit = edit;
}

/* False: words of a row may lie all over the tensor. */
static bool place_of_rows(const struct by_llm_weight *weight, size_t first, size_t count,
                          uint64_t *at, uint64_t *size)
{
    uint64_t row = weight->rows ? weight->stored->bytes / weight->rows : 0, before = 0;
    if (weight->as == BY_LLM_AS_CODES || weight->as == BY_LLM_AS_EDITED || weight->stack.turned)
        return false;
    if (weight->as == BY_LLM_AS_STACK) {
        const struct by_llm_stack *stack = &weight->stack;
        row = weight->stored->bytes / weight->stored->dims[0] / stack->rows;
        before = stack->expert * stack->rows + stack->low;
    } else if (weight->as == BY_LLM_AS_MADE) {
        row = by_llm_source_bytes(weight) / (weight->rows ? weight->rows : 1);
        before = weight->made->first_row;
    }
    *at = row * (before + first);
    *size = row * count;
    return true;
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

uint64_t by_llm_source_bytes(const struct by_llm_weight *weight)
{
    const uint64_t values = (uint64_t)weight->rows * weight->columns;
    uint64_t bytes = weight->stored->bytes;
    if (weight->as == BY_LLM_AS_EDITED)
        return by_llm_source_bytes(&weight->edit->from);
    if (weight->as == BY_LLM_AS_CODES) {
        bytes = 0;
        for (size_t i = 0; i < weight->fields.count; i++)
            bytes += weight->parts[i] ? weight->parts[i]->bytes : 0;
    } else if (weight->as == BY_LLM_AS_MADE) {
        bytes = values / weight->stored->type->block * weight->stored->type->bytes;
    } else if (weight->as == BY_LLM_AS_STACK) {
        bytes = weight->scales ? values / 32 * 17 : values * weight->stored->type->bytes;
    } else if (weight->scales) {
        bytes += weight->scales->bytes;
    }
    return bytes;
}

int64_t by_llm_source_elem(const struct by_llm_weight *weight)
{
    switch (weight->as) {
    case BY_LLM_AS_FLOATS:
    case BY_LLM_AS_OTHER:
        return weight->stored->type->elem;
    case BY_LLM_AS_STACK:
    case BY_LLM_AS_MADE:
        return weight->stored->type->elem == BY_ELEM_FLOAT ||
                       weight->stored->type->elem == BY_ELEM_FLOAT16
                   ? (int64_t)weight->stored->type->elem
                   : BY_ELEM_BFLOAT16;
    case BY_LLM_AS_CODES:
        return weight->tensor.stored == BY_ELEM_FLOAT16 ? BY_ELEM_FLOAT16 : BY_ELEM_BFLOAT16;
    case BY_LLM_AS_EDITED:
        return by_llm_source_elem(&weight->edit->from);
    case BY_LLM_AS_BLOCKS:
    case BY_LLM_AS_GGML:
        break;
    }
    return BY_ELEM_BFLOAT16;
}
