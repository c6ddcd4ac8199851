/* Encodes and decodes rows of GGUF blocks, with the checks that all types share. */
#include "llm/ggml/codec.h"

#include <math.h>
#include <string.h>

static int check_width(const struct by_ggml_type *type, size_t width, struct baryon_error *err)
{
    if (width % type->block == 0)
        return 0;
    return by_fail(err, BARYON_ERR_USAGE, "%zu elements of type %s, which has blocks of %u", width,
                   type->name, type->block);
}

int by_ggml_decode(const struct by_ggml_type *type, const void *in, size_t count, float *out,
                   struct baryon_error *err)
{
    if (!type->decode)
        return by_fail(err, BARYON_ERR_UNSUPPORTED, "type %s cannot be decoded", type->name);
    if (check_width(type, count, err))
        return -1;
    type->decode(in, count, out);
    return 0;
}

static bool half_is_finite(const uint8_t *at)
{
    return (at[1] & 0x7c) != 0x7c;
}

int by_ggml_check_scales(const struct by_ggml_type *type, const void *blocks, size_t count,
                         struct baryon_error *err)
{
    const uint8_t *block = blocks;
    for (size_t i = 0; i < count / type->block; i++, block += type->bytes)
        for (uint32_t k = 0; k < type->halves; k++)
            if (!half_is_finite(block + type->halves_at + k * 2))
                return by_fail(err, BARYON_ERR_INPUT,
                               "block %zu: a scale of type %s is not a finite float16", i,
                               type->name);
    return 0;
}

/* A run of values at once: an exponent of all ones is not finite. */
#define RUN 32

typedef int32_t four_bits __attribute__((vector_size(16)));

static bool run_is_finite(const float *values)
{
    four_bits odd = {0}, bits;
    for (size_t i = 0; i < RUN; i += 4) {
        memcpy(&bits, values + i, sizeof bits);
        odd |= (bits & 0x7f800000) == 0x7f800000;
    }
    return !(odd[0] | odd[1] | odd[2] | odd[3]);
}

static bool all_finite(const float *values, size_t count)
{
    size_t i = 0;
    for (; i + RUN <= count; i += RUN)
        if (!run_is_finite(values + i))
            return false;
    for (; i < count; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

static int check_finite(const char *what, const float *values, size_t count,
                        struct baryon_error *err)
{
    if (all_finite(values, count))
        return 0;
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return by_fail(err, BARYON_ERR_INPUT, "%s %zu is %s, which a block cannot hold", what,
                           i, isnan(values[i]) ? "NaN" : "infinite");
    return 0;
}

static int check_importance(const float *importance, size_t width, struct baryon_error *err)
{
    if (check_finite("importance of column", importance, width, err))
        return -1;
    for (size_t i = 0; i < width; i++)
        if (importance[i] < 0)
            return by_fail(err, BARYON_ERR_INPUT, "importance of column %zu is %g, not 0 or more",
                           i, (double)importance[i]);
    return 0;
}

static int encode_row(const struct by_ggml_type *type, const float *row, size_t width,
                      const float *importance, uint8_t *out, struct baryon_error *err)
{
    if (type->block > 1 && check_finite("column", row, width, err))
        return -1;
    type->encode(row, width, importance, out);
    return by_ggml_check_scales(type, out, width, err);
}

int by_ggml_encode(const struct by_ggml_type *type, const float *in, size_t rows, size_t width,
                   const float *importance, void *out, struct baryon_error *err)
{
    const size_t bytes = width / type->block * type->bytes;
    if (!type->encode)
        return by_fail(err, BARYON_ERR_UNSUPPORTED, "type %s is only read, not written",
                       type->name);
    if (check_width(type, width, err) || (importance && check_importance(importance, width, err)))
        return -1;
    for (size_t i = 0; i < rows; i++)
        if (encode_row(type, in + i * width, width, importance, (uint8_t *)out + i * bytes, err))
            return by_err_in(err, "row %zu", i);
    return 0;
}
