/* Describes the number format fp4 (e2m1). */
#include "dtype/family.h"

#include "array/elem.h"

const struct by_dtype by_dtype_fp4_e2m1 = {
    .name = "fp4_e2m1",
    .help = "0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives",
    .bits = 4,
    .elem = BY_ELEM_FLOAT4E2M1,
    .does = &by_family_float,
    .element = {2, 1, 1, BY_SPECIAL_NONE},
};
