/*
 * Microscaling formats of OCP: 32 elements share a power of two, in memory an E8M0; those of mxint8
 * are in two's complement, with 6 bits after the point.
 */
#include "dtype/family.h"

#define ROW(type, bits_, top_, help_, ...)                                                         \
    const struct by_dtype by_dtype_##type = {                                                      \
        .name = #type,                                                                             \
        .help = help_,                                                                             \
        .bits = bits_,                                                                             \
        .element = {__VA_ARGS__},                                                                  \
        .block = {.size = 32, .top = top_, .zero = BY_ZERO_LOSES},                                 \
    }

ROW(mxfp8_e5m2, 8, 15, "32 elements of fp8_e5m2 share a power-of-two scale", 5, 2, 15,
    BY_SPECIAL_IEEE);
ROW(mxfp8_e4m3, 8, 8, "32 elements of fp8_e4m3 share a power-of-two scale", 4, 3, 7,
    BY_SPECIAL_NAN);
ROW(mxfp6_e3m2, 6, 4, "32 elements of fp6_e3m2 share a power-of-two scale", 3, 2, 3,
    BY_SPECIAL_NONE);
ROW(mxfp6_e2m3, 6, 2, "32 elements of fp6_e2m3 share a power-of-two scale", 2, 3, 1,
    BY_SPECIAL_NONE);
ROW(mxfp4_e2m1, 4, 2, "32 elements of fp4_e2m1 share a power-of-two scale", 2, 1, 1,
    BY_SPECIAL_NONE);

const struct by_dtype by_dtype_mxint8 = {
    .name = "mxint8",
    .help = "32 elements from -2 to 127/64 share a power-of-two scale",
    .bits = 8,
    .element = {1, 6, 1, BY_SPECIAL_NONE},
    .block = {.size = 32, .twos = true, .zero = BY_ZERO_BY_SCALE},
};
