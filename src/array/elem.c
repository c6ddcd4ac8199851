/* Element types: the table, names, sizes. */
#include "array/array.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define ROW(elem, name_, numpy_, bits_, class_, typed_, ir_, opset_)                               \
    [BY_ELEM_##elem] = {.name = name_,                                                             \
                        .onnx = #elem,                                                             \
                        .numpy = numpy_,                                                           \
                        .bits = bits_,                                                             \
                        .per_int32 = bits_ == 4   ? 2                                              \
                                     : bits_ == 2 ? 4                                              \
                                                  : 1,                                             \
                        .class = BY_CLASS_##class_,                                                \
                        .typed = BY_TYPED_##typed_,                                                \
                        .ir_version = ir_,                                                         \
                        .opset = opset_}

static const struct by_elem_info table[BY_ELEM_COUNT] = {
    ROW(FLOAT, "float32", "<f4", 32, FLOAT, FLOAT, 3, 1),
    ROW(UINT8, "uint8", "|u1", 8, INT, INT32, 3, 1),
    ROW(INT8, "int8", "|i1", 8, INT, INT32, 3, 1),
    ROW(UINT16, "uint16", "<u2", 16, INT, INT32, 3, 1),
    ROW(INT16, "int16", "<i2", 16, INT, INT32, 3, 1),
    ROW(INT32, "int32", "<i4", 32, INT, INT32, 3, 1),
    ROW(INT64, "int64", "<i8", 64, INT, INT64, 3, 1),
    ROW(STRING, "string", NULL, 0, OTHER, STRING, 3, 1),
    ROW(BOOL, "bool", "|b1", 8, OTHER, INT32, 3, 1),
    ROW(FLOAT16, "float16", "<f2", 16, FLOAT, INT32, 3, 1),
    ROW(DOUBLE, "float64", "<f8", 64, FLOAT, DOUBLE, 3, 1),
    ROW(UINT32, "uint32", "<u4", 32, INT, UINT64, 3, 1),
    ROW(UINT64, "uint64", "<u8", 64, INT, UINT64, 3, 1),
    ROW(COMPLEX64, "complex64", "<c8", 64, OTHER, FLOAT, 3, 1),
    ROW(COMPLEX128, "complex128", "<c16", 128, OTHER, DOUBLE, 3, 1),
    ROW(BFLOAT16, "bfloat16", NULL, 16, FLOAT, INT32, 4, 13),
    ROW(FLOAT8E4M3FN, "float8e4m3fn", NULL, 8, FLOAT, INT32, 9, 19),
    ROW(FLOAT8E4M3FNUZ, "float8e4m3fnuz", NULL, 8, FLOAT, INT32, 9, 19),
    ROW(FLOAT8E5M2, "float8e5m2", NULL, 8, FLOAT, INT32, 9, 19),
    ROW(FLOAT8E5M2FNUZ, "float8e5m2fnuz", NULL, 8, FLOAT, INT32, 9, 19),
    ROW(UINT4, "uint4", NULL, 4, INT, INT32, 10, 21),
    ROW(INT4, "int4", NULL, 4, INT, INT32, 10, 21),
    ROW(FLOAT4E2M1, "float4e2m1", NULL, 4, FLOAT, INT32, 11, 23),
    ROW(FLOAT8E8M0, "float8e8m0", NULL, 8, FLOAT, INT32, 12, 24),
    ROW(UINT2, "uint2", NULL, 2, INT, INT32, 13, 25),
    ROW(INT2, "int2", NULL, 2, INT, INT32, 13, 25),
    ROW(FLOAT6E2M3, "float6e2m3", NULL, 6, FLOAT, INT32, 14, 28),
    ROW(FLOAT6E3M2, "float6e3m2", NULL, 6, FLOAT, INT32, 14, 28),
};

const struct by_elem_info *by_elem_info(int64_t elem)
{
    return elem > 0 && elem < BY_ELEM_COUNT ? &table[elem] : NULL;
}

const char *by_elem_name(int64_t elem)
{
    const struct by_elem_info *info = by_elem_info(elem);
    return info ? info->name : elem == BY_ELEM_UNDEFINED ? "undefined" : "unknown";
}

int by_elem_by_name(const char *name)
{
    static const struct {
        const char *alias;
        int elem;
    } aliases[] = {
        {"float", BY_ELEM_FLOAT},  {"fp32", BY_ELEM_FLOAT},    {"half", BY_ELEM_FLOAT16},
        {"fp16", BY_ELEM_FLOAT16}, {"bf16", BY_ELEM_BFLOAT16}, {"double", BY_ELEM_DOUBLE},
        {"fp64", BY_ELEM_DOUBLE},
    };
    for (int elem = 1; elem < BY_ELEM_COUNT; elem++)
        if (strcasecmp(table[elem].name, name) == 0 || strcasecmp(table[elem].onnx, name) == 0)
            return elem;
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (strcasecmp(aliases[i].alias, name) == 0)
            return aliases[i].elem;
    return -1;
}

int by_dims_count(const int64_t *dims, size_t rank, size_t *count, struct baryon_error *err)
{
    if (rank > BY_RANK_MAX)
        return by_fail(err, BARYON_ERR_INPUT, "%zu dimensions, must be at most %d", rank,
                       BY_RANK_MAX);
    uint64_t product = 1;
    bool empty = false;
    for (size_t i = 0; i < rank; i++) {
        if (dims[i] < 0)
            return by_fail(err, BARYON_ERR_INPUT, "dimension %zu is %lld, must be 0 or more", i,
                           (long long)dims[i]);
        empty |= dims[i] == 0;
    }
    for (size_t i = 0; i < rank && !empty; i++)
        if (__builtin_mul_overflow(product, (uint64_t)dims[i], &product) ||
            product > BY_ELEMENTS_MAX)
            return by_fail(err, BARYON_ERR_INPUT,
                           "dimensions with a product over 2^48 elements, the limit");
    *count = empty ? 0 : (size_t)product;
    return 0;
}

int by_elem_bytes(int64_t elem, size_t count, size_t *bytes, struct baryon_error *err)
{
    const struct by_elem_info *info = by_elem_info(elem);
    if (!info)
        return by_fail(err, BARYON_ERR_UNSUPPORTED, "element type %lld, must be 1 to %d",
                       (long long)elem, BY_ELEM_COUNT - 1);
    if (!info->bits)
        return by_fail(err, BARYON_ERR_UNSUPPORTED, "strings have no fixed size");
    size_t bits;
    if (by_mul_overflow(count, info->bits, &bits) || bits > SIZE_MAX - 7)
        return by_fail(err, BARYON_ERR_INPUT, "%zu elements of %s overflow", count, info->name);
    *bytes = (bits + 7) / 8;
    return 0;
}
