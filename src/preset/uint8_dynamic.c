/*
 * Weights of uint8, activations by what each run shows. BatchNormalization is not folded: with one
 * scale for a whole weight its factors would drive channels apart, and nothing brings them
 * together.
 */
#include "preset/presets.h"

static const struct by_preset_value values[] = {
    {"approach", "dynamic"},
    {"weight", "uint8"},
    {"weight-symmetric", "false"},
    {"pass", "-fold-batch-norm"},
    {0},
};

const struct by_preset by_preset_uint8_dynamic = {
    .name = "UINT8_DYNAMIC_QUANT",
    .help = "No samples needed: dynamic quantization of activations, uint8 weights",
    .values = values,
};
