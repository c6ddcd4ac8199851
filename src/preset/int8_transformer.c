/* Matrix products with constant weights alone; ranges are means over the samples. */
#include "preset/presets.h"

static const struct by_preset_value values[] = {
    {"activation", "uint8"},
    {"weight", "int8"},
    {"operators", "transformer"},
    {"matmul-constant-only", "true"},
    {"moving-average", "true"},
    {"keep-unquantized-chains", "true"},
    {0},
};

const struct by_preset by_preset_int8_transformer = {
    .name = "INT8_TRANSFORMER_DEFAULT",
    .help = "Transformers: matrix products with uint8 activations, int8 weights",
    .values = values,
};
