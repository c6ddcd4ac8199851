/* Symmetric int8 with float scales; ranges of least error, where Quark takes whole ones. */
#include "preset/presets.h"

static const struct by_preset_value values[] = {
    {"activation", "int8"},
    {"activation-symmetric", "true"},
    {"weight", "int8"},
    {"operators", "npu"},
    {"domain", "microsoft"},
    {"hardware", "extended"},
    {"refine", "AlignConcat"},
    {"activation-method", "minmse"},
    {"wide-auto", "true"},
    {"activation-method-auto", "true"},
    {0},
};

static const struct by_preset_value compat[] = {
    {"activation-method", "minmax"},
    {"wide-auto", "false"},
    {"activation-method-auto", "false"},
    {0},
};

const struct by_preset by_preset_a8w8 = {
    .name = "A8W8",
    .help = "Ryzen AI NPUs: int8 with float scales",
    .values = values,
    .compat = compat,
};
