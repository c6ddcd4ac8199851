/*
 * Floats of 16 bits by Quark's operators. Nothing has a range that samples could tell; weights that
 * become fp16 are equalized all the same, since the smallest would lose bits.
 */
#include "preset/presets.h"

static const struct by_preset_value fp16[] = {
    {"activation", "fp16"},
    {"weight", "fp16"},
    {"keep-float-weights", "true"},
    {"operators", "npu"},
    {"hardware", "extended"},
    {"cle", "exact"},
    {0},
};

static const struct by_preset_value bf16[] = {
    {"activation", "bf16"},
    {"weight", "bf16"},
    {"keep-float-weights", "true"},
    {"operators", "npu"},
    {"hardware", "extended"},
    {"all-op-types", "true"},
    {0},
};

const struct by_preset by_preset_fp16 = {
    .name = "FP16",
    .help = "No samples needed: fp16, with values clipped to its range",
    .values = fp16,
};

const struct by_preset by_preset_bf16 = {
    .name = "BF16",
    .help = "No samples needed: bf16 for every operator, as NPUs compute float models",
    .values = bf16,
};
