/* Describes the number format fp16. */
#include "dtype/family.h"

#include "array/elem.h"

const struct by_dtype by_dtype_fp16 = {
    .name = "fp16",
    .help = "half precision: 5 exponent bits, 10 fraction bits, up to 65504",
    .bits = 16,
    .elem = BY_ELEM_FLOAT16,
    .does = &by_family_float,
    .element = {5, 10, 15, BY_SPECIAL_IEEE},
};
