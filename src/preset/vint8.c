/*
 * As Vitis AI asks for it: like XINT8 with pairs everywhere, one for each reader. Quark makes
 * Relu of a Clip once ranges are known; before that it would let through what a HardSwish
 * multiplies with itself, so Clip stays.
 */
#include "preset/presets.h"

static const struct by_preset_value values[] = {
    {"activation", "int8"},
    {"activation-symmetric", "true"},
    {"activation-scale", "pow2"},
    {"activation-method", "minmse-pow2"},
    {"weight", "int8"},
    {"weight-symmetric", "true"},
    {"weight-scale", "pow2"},
    {"weight-method", "minmse-pow2"},
    {"bias", "as-weight"},
    {"operators", "npu"},
    {"hardware", "xint8"},
    {"simulate-dpu", "true"},
    {"fuse-relu", "false"},
    {"fuse-clip", "false"},
    {"fuse-leaky-relu", "false"},
    {"fuse-prelu", "false"},
    {"dedicated-pairs", "true"},
    {"all-op-types", "true"},
    {"pass", "batch-norm-to-conv,split-to-slice,-split-large-pool,-"
             "reduce-mean-to-global-average-pool,-sigmoid-to-hard-sigmoid"},
    {0},
};

static const struct by_preset_value compat[] = {
    {"cle", "off"},
    {"keep-unquantized-chains", "true"},
    {0},
};

const struct by_preset by_preset_vint8 = {
    .name = "VINT8",
    .help =
        "Vitis AI compiler: XINT8 with every operator quantized and a Q/DQ pair for each consumer",
    .random = true,
    .values = values,
    .compat = compat,
};
