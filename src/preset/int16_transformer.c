/* Matrix products with constant weights alone; ranges of least error. */
#include "preset/presets.h"

static const struct by_preset_value values[] = {
    {"activation", "uint16"},
    {"weight", "int16"},
    {"operators", "transformer"},
    {"matmul-constant-only", "true"},
    {"domain", "microsoft"},
    {"hardware", "extended"},
    {"activation-method", "minmse"}, /* a moving average cuts more than fine scales gain */
    {"keep-unquantized-chains", "true"},
    {0},
};

static const struct by_preset_value compat[] = {
    {"activation-method", "minmax"},
    {"moving-average", "true"},
    {0},
};

const struct by_preset by_preset_int16_transformer = {
    .name = "INT16_TRANSFORMER_DEFAULT",
    .help = "Transformers: matrix products with uint16 activations, int16 weights",
    .values = values,
    .compat = compat,
};
