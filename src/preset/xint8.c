/* Symmetric int8 with power-of-two scales everywhere; biases have scales of their own. */
#include "preset/presets.h"

static const struct by_preset_value values[] = {
    {"activation", "int8"},
    {"activation-symmetric", "true"},
    {"activation-scale", "pow2"},
    {"activation-method", "minmse-pow2"},
    {"weight", "int8"},
    {"weight-symmetric", "true"},
    {"weight-scale", "pow2"},
    {"weight-method", "minmse-pow2"},
    {"bias", "as-weight"},
    {"operators", "npu"},
    {"hardware", "xint8"},
    {"simulate-dpu", "true"},
    {0},
};

static const struct by_preset_value compat[] = {
    {"activation", "uint8"},
    {0},
};

const struct by_preset by_preset_xint8 = {
    .name = "XINT8",
    .help = "Ryzen AI NPUs: int8 with power-of-two scales",
    .values = values,
    .compat = compat,
};
