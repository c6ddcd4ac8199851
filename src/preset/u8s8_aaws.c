/* Asymmetric uint8 activations, symmetric int8 weights. */
#include "preset/presets.h"

static const struct by_preset_value values[] = {
    {"activation", "uint8"},
    {"weight", "int8"},
    {"activation-method", "percentile"},
    {"activation-method-auto", "true"},
    {"percentile", "99.999"},
    {"fold-relu", "true"},
    {0},
};

const struct by_preset by_preset_u8s8_aaws = {
    .name = "U8S8_AAWS",
    .help = "CPUs: uint8 activations, int8 weights, percentile calibration",
    .values = values,
};
