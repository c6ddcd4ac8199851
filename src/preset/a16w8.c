/* Symmetric int16 activations, int8 weights, float scales. */
#include "preset/presets.h"

static const struct by_preset_value values[] = {
    {"activation", "int16"},       {"activation-symmetric", "true"}, {"weight", "int8"},
    {"operators", "npu"},          {"domain", "microsoft"},          {"hardware", "extended"},
    {"align-elementwise", "true"}, {"refine", "AlignConcat"},        {0},
};

const struct by_preset by_preset_a16w8 = {
    .name = "A16W8",
    .help = "Ryzen AI NPUs: int16 activations, int8 weights, float scales",
    .values = values,
};
