/* Matrix products with constant weights alone; ranges of least error. */
#include "preset/presets.h"

static const struct by_preset_value values[] = {
    {"activation", "uint8"},
    {"weight", "int8"},
    {"operators", "transformer"},
    {"matmul-constant-only", "true"},
    {"activation-method", "minmse"},
    {"keep-unquantized-chains", "true"},
    {0},
};

static const struct by_preset_value compat[] = {
    {"activation-method", "minmax"},
    {"moving-average", "true"},
    {0},
};

const struct by_preset by_preset_int8_transformer = {
    .name = "INT8_TRANSFORMER_DEFAULT",
    .help = "Transformers: matrix products with uint8 activations, int8 weights",
    .values = values,
    .compat = compat,
};
