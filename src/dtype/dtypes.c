/* Lists the number formats and looks up what is known of each. */
#include "dtype/family.h"

#include "array/elem.h"

#include <math.h>
#include <string.h>

const struct by_cast by_cast_default = {.scale = 1, .saturate = true};

static const struct by_dtype *const rows[] = {
    &by_dtype_int2,       &by_dtype_uint2,        &by_dtype_int4,         &by_dtype_uint4,
    &by_dtype_int8,       &by_dtype_uint8,        &by_dtype_int16,        &by_dtype_uint16,
    &by_dtype_int32,      &by_dtype_uint32,       &by_dtype_fp16,         &by_dtype_bf16,
    &by_dtype_fp8_e4m3,   &by_dtype_fp8_e5m2,     &by_dtype_fp8_e4m3fnuz, &by_dtype_fp8_e5m2fnuz,
    &by_dtype_fp6_e3m2,   &by_dtype_fp6_e2m3,     &by_dtype_fp4_e2m1,     &by_dtype_e8m0,
    &by_dtype_bfp16,      &by_dtype_bfp16_raised, &by_dtype_mx4,          &by_dtype_mx6,
    &by_dtype_mx9,        &by_dtype_mxint8,       &by_dtype_mxfp8_e5m2,   &by_dtype_mxfp8_e4m3,
    &by_dtype_mxfp6_e3m2, &by_dtype_mxfp6_e2m3,   &by_dtype_mxfp4_e2m1,   &by_dtype_nvfp4,
};

const struct by_dtype *const *by_dtypes(size_t *count)
{
    *count = sizeof rows / sizeof *rows;
    return rows;
}

const struct by_dtype *by_dtype_find(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i]->name, name))
            return rows[i];
    return NULL;
}

double by_dtype_bits(const struct by_dtype *dtype)
{
    const struct by_block_layout *block = &dtype->block;
    double shared = block->size ? 8.0 / (double)block->size : 0;
    if (block->sub)
        shared += (double)block->shifts / (double)block->sub;
    return dtype->bits + shared;
}

double by_dtype_max(const struct by_dtype *dtype)
{
    if (dtype->does == &by_family_int)
        return fmax((double)dtype->high, -(double)dtype->low);
    return by_float_value(&dtype->element, by_float_max_code(&dtype->element));
}

double by_dtype_least(const struct by_dtype *dtype)
{
    if (dtype->does == &by_family_int)
        return 1;
    if (dtype->does == &by_family_e8m0)
        return 0x1p-127;
    return by_float_value(&dtype->element, 1);
}

unsigned by_dtype_opset(const struct by_dtype *dtype)
{
    return dtype->elem ? by_elem_info(dtype->elem)->opset : 0;
}
