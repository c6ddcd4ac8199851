#include "quant/lower_block.h"

#include "quant/rounded.h"

#include <math.h>
#include <string.h>

/* The least exponent of a power of two that a float is. */
#define LEAST (-149)

bool by_lower_is_stored(const struct by_quant_row *row)
{
    return row->role != BY_ROLE_ACTIVATION && !row->keep_float && by_spec_is_block(&row->spec);
}

static int extent_of(const struct by_quant_row *row, struct by_block_extent *extent,
                     struct baryon_error *err)
{
    const struct by_block_cast cast = by_quant_cast(row);
    return by_block_extent(row->spec.format, &cast, extent, err);
}

/* --- Scales --- */

/* ONNX Runtime takes no blocks where the scales of a list would be a single one. */
static bool is_one_block(const struct by_quant_row *row, const struct by_block_extent *extent)
{
    return row->value->initializer->dims.count == 1 && extent->per_line == 1;
}

/* Counted from the end: ONNX Runtime makes MatMulNBits of a product with weights whose blocks lie
 * along axis 0 by that number, and computes it with inputs of 8 bits. */
static int axis_of(const struct by_quant_row *row)
{
    const int rank = (int)row->value->initializer->dims.count;
    return rank < 2 ? -1 : row->block_axis < 0 ? row->block_axis : row->block_axis - rank;
}

struct baryon_value *by_lower_block_scales(struct by_lowering *lowering,
                                           const struct by_quant_row *row, struct baryon_error *err)
{
    const struct by_ints *dims = &row->value->initializer->dims;
    struct by_block_extent extent;
    int64_t sizes[BY_RANK_MAX];
    if (extent_of(row, &extent, err))
        return NULL;
    for (size_t i = 0; i < dims->count; i++)
        sizes[i] = dims->at[i];
    sizes[(int)dims->count + axis_of(row)] = (int64_t)extent.per_line;
    const char *name = by_lower_name(lowering, row->value->name, "scale", 0, err);
    struct baryon_tensor *tensor = name
                                       ? by_tensor_new(lowering->model, name, BY_ELEM_FLOAT, sizes,
                                                       is_one_block(row, &extent) ? 0 : dims->count,
                                                       NULL, extent.blocks * sizeof(float), err)
                                       : NULL;
    return tensor ? by_graph_add_initializer(lowering->graph, tensor, err) : NULL;
}

int by_lower_block_attributes(struct baryon_node *node, const struct by_quant_row *row,
                              struct baryon_error *err)
{
    struct by_block_extent extent;
    if (extent_of(row, &extent, err))
        return -1;
    if (is_one_block(row, &extent))
        return 0;
    return by_node_set_int(node, "axis", axis_of(row), err) ||
                   by_node_set_int(node, "block_size", (int64_t)extent.size, err)
               ? -1
               : 0;
}

/* --- Codes --- */

struct limits {
    double low, high;
};

static struct limits limits_of(const struct by_dtype *stored)
{
    const double most = by_dtype_max(stored);
    return stored->low < stored->high ? (struct limits){(double)stored->low, (double)stored->high}
                                      : (struct limits){-most, most};
}

/* The least power of two by which all of them are within the limits: none has finer levels, so
 * whatever levels the block has, these are among them. */
static int exponent_of(struct limits found, const struct limits *limits)
{
    if (found.low == 0 && found.high == 0)
        return 0;
    int exponent = ilogb(fmax(-found.low, found.high)) - ilogb(-limits->low);
    exponent = exponent < LEAST ? LEAST : exponent;
    while (ldexp(found.high, -exponent) > limits->high || ldexp(found.low, -exponent) < limits->low)
        exponent++;
    return exponent;
}

/* One block of every line that begins in the same row; values become multiples of its scale. */
struct blocks {
    float *values;
    size_t rows, inner;
};

static void scale_block(const struct blocks *blocks, size_t column, const struct limits *limits,
                        float *scale)
{
    struct limits found = {0, 0};
    float *values = blocks->values + column;
    for (size_t i = 0; i < blocks->rows; i++) {
        const double value = (double)values[i * blocks->inner];
        found.low = value < found.low ? value : found.low;
        found.high = value > found.high ? value : found.high;
    }
    const int exponent = exponent_of(found, limits);
    const double factor = ldexp(1, -exponent);
    for (size_t i = 0; i < blocks->rows; i++)
        values[i * blocks->inner] = (float)((double)values[i * blocks->inner] * factor);
    *scale = ldexpf(1, exponent);
}

static void scale_all(float *values, const struct by_block_extent *extent,
                      const struct limits *limits, float *scales)
{
    for (size_t line = 0; line < extent->outer; line++)
        for (size_t block = 0; block < extent->per_line; block++) {
            const size_t begin = block * extent->size, left = extent->length - begin;
            const struct blocks blocks = {values + (line * extent->length + begin) * extent->inner,
                                          left < extent->size ? left : extent->size, extent->inner};
            for (size_t column = 0; column < extent->inner; column++)
                scale_block(&blocks, column, limits, scales++);
        }
}

static bool are_finite(const float *values, size_t count)
{
    unsigned outside = 0;
    for (size_t i = 0; i < count; i++)
        outside |= isfinite(values[i]) ? 0 : 1;
    return !outside;
}

/* What is decoded has to be what was encoded. */
static int encode(const struct by_dtype *stored, float *values, size_t count, struct by_pool *pool,
                  void *codes, struct baryon_error *err)
{
    float *back = by_alloc(count, sizeof *back, err);
    int failed = !back;
    if (!failed)
        failed = by_dtype_encode(stored, values, count, &by_cast_default, pool, codes, err) ||
                 by_dtype_decode(stored, codes, count, &by_cast_default, pool, back, err);
    for (size_t i = 0; !failed && i < count; i++)
        if (back[i] != values[i])
            failed =
                by_fail(err, BARYON_ERR_INTERNAL, "element %zu has no code in %s", i, stored->name);
    by_free(back);
    return failed ? -1 : 0;
}

static int fill(const struct by_quant_row *row, const struct by_block_extent *extent, float *values,
                struct by_pool *pool, uint8_t *codes, float *scales, struct baryon_error *err)
{
    const struct by_dtype *stored = by_spec_block_codes(row->spec.format);
    const struct limits limits = limits_of(stored);
    if (!are_finite(values, extent->values)) {
        by_fail(err, BARYON_ERR_UNSUPPORTED, "%s leaves infinities of its largest values",
                row->spec.format->name);
        return by_err_hint(err, "--keep-float-weights leaves it to the model's nodes");
    }
    void *wide = by_alloc(extent->values, by_dtype_code_bytes(stored), err);
    if (!wide)
        return -1;
    scale_all(values, extent, &limits, scales);
    const int failed = encode(stored, values, extent->values, pool, wide, err);
    if (!failed)
        by_dtype_pack(stored, wide, extent->values, codes);
    by_free(wide);
    return failed;
}

int by_lower_block_fill(const struct by_quant_row *row, const float *values, struct by_pool *pool,
                        uint8_t *codes, float *scales, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const struct by_block_cast cast = by_quant_cast(row);
    struct by_block_extent extent;
    if (extent_of(row, &extent, err))
        return -1;
    float *rounded = by_alloc(extent.values, sizeof *rounded, err);
    const int failed = !rounded ||
                       by_block_round(row->spec.format, values, &cast, pool, rounded, err) ||
                       fill(row, &extent, rounded, pool, codes, scales, err);
    by_free(rounded);
    return failed ? by_err_in(err, "tensor %s", by_quote(quoted, row->value->name)) : 0;
}
