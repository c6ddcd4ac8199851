/*
 * Micro-exponents: 16 elements share an exponent, and each two of them a bit that takes 1 off.
 * Codes are a sign and 2, 4 or 7 bits.
 */
#include "dtype/family.h"

#define MICRO                                                                                      \
    {                                                                                              \
        .size = 16, .sub = 2, .shifts = 1, .poisons = true, .flushes = true                        \
    }
#define ROW(type, bits_, help_)                                                                    \
    const struct by_dtype by_dtype_##type = {.name = #type,                                        \
                                             .help = help_,                                        \
                                             .bits = bits_,                                        \
                                             .element = {1, bits_ - 2, 1, BY_SPECIAL_NONE},        \
                                             .block = MICRO}

ROW(mx4, 3,
    "16 elements with sign and 2 bits share an exponent, and each 2 of them an exponent bit");
ROW(mx6, 5,
    "16 elements with sign and 4 bits share an exponent, and each 2 of them an exponent bit");
ROW(mx9, 8,
    "16 elements with sign and 7 bits share an exponent, and each 2 of them an exponent bit");
