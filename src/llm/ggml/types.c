/* The table of GGUF tensor types. */
#include "llm/ggml/types.h"

#include "llm/ggml/block.h"

#include <strings.h>

/* Sizes alone; sizes, float16 scales and where they are, and functions to read, or to read and
 * write. */
#define SIZES(type, text, elements, size)                                                          \
    .number = BY_GGML_##type, .name = text, .block = elements, .bytes = size
#define READ(type, text, elements, size, scales, at, function)                                     \
    SIZES(type, text, elements, size), .halves = scales, .halves_at = at,                          \
                                       .decode = by_decode_##function
#define BOTH(type, text, elements, size, scales, at, function)                                     \
    READ(type, text, elements, size, scales, at, function), .encode = by_encode_##function

static const struct by_ggml_type types[] = {
    {BOTH(F32, "f32", 1, 4, 0, 0, f32)},
    {BOTH(F16, "f16", 1, 2, 0, 0, f16)},
    {BOTH(Q4_0, "q4_0", 32, 18, 1, 0, q4_0)},
    {BOTH(Q4_1, "q4_1", 32, 20, 2, 0, q4_1)},
    {BOTH(Q5_0, "q5_0", 32, 22, 1, 0, q5_0)},
    {BOTH(Q5_1, "q5_1", 32, 24, 2, 0, q5_1)},
    {BOTH(Q8_0, "q8_0", 32, 34, 1, 0, q8_0)},
    {SIZES(Q8_1, "q8_1", 32, 36)},
    {BOTH(Q2_K, "q2_K", 256, 84, 2, 80, q2_k)},
    {BOTH(Q3_K, "q3_K", 256, 110, 1, 108, q3_k)},
    {BOTH(Q4_K, "q4_K", 256, 144, 2, 0, q4_k)},
    {BOTH(Q5_K, "q5_K", 256, 176, 2, 0, q5_k)},
    {BOTH(Q6_K, "q6_K", 256, 210, 1, 208, q6_k)},
    {READ(Q8_K, "q8_K", 256, 292, 0, 0, q8_k)},
    {SIZES(IQ2_XXS, "iq2_xxs", 256, 66)},
    {SIZES(IQ2_XS, "iq2_xs", 256, 74)},
    {BOTH(IQ3_XXS, "iq3_xxs", 256, 98, 1, 0, iq3_xxs)},
    {SIZES(IQ1_S, "iq1_s", 256, 50)},
    {BOTH(IQ4_NL, "iq4_nl", 32, 18, 1, 0, iq4_nl)},
    {BOTH(IQ3_S, "iq3_s", 256, 110, 1, 0, iq3_s)},
    {SIZES(IQ2_S, "iq2_s", 256, 82)},
    {BOTH(IQ4_XS, "iq4_xs", 256, 136, 1, 0, iq4_xs)},
    {READ(I8, "i8", 1, 1, 0, 0, i8)},
    {READ(I16, "i16", 1, 2, 0, 0, i16)},
    {READ(I32, "i32", 1, 4, 0, 0, i32)},
    {READ(I64, "i64", 1, 8, 0, 0, i64)},
    {BOTH(F64, "f64", 1, 8, 0, 0, f64)},
    {SIZES(IQ1_M, "iq1_m", 256, 56)},
    {BOTH(BF16, "bf16", 1, 2, 0, 0, bf16)},
    {READ(TQ1_0, "tq1_0", 256, 54, 1, 52, tq1_0)},
    {READ(TQ2_0, "tq2_0", 256, 66, 1, 64, tq2_0)},
    {BOTH(MXFP4, "mxfp4", 32, 17, 0, 0, mxfp4)},
    {BOTH(NVFP4, "nvfp4", 64, 36, 0, 0, nvfp4)},
    {READ(Q1_0, "q1_0", 128, 18, 1, 0, q1_0)},
    {READ(Q2_0, "q2_0", 64, 18, 1, 0, q2_0)},
};

#define COUNT (sizeof types / sizeof *types)

const struct by_ggml_type *by_ggml_type(uint32_t number)
{
    for (size_t i = 0; i < COUNT; i++)
        if (types[i].number == number)
            return &types[i];
    return NULL;
}

const struct by_ggml_type *by_ggml_type_named(const char *name)
{
    for (size_t i = 0; i < COUNT; i++)
        if (!strcasecmp(types[i].name, name))
            return &types[i];
    return NULL;
}

const struct by_ggml_type *by_ggml_type_at(size_t index)
{
    return index < COUNT ? &types[index] : NULL;
}

double by_ggml_bits_per_weight(const struct by_ggml_type *type)
{
    return 8.0 * type->bytes / type->block;
}

int by_ggml_bytes(const struct by_ggml_type *type, uint64_t count, size_t *bytes,
                  struct baryon_error *err)
{
    if (count % type->block)
        return by_fail(err, BARYON_ERR_INPUT,
                       "%llu elements of type %s, which are not whole blocks of %u",
                       (unsigned long long)count, type->name, type->block);
    if (__builtin_mul_overflow(count / type->block, (uint64_t)type->bytes, bytes))
        return by_fail(err, BARYON_ERR_UNSUPPORTED,
                       "%llu elements of type %s do not fit into memory", (unsigned long long)count,
                       type->name);
    return 0;
}
