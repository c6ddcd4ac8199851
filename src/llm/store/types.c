/* The table of types of stored tensors. */
#include "llm/store/types.h"

#include <string.h>

#define NONE (-1)

/* Plain types are in the order in which the safetensors library sorts the tensors of a file. */
static const struct by_stored_type types[] = {
    {"U64", BY_ELEM_UINT64, 1, 8, NONE, true},
    {"I64", BY_ELEM_INT64, 1, 8, 27, true},
    {"F64", BY_ELEM_DOUBLE, 1, 8, 28, true},
    {"C64", BY_ELEM_COMPLEX64, 1, 8, NONE, true},
    {"F32", BY_ELEM_FLOAT, 1, 4, 0, true},
    {"U32", BY_ELEM_UINT32, 1, 4, NONE, true},
    {"I32", BY_ELEM_INT32, 1, 4, 26, true},
    {"BF16", BY_ELEM_BFLOAT16, 1, 2, 30, true},
    {"F16", BY_ELEM_FLOAT16, 1, 2, 1, true},
    {"U16", BY_ELEM_UINT16, 1, 2, NONE, true},
    {"I16", BY_ELEM_INT16, 1, 2, 25, true},
    {"F8_E5M2FNUZ", BY_ELEM_FLOAT8E5M2FNUZ, 1, 1, NONE, true},
    {"F8_E4M3FNUZ", BY_ELEM_FLOAT8E4M3FNUZ, 1, 1, NONE, true},
    {"F8_E8M0", BY_ELEM_FLOAT8E8M0, 1, 1, NONE, true},
    {"F8_E4M3", BY_ELEM_FLOAT8E4M3FN, 1, 1, NONE, true},
    {"F8_E5M2", BY_ELEM_FLOAT8E5M2, 1, 1, NONE, true},
    {"I8", BY_ELEM_INT8, 1, 1, 24, true},
    {"U8", BY_ELEM_UINT8, 1, 1, NONE, true},
    {"F6_E3M2", BY_ELEM_FLOAT6E3M2, 4, 3, NONE, true},
    {"F6_E2M3", BY_ELEM_FLOAT6E2M3, 4, 3, NONE, true},
    {"F4", BY_ELEM_FLOAT4E2M1, 2, 1, NONE, true},
    {"BOOL", BY_ELEM_BOOL, 1, 1, NONE, true},
    {"Q4_0", BY_ELEM_UNDEFINED, 32, 18, 2, false},
    {"Q4_1", BY_ELEM_UNDEFINED, 32, 20, 3, false},
    {"Q5_0", BY_ELEM_UNDEFINED, 32, 22, 6, false},
    {"Q5_1", BY_ELEM_UNDEFINED, 32, 24, 7, false},
    {"Q8_0", BY_ELEM_UNDEFINED, 32, 34, 8, false},
    {"Q8_1", BY_ELEM_UNDEFINED, 32, 36, 9, false},
    {"Q2_K", BY_ELEM_UNDEFINED, 256, 84, 10, false},
    {"Q3_K", BY_ELEM_UNDEFINED, 256, 110, 11, false},
    {"Q4_K", BY_ELEM_UNDEFINED, 256, 144, 12, false},
    {"Q5_K", BY_ELEM_UNDEFINED, 256, 176, 13, false},
    {"Q6_K", BY_ELEM_UNDEFINED, 256, 210, 14, false},
    {"Q8_K", BY_ELEM_UNDEFINED, 256, 292, 15, false},
    {"IQ2_XXS", BY_ELEM_UNDEFINED, 256, 66, 16, false},
    {"IQ2_XS", BY_ELEM_UNDEFINED, 256, 74, 17, false},
    {"IQ3_XXS", BY_ELEM_UNDEFINED, 256, 98, 18, false},
    {"IQ1_S", BY_ELEM_UNDEFINED, 256, 50, 19, false},
    {"IQ4_NL", BY_ELEM_UNDEFINED, 32, 18, 20, false},
    {"IQ3_S", BY_ELEM_UNDEFINED, 256, 110, 21, false},
    {"IQ2_S", BY_ELEM_UNDEFINED, 256, 82, 22, false},
    {"IQ4_XS", BY_ELEM_UNDEFINED, 256, 136, 23, false},
    {"IQ1_M", BY_ELEM_UNDEFINED, 256, 56, 29, false},
    {"TQ1_0", BY_ELEM_UNDEFINED, 256, 54, 34, false},
    {"TQ2_0", BY_ELEM_UNDEFINED, 256, 66, 35, false},
    {"MXFP4", BY_ELEM_UNDEFINED, 32, 17, 39, false},
    {"NVFP4", BY_ELEM_UNDEFINED, 64, 36, 40, false},
};

#define TYPE_COUNT (sizeof types / sizeof *types)

const struct by_stored_type *by_stored_type_at(size_t index)
{
    return index < TYPE_COUNT ? &types[index] : NULL;
}

const struct by_stored_type *by_stored_type_by_name(const char *name)
{
    for (size_t i = 0; i < TYPE_COUNT; i++)
        if (!strcmp(types[i].name, name))
            return &types[i];
    return NULL;
}

const struct by_stored_type *by_stored_type_by_ggml(uint32_t number)
{
    for (size_t i = 0; i < TYPE_COUNT; i++)
        if (types[i].ggml != NONE && (uint32_t)types[i].ggml == number)
            return &types[i];
    return NULL;
}

const struct by_stored_type *by_stored_type_by_elem(enum by_elem elem)
{
    for (size_t i = 0; i < TYPE_COUNT && elem != BY_ELEM_UNDEFINED; i++)
        if (types[i].elem == elem)
            return &types[i];
    return NULL;
}

double by_stored_bits(const struct by_stored_type *type)
{
    return 8.0 * type->bytes / type->block;
}

bool by_stored_bytes(const struct by_stored_type *type, uint64_t elements, uint64_t *bytes)
{
    return elements % type->block == 0 &&
           !__builtin_mul_overflow(elements / type->block, (uint64_t)type->bytes, bytes);
}
