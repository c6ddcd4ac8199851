/* Quark's extended form takes no list of transformers: it quantizes what NPUs have. */
#include "preset/presets.h"

static const struct by_preset_value values[] = {
    {"activation", "uint16"},
    {"weight", "int16"},
    {"operators", "npu"},
    {"domain", "microsoft"},
    {"hardware", "extended"},
    {"moving-average", "true"},
    {"keep-unquantized-chains", "true"},
    {0},
};

const struct by_preset by_preset_int16_transformer = {
    .name = "INT16_TRANSFORMER_DEFAULT",
    .help = "Transformers: uint16 activations, int16 weights",
    .values = values,
};
