/* Describes the number formats fp6 (e3m2 and e2m3). */
#include "dtype/family.h"

#include "array/elem.h"

const struct by_dtype by_dtype_fp6_e3m2 = {
    .name = "fp6_e3m2",
    .help = "3 exponent bits, 2 fraction bits, up to 28, no NaN or infinity",
    .bits = 6,
    .elem = BY_ELEM_FLOAT6E3M2,
    .does = &by_family_float,
    .element = {3, 2, 3, BY_SPECIAL_NONE},
};

const struct by_dtype by_dtype_fp6_e2m3 = {
    .name = "fp6_e2m3",
    .help = "2 exponent bits, 3 fraction bits, up to 7.5, no NaN or infinity",
    .bits = 6,
    .elem = BY_ELEM_FLOAT6E2M3,
    .does = &by_family_float,
    .element = {2, 3, 1, BY_SPECIAL_NONE},
};
