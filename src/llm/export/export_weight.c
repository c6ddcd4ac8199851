/* Constants of an exported decoder: integers in blocks of MatMulNBits, and floats. */
#include "llm/export/export_internal.h"

#include "array/elem.h"
#include "base/half.h"
#include "onnx/load.h"

#include <stdio.h>
#include <string.h>

#define ROWS_AT_ONCE (4 * (size_t)BY_LLM_ROWS_STEP)
#define BLOCK_LEAST  ((size_t)16)
#define BLOCK_MOST   ((size_t)256)
#define BLOCK_OF_ROW ((size_t)128) /* where a row has one scale */

/* --- Integers in blocks --- */

/* What MatMulNBits gets of a matrix. */
struct packed {
    const struct by_export *e;
    const struct by_llm_weight *weight;
    size_t block, blocks; /* columns of a block, blocks of a row */
    unsigned bits;
    bool zeros;   /* has zero points of its own */
    bool outside; /* one of them is beyond the bits */
    uint8_t *levels, *zero_bytes;
    float *scales;
};

/* Columns of a block: a power of two that divides a group; 0: there is none. */
static size_t block_of(const struct by_llm_weight *weight)
{
    const struct by_llm_spec *spec = weight->tensor.spec;
    size_t block = BLOCK_MOST;
    if (spec->grain != BY_LLM_GROUP)
        return BLOCK_OF_ROW;
    while (block >= BLOCK_LEAST && weight->tensor.group % block)
        block /= 2;
    return block >= BLOCK_LEAST ? block : 0;
}

static bool can_pack(struct packed *packed)
{
    const struct by_llm_weight *weight = packed->weight;
    const struct by_llm_spec *spec = weight->tensor.spec;
    if (weight->as != BY_LLM_AS_CODES || !by_llm_spec_is_int(spec) || spec->over_fp8 ||
        spec->global || spec->dtype->bits > 8 || weight->tensor.group_of)
        return false;
    packed->block = block_of(weight);
    packed->blocks = packed->block ? (weight->columns + packed->block - 1) / packed->block : 0;
    packed->bits = spec->dtype->bits <= 4 ? 4 : 8;
    packed->zeros = spec->dtype->low >= 0;
    return packed->block > 0;
}

static size_t zero_row_bytes(const struct packed *packed)
{
    return packed->bits == 4 ? (packed->blocks + 1) / 2 : packed->blocks;
}

static size_t level_row_bytes(const struct packed *packed)
{
    return packed->blocks * packed->block * packed->bits / 8;
}

/* The lower half of a byte comes first. */
static void put_level(uint8_t *bytes, size_t at, unsigned bits, uint8_t level)
{
    if (bits == 8)
        bytes[at] = level;
    else
        bytes[at / 2] |= (uint8_t)(at % 2 ? level << 4 : level);
}

/* Signed integers are counted from the middle, which is their zero point. */
static void pack_row(struct packed *packed, const struct by_llm_coded *coded, size_t at, size_t row)
{
    const struct by_llm_tensor *tensor = &packed->weight->tensor;
    const size_t columns = packed->weight->columns;
    const uint8_t middle = (uint8_t)(packed->zeros ? 0 : 1u << (packed->bits - 1));
    const uint8_t most = packed->bits == 4 ? 15 : 255;
    uint8_t *levels = packed->levels + row * level_row_bytes(packed);
    for (size_t c = 0; c < columns; c++)
        put_level(levels, c, packed->bits,
                  (uint8_t)(coded->codes[at * columns + c] + middle) & most);
    for (size_t b = 0; b < packed->blocks; b++) {
        const size_t group = at * tensor->groups + b * packed->block / tensor->group;
        packed->scales[row * packed->blocks + b] = coded->scales[group];
        if (!packed->zeros)
            continue;
        if (coded->zeros[group] < 0 || coded->zeros[group] > most)
            packed->outside = true;
        else
            put_level(packed->zero_bytes + row * zero_row_bytes(packed), b, packed->bits,
                      (uint8_t)coded->zeros[group]);
    }
}

static int pack_rows(void *context, size_t begin, size_t end, unsigned worker,
                     struct baryon_error *err)
{
    struct packed *packed = context;
    const struct by_llm_weight *weight = packed->weight;
    const struct by_checkpoint *checkpoint = packed->e->opened->checkpoint;
    const uint8_t *data[BY_LLM_FIELDS_MAX] = {0};
    struct by_llm_coded coded;
    (void)worker;
    for (size_t i = 0; i < weight->fields.count; i++)
        if (weight->parts[i])
            data[i] = by_checkpoint_bytes(checkpoint, weight->parts[i]);
    if (by_llm_coded_open(&coded, &weight->tensor, end - begin, err))
        return -1;
    const int failed =
        by_llm_fields_get(&weight->fields, &weight->tensor, data, begin, end - begin, &coded, err);
    for (size_t i = begin; !failed && i < end; i++)
        pack_row(packed, &coded, i - begin, i);
    by_llm_coded_close(&coded);
    return failed;
}

static int pack(struct packed *packed, struct baryon_error *err)
{
    const size_t rows = packed->weight->rows;
    packed->levels = by_alloc_zero(rows, level_row_bytes(packed), err);
    packed->scales =
        packed->levels ? by_alloc_zero(rows * packed->blocks, sizeof(float), err) : NULL;
    packed->zero_bytes = packed->scales ? by_alloc_zero(rows, zero_row_bytes(packed), err) : NULL;
    return packed->zero_bytes
               ? by_par_for(packed->e->pool, rows, ROWS_AT_ONCE, pack_rows, packed, err)
               : -1;
}

static void unpack(struct packed *packed)
{
    by_free(packed->levels);
    by_free(packed->scales);
    by_free(packed->zero_bytes);
}

static struct baryon_value *add_bytes(struct by_export *e, const char *name, const char *suffix,
                                      int64_t elem, const int64_t *dims, size_t rank,
                                      const void *bytes, size_t size, struct baryon_error *err)
{
    char full[BY_EXPORT_NAME_MAX];
    snprintf(full, sizeof full, "%.200s.%.40s", name, suffix);
    struct baryon_value *value = by_export_constant(e, full, elem, dims, rank, err);
    if (!value)
        return NULL;
    memcpy(by_export_room(value), bytes, size);
    by_tensor_done(e->model, value->initializer);
    return value;
}

static int set_sizes(const struct packed *packed, struct baryon_node *node,
                     struct baryon_error *err)
{
    const int64_t level = packed->e->options->accuracy_level;
    return by_node_set_int(node, "K", (int64_t)packed->weight->columns, err) ||
                   by_node_set_int(node, "N", (int64_t)packed->weight->rows, err) ||
                   by_node_set_int(node, "bits", packed->bits, err) ||
                   by_node_set_int(node, "block_size", (int64_t)packed->block, err) ||
                   (level && by_node_set_int(node, "accuracy_level", level, err))
               ? -1
               : 0;
}

static struct baryon_value *add_packed(struct by_export *e, const struct packed *packed,
                                       const char *name, struct baryon_value *in,
                                       struct baryon_error *err)
{
    const size_t rows = packed->weight->rows, all = rows * packed->blocks;
    const int64_t bytes = (int64_t)(packed->block * packed->bits / 8);
    const int64_t levels[] = {(int64_t)rows, (int64_t)packed->blocks, bytes};
    const int64_t flat[] = {(int64_t)all}, zeros[] = {(int64_t)(rows * zero_row_bytes(packed))};
    struct baryon_value *inputs[4] = {in};
    inputs[1] = add_bytes(e, name, "weight_Q", BY_ELEM_UINT8, levels, 3, packed->levels,
                          rows * level_row_bytes(packed), err);
    if (inputs[1])
        inputs[2] = add_bytes(e, name, "weight_scales", BY_ELEM_FLOAT, flat, 1, packed->scales,
                              all * sizeof(float), err);
    if (inputs[2] && packed->zeros)
        inputs[3] = add_bytes(e, name, "weight_zero_points", BY_ELEM_UINT8, zeros, 1,
                              packed->zero_bytes, (size_t)zeros[0], err);
    if (!inputs[2] || (packed->zeros && !inputs[3]))
        return NULL;
    struct baryon_value *out = by_export_node(e, "MatMulNBits", BY_EXPORT_MICROSOFT, name, inputs,
                                              packed->zeros ? 4 : 3, err);
    return out && !set_sizes(packed, out->producer, err) ? out : NULL;
}

/* --- Floats --- */

struct filling {
    const struct by_export *e;
    const struct by_llm_weight *weight;
    int64_t elem;
    uint8_t *out;
};

static int fill_rows(void *context, size_t begin, size_t end, unsigned worker,
                     struct baryon_error *err)
{
    const struct filling *f = context;
    const size_t columns = f->weight->columns, count = (end - begin) * columns;
    const bool whole = f->elem == BY_ELEM_FLOAT;
    float *values = whole ? (float *)(void *)(f->out + 4 * begin * columns)
                          : by_alloc(count, sizeof *values, err);
    (void)worker;
    if (!values)
        return -1;
    const int failed =
        by_llm_source_rows(&f->e->opened->source, f->weight, begin, end - begin, values, err);
    uint16_t *halves = (uint16_t *)(void *)(f->out + 2 * begin * columns);
    if (!failed && f->elem == BY_ELEM_FLOAT16)
        by_f32_to_f16(halves, values, count);
    else if (!failed && !whole)
        by_f32_to_bf16(halves, values, count);
    if (!whole)
        by_free(values);
    by_llm_source_done(&f->e->opened->source, f->weight, begin, end - begin);
    return failed;
}

struct baryon_value *by_export_matrix(struct by_export *e, const struct by_llm_weight *weight,
                                      const char *name, struct baryon_error *err)
{
    const int64_t own = weight->as == BY_LLM_AS_FLOATS ? by_llm_source_elem(weight) : BY_ELEM_FLOAT;
    const int64_t dims[] = {(int64_t)weight->rows, (int64_t)weight->columns};
    const bool half = own == BY_ELEM_FLOAT16 || own == BY_ELEM_BFLOAT16;
    struct filling filling = {e, weight, half ? own : BY_ELEM_FLOAT, NULL};
    struct baryon_value *value = by_export_constant(e, name, filling.elem, dims, 2, err);
    if (!value)
        return NULL;
    filling.out = by_export_room(value);
    if (by_par_for(e->pool, weight->rows, ROWS_AT_ONCE, fill_rows, &filling, err))
        return NULL;
    by_tensor_done(e->model, value->initializer);
    return value;
}

struct baryon_value *by_export_vector(struct by_export *e, const struct by_llm_weight *weight,
                                      const char *name, float add, struct baryon_error *err)
{
    const int64_t dims[] = {(int64_t)(weight->rows * weight->columns)};
    struct baryon_value *value = by_export_constant(e, name, BY_ELEM_FLOAT, dims, 1, err);
    if (!value)
        return NULL;
    float *values = (float *)(void *)by_export_room(value);
    if (by_llm_source_rows(&e->opened->source, weight, 0, weight->rows, values, err))
        return NULL;
    for (size_t i = 0; i < (size_t)dims[0]; i++)
        values[i] += add;
    return value;
}

struct baryon_value *by_export_product(struct by_export *e, struct baryon_value *matrix,
                                       const char *name, struct baryon_value *in,
                                       struct baryon_error *err)
{
    char cast[BY_EXPORT_NAME_MAX];
    if (!matrix)
        return NULL;
    snprintf(cast, sizeof cast, "%.200s.float", name);
    if (matrix->initializer->data_type != BY_ELEM_FLOAT) {
        matrix = by_export_unary(e, "Cast", cast, matrix, err);
        if (!matrix || by_node_set_int(matrix->producer, "to", BY_ELEM_FLOAT, err))
            return NULL;
    }
    struct baryon_value *const inputs[] = {in, matrix};
    struct baryon_value *out =
        by_export_node(e, "FusedMatMul", BY_EXPORT_MICROSOFT, name, inputs, 2, err);
    return out && !by_node_set_int(out->producer, "transB", 1, err) ? out : NULL;
}

static struct baryon_value *float_linear(struct by_export *e, const struct by_llm_weight *weight,
                                         const char *name, struct baryon_value *in,
                                         struct baryon_error *err)
{
    char full[BY_EXPORT_NAME_MAX];
    snprintf(full, sizeof full, "%.200s.weight", name);
    e->result->floats++;
    return by_export_product(e, by_export_matrix(e, weight, full, err), name, in, err);
}

struct baryon_value *by_export_linear(struct by_export *e, const struct by_decoder_place *place,
                                      const char *name, struct baryon_value *in,
                                      struct baryon_error *err)
{
    char full[BY_EXPORT_NAME_MAX];
    struct packed packed = {.e = e, .weight = place->weight};
    struct baryon_value *out = NULL;
    if (!in)
        return NULL;
    bool packs = can_pack(&packed);
    if (packs && pack(&packed, err)) {
        unpack(&packed);
        return NULL;
    }
    packs = packs && !packed.outside;
    if (packs)
        out = add_packed(e, &packed, name, in, err);
    unpack(&packed);
    e->result->packed += packs;
    if (!packs)
        out = float_linear(e, place->weight, name, in, err);
    if (!out || !place->bias)
        return out;
    snprintf(full, sizeof full, "%.200s.bias", name);
    struct baryon_value *bias = by_export_vector(e, place->bias, full, 0, err);
    snprintf(full, sizeof full, "%.200s.biased", name);
    return by_export_binary(e, "Add", full, out, bias, err);
}
