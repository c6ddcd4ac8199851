/* The table of types of stored tensors. */
#include "llm/store/types.h"

#include "llm/ggml/types.h"

#include <pthread.h>
#include <string.h>

#define NONE (-1)

/* Plain types are in the order in which the safetensors library sorts the tensors of a file. */
static const struct by_stored_type plain_types[] = {
    {"U64", BY_ELEM_UINT64, 1, 8, NONE, true},
    {"I64", BY_ELEM_INT64, 1, 8, BY_GGML_I64, true},
    {"F64", BY_ELEM_DOUBLE, 1, 8, BY_GGML_F64, true},
    {"C64", BY_ELEM_COMPLEX64, 1, 8, NONE, true},
    {"F32", BY_ELEM_FLOAT, 1, 4, BY_GGML_F32, true},
    {"U32", BY_ELEM_UINT32, 1, 4, NONE, true},
    {"I32", BY_ELEM_INT32, 1, 4, BY_GGML_I32, true},
    {"BF16", BY_ELEM_BFLOAT16, 1, 2, BY_GGML_BF16, true},
    {"F16", BY_ELEM_FLOAT16, 1, 2, BY_GGML_F16, true},
    {"U16", BY_ELEM_UINT16, 1, 2, NONE, true},
    {"I16", BY_ELEM_INT16, 1, 2, BY_GGML_I16, true},
    {"F8_E5M2FNUZ", BY_ELEM_FLOAT8E5M2FNUZ, 1, 1, NONE, true},
    {"F8_E4M3FNUZ", BY_ELEM_FLOAT8E4M3FNUZ, 1, 1, NONE, true},
    {"F8_E8M0", BY_ELEM_FLOAT8E8M0, 1, 1, NONE, true},
    {"F8_E4M3", BY_ELEM_FLOAT8E4M3FN, 1, 1, NONE, true},
    {"F8_E5M2", BY_ELEM_FLOAT8E5M2, 1, 1, NONE, true},
    {"I8", BY_ELEM_INT8, 1, 1, BY_GGML_I8, true},
    {"U8", BY_ELEM_UINT8, 1, 1, NONE, true},
    {"F6_E3M2", BY_ELEM_FLOAT6E3M2, 4, 3, NONE, true},
    {"F6_E2M3", BY_ELEM_FLOAT6E2M3, 4, 3, NONE, true},
    {"F4", BY_ELEM_FLOAT4E2M1, 2, 1, NONE, true},
    {"BOOL", BY_ELEM_BOOL, 1, 1, NONE, true},
};

#define PLAIN_COUNT (sizeof plain_types / sizeof *plain_types)
#define BLOCKS_MAX  64
#define NAME_ROOM   16

/* Types of GGUF files that have no other row, made from the table of llm/ggml once. */
static struct by_stored_type block_types[BLOCKS_MAX];
static char block_names[BLOCKS_MAX][NAME_ROOM];
static size_t block_count;
static pthread_once_t blocks_made = PTHREAD_ONCE_INIT;

static const struct by_stored_type *plain_by_ggml(uint32_t number)
{
    for (size_t i = 0; i < PLAIN_COUNT; i++)
        if (plain_types[i].ggml != NONE && (uint32_t)plain_types[i].ggml == number)
            return &plain_types[i];
    return NULL;
}

static void make_blocks(void)
{
    const struct by_ggml_type *type;
    for (size_t i = 0; (type = by_ggml_type_at(i)) && block_count < BLOCKS_MAX; i++) {
        if (plain_by_ggml(type->number))
            continue;
        char *name = block_names[block_count];
        for (size_t k = 0; type->name[k] && k + 1 < NAME_ROOM; k++)
            name[k] =
                (char)(type->name[k] >= 'a' && type->name[k] <= 'z' ? type->name[k] - ('a' - 'A')
                                                                    : type->name[k]);
        block_types[block_count++] = (struct by_stored_type){
            name, BY_ELEM_UNDEFINED, type->block, type->bytes, (int)type->number, false};
    }
}

const struct by_stored_type *by_stored_type_at(size_t index)
{
    pthread_once(&blocks_made, make_blocks);
    if (index < PLAIN_COUNT)
        return &plain_types[index];
    return index - PLAIN_COUNT < block_count ? &block_types[index - PLAIN_COUNT] : NULL;
}

const struct by_stored_type *by_stored_type_by_name(const char *name)
{
    const struct by_stored_type *type;
    for (size_t i = 0; (type = by_stored_type_at(i)); i++)
        if (!strcmp(type->name, name))
            return type;
    return NULL;
}

const struct by_stored_type *by_stored_type_by_ggml(uint32_t number)
{
    const struct by_stored_type *type;
    for (size_t i = 0; (type = by_stored_type_at(i)); i++)
        if (type->ggml != NONE && (uint32_t)type->ggml == number)
            return type;
    return NULL;
}

const struct by_stored_type *by_stored_type_by_elem(enum by_elem elem)
{
    for (size_t i = 0; i < PLAIN_COUNT; i++)
        if (plain_types[i].elem == elem)
            return &plain_types[i];
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
