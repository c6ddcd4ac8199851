/* Describes the number format bf16. */
#include "dtype/family.h"

#include "array/elem.h"

const struct by_dtype by_dtype_bf16 = {
    .name = "bf16",
    .help = "the upper half of float32: 8 exponent bits, 7 fraction bits",
    .bits = 16,
    .elem = BY_ELEM_BFLOAT16,
    .does = &by_family_float,
    .element = {8, 7, 127, BY_SPECIAL_IEEE},
};
