/* Blocks of 128 weights, 4 bits, symmetric. */
#include "preset/presets.h"

static const struct by_preset_value values[] = {
    {"approach", "nbits"},         {"nbits", "4"},
    {"nbits-group", "128"},        {"nbits-symmetric", "true"},
    {"nbits-accuracy-level", "1"}, {0},
};

const struct by_preset by_preset_matmul_nbits = {
    .name = "MATMUL_NBITS",
    .help = "No samples needed: weights of MatMul in 4-bit blocks",
    .values = values,
};
