/* Matrix products with constant weights alone; ranges of least error. */
#include "preset/presets.h"

static const struct by_preset_value values[] = {
    {"activation", "uint8"},
    {"weight", "int8"},
    {"operators", "transformer"},
    {"matmul-constant-only", "true"},
    {"weight-granularity", "channel"}, /* as fast on processors, and 1 dB to 20 dB better */
    {"activation-method", "minmse"},
    {"activation-method-auto", "true"},
    {"keep-unquantized-chains", "true"},
    {0},
};

static const struct by_preset_value compat[] = {
    {"weight-granularity", "tensor"},
    {"activation-method", "minmax"},
    {"moving-average", "true"},
    {0},
};

const struct by_preset by_preset_int8_transformer = {
    .name = "INT8_TRANSFORMER_DEFAULT",
    .help = "Transformers: matrix products with uint8 activations, int8 weights per channel",
    .values = values,
    .compat = compat,
};
