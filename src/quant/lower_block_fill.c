/* Codes and scales of constants in blocks: those of the format, as the types say it that they are
 * stored in. */
#include "quant/lower_block.h"

#include "dtype/block_plain.h"
#include "dtype/family.h"
#include "quant/rounded.h"

#include <math.h>
#include <string.h>

#define BIAS        127
#define ALL_CODES   256
#define LEAST_E8M0  (-127)
#define LEAST_FLOAT (-149)

/* What a constant becomes, and what is needed on the way. */
struct filling {
    const struct by_quant_row *row;
    struct by_block_cast cast;
    struct by_block_extent extent;
    const struct by_dtype *format, *stored;
    struct by_pool *pool;
    float *rounded;        /* what is left of the values */
    uint8_t *own, *shared; /* the format's codes and what its blocks share */
    void *codes;           /* those that are stored, one in an element */
    int16_t *exponents;    /* of scales */
    int unit;              /* exponent of the value that the stored code of 1 has in the format */
    int least;             /* exponent of a scale */
};

static const struct by_dtype *type_of(int64_t elem)
{
    size_t count;
    const struct by_dtype *const *rows = by_dtypes(&count);
    for (size_t i = 0; i < count; i++)
        if (rows[i]->elem == elem && rows[i]->does)
            return rows[i];
    return NULL;
}

static bool is_integer(const struct by_dtype *stored)
{
    return stored->low < stored->high;
}

static int open_filling(struct filling *filling, const struct by_quant_row *row, bool powers,
                        struct by_pool *pool, struct baryon_error *err)
{
    const struct by_dtype *format = row->spec.format, *stored = type_of(row->spec.elem);
    *filling = (struct filling){.row = row,
                                .cast = by_quant_cast(row),
                                .format = format,
                                .stored = stored,
                                .pool = pool,
                                .least = powers ? LEAST_E8M0 : LEAST_FLOAT};
    if (is_integer(stored)) /* levels of the sub-blocks with the smallest step */
        filling->unit = -format->element.mantissa - (format->block.sub ? 1 : 0);
    if (by_block_extent(format, &filling->cast, &filling->extent, err))
        return -1;
    const struct by_block_extent *extent = &filling->extent;
    filling->rounded = by_alloc(extent->values, sizeof(float), err);
    filling->own = by_alloc(extent->values, 1, err);
    filling->shared = by_alloc(extent->scale_bytes, 1, err);
    filling->codes = by_alloc(extent->values, by_dtype_code_bytes(stored), err);
    filling->exponents = by_alloc(extent->blocks, sizeof(int16_t), err);
    return filling->rounded && filling->own && filling->shared && filling->codes &&
                   filling->exponents
               ? 0
               : -1;
}

static void close_filling(struct filling *filling)
{
    by_free(filling->rounded);
    by_free(filling->own);
    by_free(filling->shared);
    by_free(filling->codes);
    by_free(filling->exponents);
}

/* --- The format's codes --- */

static bool are_finite(const float *values, size_t count)
{
    unsigned outside = 0;
    for (size_t i = 0; i < count; i++)
        outside |= isfinite(values[i]) ? 0 : 1;
    return !outside;
}

/* Whether its block has the least exponent there is in memory: see store_small(). */
static bool is_small(const struct filling *filling, size_t element)
{
    const struct by_block_extent *e = &filling->extent;
    const size_t row = element / e->inner, line = row / e->length;
    const size_t block = line * e->per_line + row % e->length / e->size;
    return !filling->shared[(block * e->inner + element % e->inner) * e->block_bytes];
}

/* What is read back has to be what was rounded. */
static int read_back(const struct filling *filling, struct baryon_error *err)
{
    const size_t count = filling->extent.values;
    float *back = by_alloc(count, sizeof *back, err);
    int failed = !back || by_block_decode(filling->format, filling->own, filling->shared,
                                          &filling->cast, filling->pool, back, err);
    for (size_t i = 0; !failed && i < count; i++)
        if (back[i] != filling->rounded[i] && !is_small(filling, i))
            failed = by_fail(err, BARYON_ERR_INTERNAL, "element %zu has no code in %s", i,
                             filling->format->name);
    by_free(back);
    return failed ? -1 : 0;
}

static int encode_blocks(struct filling *filling, const float *values, struct baryon_error *err)
{
    if (by_block_round(filling->format, values, &filling->cast, filling->pool, filling->rounded,
                       err) ||
        by_block_encode(filling->format, values, &filling->cast, filling->pool, filling->own,
                        filling->shared, err))
        return -1;
    if (are_finite(filling->rounded, filling->extent.values))
        return read_back(filling, err);
    by_fail(err, BARYON_ERR_UNSUPPORTED, "%s turns its largest values into infinities",
            filling->format->name);
    return by_err_hint(err,
                       "--keep-float-weights keeps float weights and quantizes them in the model");
}

/* --- As the stored type says it --- */

/* Stored codes by the shift of a sub-block and the format's code. */
struct table {
    uint16_t at[2][ALL_CODES];
};

/* None where the values are no levels of the stored type. */
static int store_values(const struct by_dtype *stored, const float *values, size_t count,
                        void *codes, float *back, struct baryon_error *err)
{
    if (by_dtype_encode(stored, values, count, &by_cast_default, NULL, codes, err) ||
        by_dtype_decode(stored, codes, count, &by_cast_default, NULL, back, err))
        return -1;
    for (size_t i = 0; i < count; i++)
        if (back[i] != values[i])
            return by_fail(err, BARYON_ERR_INTERNAL, "%g has no code in %s", (double)values[i],
                           stored->name);
    return 0;
}

/* Values of all codes of the format, in units. */
static void all_values(const struct filling *filling, int shift, float values[ALL_CODES])
{
    const struct by_dtype *format = filling->format;
    const struct by_block_cast cast = {.ties = BY_TIES_EVEN};
    const struct by_block_place place = {.count = 1, .stride = 1, .size = 1};
    const uint8_t scale[2] = {(uint8_t)(BIAS - filling->unit), (uint8_t)shift};
    const unsigned codes = 1u << format->bits;
    for (unsigned i = 0; i < ALL_CODES; i++) {
        const uint8_t code = (uint8_t)(i < codes ? i : 0);
        by_block_plain_decode(format, &cast, &place, &code, scale, &values[i]);
        if (!isfinite(values[i])) /* of fp8, and never in a block */
            values[i] = 0;
    }
}

static int fill_table(const struct filling *filling, struct table *table, struct baryon_error *err)
{
    const struct by_dtype *stored = filling->stored;
    float values[ALL_CODES], back[ALL_CODES];
    uint32_t codes[ALL_CODES];
    for (int shift = 0; shift < (filling->format->block.sub ? 2 : 1); shift++) {
        all_values(filling, shift, values);
        if (store_values(stored, values, ALL_CODES, codes, back, err))
            return -1;
        for (unsigned i = 0; i < ALL_CODES; i++)
            table->at[shift][i] = (uint16_t)by_code_get(codes, i, by_dtype_code_bytes(stored));
    }
    return 0;
}

static void put_codes(const struct filling *filling, const uint16_t *table, size_t at, size_t count)
{
    const uint8_t *own = filling->own + at;
    uint8_t *narrow = (uint8_t *)filling->codes + at;
    uint16_t *wide = (uint16_t *)filling->codes + at;
    if (by_dtype_code_bytes(filling->stored) == 1)
        for (size_t i = 0; i < count; i++)
            narrow[i] = (uint8_t)table[own[i]];
    else
        for (size_t i = 0; i < count; i++)
            wide[i] = table[own[i]];
}

/* Row by row of the axis, each element by the shift of its sub-block. */
static void put_shifted(const struct filling *filling, const struct table *table)
{
    const struct by_block_extent *e = &filling->extent;
    const size_t sub = filling->format->block.sub;
    for (size_t row = 0; row < e->outer * e->length; row++) {
        const size_t along = row % e->length, bit = along % e->size / sub;
        const size_t first = (row / e->length * e->per_line + along / e->size) * e->inner;
        for (size_t i = 0; i < e->inner; i++) {
            const uint8_t *shared = filling->shared + (first + i) * e->block_bytes;
            const int shift = shared[1 + bit / 8] >> bit % 8 & 1;
            put_codes(filling, table->at[shift], row * e->inner + i, 1);
        }
    }
}

static int store_codes(struct filling *filling, struct baryon_error *err)
{
    struct table table;
    if (fill_table(filling, &table, err))
        return -1;
    if (filling->format->block.sub)
        put_shifted(filling, &table);
    else
        put_codes(filling, table.at[0], 0, filling->extent.values);
    for (size_t i = 0; i < filling->extent.blocks; i++)
        filling->exponents[i] =
            (int16_t)(filling->shared[i * filling->extent.block_bytes] - BIAS + filling->unit);
    return 0;
}

/* --- Blocks whose exponent is the least that the format has in memory: zeros, or too small --- */

struct limits {
    double low, high;
};

static struct limits limits_of(const struct by_dtype *stored)
{
    const double most = by_dtype_max(stored);
    return is_integer(stored) ? (struct limits){(double)stored->low, (double)stored->high}
                              : (struct limits){-most, most};
}

/* The least power of two by which all of them are within the limits: none has finer levels, so
 * whatever levels the block has, these are among them. */
static int exponent_of(struct limits found, struct limits limits, int least)
{
    if (found.low == 0 && found.high == 0)
        return 0;
    int exponent = ilogb(fmax(-found.low, found.high)) - ilogb(-limits.low);
    exponent = exponent < least ? least : exponent;
    while (ldexp(found.high, -exponent) > limits.high || ldexp(found.low, -exponent) < limits.low)
        exponent++;
    return exponent;
}

/* A block: `count` elements from `at` on, `stride` apart. */
struct block {
    size_t at, count, stride;
};

static int scale_block(const struct filling *filling, const struct block *block, float *values)
{
    struct limits found = {0, 0};
    for (size_t i = 0; i < block->count; i++) {
        const double value = (double)filling->rounded[block->at + i * block->stride];
        found.low = value < found.low ? value : found.low;
        found.high = value > found.high ? value : found.high;
    }
    const int exponent = exponent_of(found, limits_of(filling->stored), filling->least);
    const double factor = ldexp(1, -exponent);
    for (size_t i = 0; i < block->count; i++)
        values[i] = (float)((double)filling->rounded[block->at + i * block->stride] * factor);
    return exponent;
}

static int too_small(const struct filling *filling, struct baryon_error *err)
{
    by_fail(err, BARYON_ERR_UNSUPPORTED,
            "a block of %s is too small for a scale of float8e8m0, which is at least 2^-127",
            filling->format->name);
    return by_err_hint(err, "--block-form runtime stores float32 scales");
}

static int store_small(struct filling *filling, size_t index, const struct block *block,
                       float *values, uint16_t *codes, struct baryon_error *err)
{
    const size_t bytes = by_dtype_code_bytes(filling->stored);
    float *back = values + filling->extent.size;
    filling->exponents[index] = (int16_t)scale_block(filling, block, values);
    if (store_values(filling->stored, values, block->count, codes, back, err))
        return filling->least == LEAST_E8M0 ? too_small(filling, err) : -1;
    for (size_t i = 0; i < block->count; i++)
        by_code_put(filling->codes, block->at + i * block->stride, bytes,
                    by_code_get(codes, i, bytes));
    return 0;
}

static int store_all_small(struct filling *filling, struct baryon_error *err)
{
    const struct by_block_extent *e = &filling->extent;
    float *values = by_alloc(2 * e->size, sizeof *values, err);
    uint16_t *codes = by_alloc(e->size, sizeof *codes, err);
    int failed = !values || !codes;
    for (size_t i = 0; !failed && i < e->blocks; i++) {
        if (filling->shared[i * e->block_bytes])
            continue;
        const size_t line = i / e->inner, begin = line % e->per_line * e->size;
        const size_t left = e->length - begin;
        const struct block block = {(line / e->per_line * e->length + begin) * e->inner +
                                        i % e->inner,
                                    left < e->size ? left : e->size, e->inner};
        failed = store_small(filling, i, &block, values, codes, err);
    }
    by_free(values);
    by_free(codes);
    return failed ? -1 : 0;
}

/* --- Scales --- */

static int put_scales(const struct filling *filling, const struct baryon_tensor *tensor,
                      struct baryon_error *err)
{
    uint8_t *bytes = (uint8_t *)(uintptr_t)tensor->raw_data.data;
    for (size_t i = 0; i < filling->extent.blocks; i++) {
        const int exponent = filling->exponents[i];
        const float scale = ldexpf(1, exponent);
        if (exponent < filling->least)
            return too_small(filling, err);
        if (tensor->data_type == BY_ELEM_FLOAT)
            memcpy(bytes + i * sizeof scale, &scale, sizeof scale);
        else
            bytes[i] = (uint8_t)(exponent + BIAS);
    }
    return 0;
}

/* --- All of it --- */

int by_lower_block_fill(const struct by_quant_row *row, const float *values, struct by_pool *pool,
                        uint8_t *codes, const struct baryon_tensor *scales,
                        struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    struct filling filling;
    const bool powers = scales->data_type == BY_ELEM_FLOAT8E8M0;
    const int failed = open_filling(&filling, row, powers, pool, err) ||
                       encode_blocks(&filling, values, err) || store_codes(&filling, err) ||
                       store_all_small(&filling, err) || put_scales(&filling, scales, err);
    if (!failed)
        by_dtype_pack(filling.stored, filling.codes, filling.extent.values, codes);
    close_filling(&filling);
    return failed ? by_err_in(err, "tensor %s", by_quote(quoted, row->value->name)) : 0;
}
