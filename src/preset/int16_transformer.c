/* Matrix products with constant weights alone. */
#include "preset/presets.h"

static const struct by_preset_value values[] = {
    {"activation", "uint16"},
    {"weight", "int16"},
    {"operators", "transformer"},
    {"matmul-constant-only", "true"},
    {"domain", "microsoft"},
    {"hardware", "extended"},
    {"moving-average", "true"},
    {"keep-unquantized-chains", "true"},
    {"adjust-weight-for-bias", "true"}, /* products of fine scales are too small for biases */
    {0},
};

static const struct by_preset_value compat[] = {
    {"adjust-weight-for-bias", "false"},
    {0},
};

const struct by_preset by_preset_int16_transformer = {
    .name = "INT16_TRANSFORMER_DEFAULT",
    .help = "Transformers: matrix products with uint16 activations, int16 weights",
    .values = values,
    .compat = compat,
};
