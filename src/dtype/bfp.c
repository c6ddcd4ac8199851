/*
 * Block floating point: elements share the exponent of the greatest and are whole multiples of one
 * step. Codes of bfp16 are a sign and 7 bits, those of bfp16_raised in two's complement.
 */
#include "dtype/family.h"

const struct by_dtype by_dtype_bfp16 = {
    .name = "bfp16",
    .help = "an exponent for 8 elements of a sign and 7 bits",
    .bits = 8,
    .element = {1, 6, 1, BY_SPECIAL_NONE},
    .block = {.size = 8, .zero = BY_ZERO_BY_STEP},
};

const struct by_dtype by_dtype_bfp16_raised = {
    .name = "bfp16_raised",
    .help = "bfp16 whose exponent is one more where rounding needs it, as NPU compilers have it",
    .bits = 8,
    .element = {1, 6, 1, BY_SPECIAL_NONE},
    .block = {.size = 8, .twos = true, .raises = true, .zero = BY_ZERO_BY_STEP},
};
