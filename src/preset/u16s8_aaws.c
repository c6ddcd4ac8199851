/* Asymmetric uint16 activations, symmetric int8 weights. */
#include "preset/presets.h"

static const struct by_preset_value values[] = {
    {"activation", "uint16"},
    {"weight", "int8"},
    {"activation-method", "percentile"},
    {"percentile", "99.999"},
    {"operators", "npu"},
    {"domain", "microsoft"},
    {"hardware", "extended"},
    {0},
};

const struct by_preset by_preset_u16s8_aaws = {
    .name = "U16S8_AAWS",
    .help = "Asymmetric uint16 activations, int8 weights, percentile calibration",
    .values = values,
};
