/*
 * Block floating point: elements share the exponent of the greatest and are whole multiples of one
 * step. Codes of bfp16 are a sign and 7 bits, those of bfp16_raised in two's complement.
 */
#include "dtype/family.h"

const struct by_dtype by_dtype_bfp16 = {
    .name = "bfp16",
    .help = "8 elements with sign and 7 bits share an exponent",
    .bits = 8,
    .element = {1, 6, 1, BY_SPECIAL_NONE},
    .block = {.size = 8, .zero = BY_ZERO_BY_STEP},
};

const struct by_dtype by_dtype_bfp16_raised = {
    .name = "bfp16_raised",
    .help = "bfp16 with an exponent raised by one if rounding overflows, as in compilers of NPUs",
    .bits = 8,
    .element = {1, 6, 1, BY_SPECIAL_NONE},
    .block = {.size = 8, .twos = true, .raises = true, .zero = BY_ZERO_BY_STEP},
};
