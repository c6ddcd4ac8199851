/* Asymmetric uint8 activations and weights. */
#include "preset/presets.h"

static const struct by_preset_value values[] = {
    {"activation", "uint8"},
    {"weight", "uint8"},
    {"weight-symmetric", "false"},
    {"activation-method", "percentile"},
    {"activation-method-auto", "true"},
    {"percentile", "99.999"},
    {"fold-relu", "true"},
    {0},
};

const struct by_preset by_preset_u8u8_aawa = {
    .name = "U8U8_AAWA",
    .help = "Asymmetric uint8 activations and weights, percentile calibration",
    .values = values,
};
