/* Asymmetric uint16 activations, symmetric int16 weights, whole ranges. */
#include "preset/presets.h"

static const struct by_preset_value values[] = {
    {"activation", "uint16"}, {"weight", "int16"},      {"operators", "npu"},
    {"domain", "microsoft"},  {"hardware", "extended"}, {0},
};

const struct by_preset by_preset_int16_cnn = {
    .name = "INT16_CNN_DEFAULT",
    .help = "Convolutional networks: uint16 activations, int16 weights",
    .values = values,
};
