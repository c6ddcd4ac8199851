/* 16 elements share a scale in E4M3: what makes the greatest magnitude the greatest element, 6. */
#include "dtype/family.h"

const struct by_dtype by_dtype_nvfp4 = {
    .name = "nvfp4",
    .help = "16 elements of fp4_e2m1 share a scale of fp8_e4m3; the tensor has another scale",
    .bits = 4,
    .element = {2, 1, 1, BY_SPECIAL_NONE},
    .block = {.size = 16, .scaled = true},
};
