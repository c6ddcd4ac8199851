/* 16 elements share a scale in E4M3: what makes the greatest magnitude the greatest element, 6. */
#include "dtype/family.h"

const struct by_dtype by_dtype_nvfp4 = {
    .name = "nvfp4",
    .help = "a scale in fp8_e4m3 for 16 elements of fp4_e2m1, and one for the tensor",
    .bits = 4,
    .element = {2, 1, 1, BY_SPECIAL_NONE},
    .block = {.size = 16, .scaled = true},
};
