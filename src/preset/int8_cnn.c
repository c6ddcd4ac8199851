/* Asymmetric uint8 activations, symmetric int8 weights, ranges of least error. */
#include "preset/presets.h"

static const struct by_preset_value values[] = {
    {"activation", "uint8"},
    {"weight", "int8"},
    {"activation-method", "minmse"},
    {"fold-relu", "true"},
    {0},
};

static const struct by_preset_value compat[] = {
    {"activation-method", "minmax"},
    {0},
};

const struct by_preset by_preset_int8_cnn = {
    .name = "INT8_CNN_DEFAULT",
    .help = "Convolutional networks: uint8 activations, int8 weights",
    .values = values,
    .compat = compat,
};
