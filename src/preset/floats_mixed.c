/*
 * One format of activations, another one of weights; and bf16 of which some layers could be blocks,
 * which is not searched for yet.
 */
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

static const struct by_preset_value bf16_mixed[] = {
    {"activation", "bf16"},
    {"weight", "bf16"},
    {"bias", "float"},
    {"dedicated-dq", "true"},
    {"keep-float-weights", "true"},
    {"operators", "npu"},
    {"hardware", "extended"},
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

const struct by_preset by_preset_bf16_mixed_bfp16 = {
    .name = "BF16_MIXED_BFP16",
    .help = "No samples needed: bf16; the search for bfp16 layers is not implemented yet",
    .pending = "layers of bfp16 are not searched for yet: all are bf16",
    .values = bf16_mixed,
};

const struct by_preset by_preset_bf16_mixed_mxint8 = {
    .name = "BF16_MIXED_MXINT8",
    .help = "No samples needed: bf16; the search for mxint8 layers is not implemented yet",
    .pending = "layers of mxint8 are not searched for yet: all are bf16",
    .values = bf16_mixed,
};
