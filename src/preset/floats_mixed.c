/* One format of activations, another one of weights. */
#include "preset/presets.h"

static const struct by_preset_value bf16_bfp16[] = {
    {"activation", "bf16"},
    {"weight", "bfp16"},
    {"operators", "npu"},
    {"hardware", "extended"},
    {"keep-unquantized-chains", "true"},
    {0},
};

static const struct by_preset_value bf16_mxint8[] = {
    {"activation", "bf16"},
    {"weight", "mxint8"},
    {"operators", "npu"},
    {"hardware", "extended"},
    {"keep-unquantized-chains", "true"},
    {0},
};

static const struct by_preset_value mx9_int8[] = {
    {"activation", "mx9"},
    {"weight", "int8"},
    {"operators", "npu"},
    {"hardware", "extended"},
    {"domain", "microsoft"},
    {"keep-unquantized-chains", "true"},
    {0},
};

const struct by_preset by_preset_bf16_bfp16 = {
    .name = "BF16_BFP16",
    .help = "No samples needed: bf16 activations, bfp16 weights",
    .values = bf16_bfp16,
};

const struct by_preset by_preset_bf16_mxint8 = {
    .name = "BF16_MXINT8",
    .help = "No samples needed: bf16 activations, mxint8 weights",
    .values = bf16_mxint8,
};

const struct by_preset by_preset_mx9_int8 = {
    .name = "MX9_INT8",
    .help = "No samples needed: mx9 activations, int8 weights",
    .values = mx9_int8,
};
