/*
 * Element types: what the table says of each, and conversion of raw bytes to numbers.
 */
#ifndef BY_ELEM_H
#define BY_ELEM_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* TensorProto.DataType; the numbers are the format's. */
enum by_elem {
    BY_ELEM_UNDEFINED = 0,
    BY_ELEM_FLOAT = 1,
    BY_ELEM_UINT8 = 2,
    BY_ELEM_INT8 = 3,
    BY_ELEM_UINT16 = 4,
    BY_ELEM_INT16 = 5,
    BY_ELEM_INT32 = 6,
    BY_ELEM_INT64 = 7,
    BY_ELEM_STRING = 8,
    BY_ELEM_BOOL = 9,
    BY_ELEM_FLOAT16 = 10,
    BY_ELEM_DOUBLE = 11,
    BY_ELEM_UINT32 = 12,
    BY_ELEM_UINT64 = 13,
    BY_ELEM_COMPLEX64 = 14,
    BY_ELEM_COMPLEX128 = 15,
    BY_ELEM_BFLOAT16 = 16,
    BY_ELEM_FLOAT8E4M3FN = 17,
    BY_ELEM_FLOAT8E4M3FNUZ = 18,
    BY_ELEM_FLOAT8E5M2 = 19,
    BY_ELEM_FLOAT8E5M2FNUZ = 20,
    BY_ELEM_UINT4 = 21,
    BY_ELEM_INT4 = 22,
    BY_ELEM_FLOAT4E2M1 = 23,
    BY_ELEM_FLOAT8E8M0 = 24,
    BY_ELEM_UINT2 = 25,
    BY_ELEM_INT2 = 26,
    BY_ELEM_FLOAT6E2M3 = 27,
    BY_ELEM_FLOAT6E3M2 = 28,
    BY_ELEM_COUNT = 29,
};

/* Which typed field of TensorProto carries a type when raw_data does not. */
enum by_typed_field {
    BY_TYPED_NONE,
    BY_TYPED_FLOAT,
    BY_TYPED_INT32,
    BY_TYPED_INT64,
    BY_TYPED_DOUBLE,
    BY_TYPED_UINT64,
    BY_TYPED_STRING,
};

enum by_elem_class { BY_CLASS_NONE, BY_CLASS_FLOAT, BY_CLASS_INT, BY_CLASS_OTHER };

struct by_elem_info {
    const char *name;   /* "float32", "int4": what people write */
    const char *onnx;   /* "FLOAT", "INT4" */
    const char *numpy;  /* "<f4", NULL when .npy has no such type */
    unsigned bits;      /* an element, packed; 0: string */
    unsigned per_int32; /* elements in one int32_data entry, 1 but for packed types */
    enum by_elem_class class;
    enum by_typed_field typed;
    unsigned ir_version; /* first IR version that has it */
    unsigned opset;      /* first opset whose operators take it */
};

/* NULL for an unknown number. */
const struct by_elem_info *by_elem_info(int64_t elem);
/* "float32"; "undefined" for 0, "unknown" for numbers without a row. */
const char *by_elem_name(int64_t elem);
/* Of any width; false for unknown numbers. */
bool by_elem_is_floats(int64_t elem);
/* True for integers that can be below 0. */
bool by_elem_is_signed(int64_t elem);
/* Number for a name ("float32", "FLOAT", "float", "fp32"), -1 when unknown. */
int by_elem_by_name(const char *name);

/* Bytes of count elements, packed types rounded up to whole bytes. */
int by_elem_bytes(int64_t elem, size_t count, size_t *bytes, struct baryon_error *err);

/*
 * Elements [first, first + count) of raw little-endian bytes as float, double or
 * int64, from any numeric type (bool counts as 0 and 1). Small floats mean what their
 * format says: E8M0 is a power of two, FN types have no infinity. Floats are not
 * converted to integers.
 */
int by_elem_to_floats(int64_t elem, const uint8_t *bytes, size_t first, size_t count, float *out,
                      struct baryon_error *err);
/* False: there is a NaN or an infinity. */
bool by_floats_are_finite(const float *values, size_t count);
int by_elem_to_doubles(int64_t elem, const uint8_t *bytes, size_t first, size_t count, double *out,
                       struct baryon_error *err);
int by_elem_to_ints(int64_t elem, const uint8_t *bytes, size_t first, size_t count, int64_t *out,
                    struct baryon_error *err);

#endif
