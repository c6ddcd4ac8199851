/* Symmetric int16 activations and int8 weights. */
#include "preset/presets.h"

static const struct by_preset_value values[] = {
    {"activation", "int16"},
    {"activation-symmetric", "true"},
    {"weight", "int8"},
    {"activation-method", "percentile"},
    {"percentile", "99.999"},
    {"operators", "npu"},
    {"domain", "microsoft"},
    {"hardware", "extended"},
    {0},
};

const struct by_preset by_preset_s16s8_asws = {
    .name = "S16S8_ASWS",
    .help = "Symmetric int16 activations, int8 weights, percentile calibration",
    .values = values,
};
