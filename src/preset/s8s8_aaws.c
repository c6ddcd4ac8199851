/* Asymmetric int8 activations, symmetric int8 weights. */
#include "preset/presets.h"

static const struct by_preset_value values[] = {
    {"activation", "int8"},
    {"weight", "int8"},
    {"activation-method", "percentile"},
    {"activation-method-auto", "true"},
    {"percentile", "99.9999"},
    {"fold-relu", "true"},
    {0},
};

const struct by_preset by_preset_s8s8_aaws = {
    .name = "S8S8_AAWS",
    .help = "Asymmetric int8 activations, int8 weights, percentile calibration",
    .values = values,
};
