/*
 * One format of activations, another one of weights; and bf16, of which the layers that held-out
 * samples allow are blocks.
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

#define BF16_MIXED(name, blocks)                                                                   \
    static const struct by_preset_value name[] = {                                                 \
        {"activation", "bf16"},                                                                    \
        {"weight", "bf16"},                                                                        \
        {"bias", "float"},                                                                         \
        {"dedicated-dq", "true"},                                                                  \
        {"keep-float-weights", "true"},                                                            \
        {"operators", "npu"},                                                                      \
        {"hardware", "extended"},                                                                  \
        {"keep-unquantized-chains", "true"},                                                       \
        {"mixed", blocks},                                                                         \
        {0},                                                                                       \
    }

BF16_MIXED(bf16_mixed_bfp16, "bfp16");
BF16_MIXED(bf16_mixed_mxint8, "mxint8");

/* The peer's threshold of 0 lets all layers have blocks. */
static const struct by_preset_value all_blocks[] = {{"mixed-goal", "0"}, {0}};

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
    .help = "bf16, and bfp16 in layers where held-out samples keep 30 dB",
    .values = bf16_mixed_bfp16,
    .compat = all_blocks,
};

const struct by_preset by_preset_bf16_mixed_mxint8 = {
    .name = "BF16_MIXED_MXINT8",
    .help = "bf16, and mxint8 in layers where held-out samples keep 30 dB",
    .values = bf16_mixed_mxint8,
    .compat = all_blocks,
};
