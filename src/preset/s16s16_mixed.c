/* All of 16 bits, and of 8 bits the layers that held-out samples allow. */
#include "preset/presets.h"

static const struct by_preset_value values[] = {
    {"activation", "int16"},
    {"weight", "int16"},
    {"activation-method", "percentile"},
    {"percentile", "99.9999"},
    {"bias", "as-weight"},
    {"operators", "npu"},
    {"domain", "microsoft"},
    {"hardware", "extended"},
    {"mixed", "int8"},
    {0},
};

/* The peer's threshold of 0 lets all layers have 8 bits. */
static const struct by_preset_value compat[] = {{"mixed-goal", "0"}, {0}};

const struct by_preset by_preset_s16s16_mixed = {
    .name = "S16S16_MIXED_S8S8",
    .help = "int16 activations and weights, int8 in layers where held-out samples keep 30 dB",
    .values = values,
    .compat = compat,
};
