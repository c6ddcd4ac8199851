/* All of 16 bits; which layers could have 8 is not searched for yet. */
#include "preset/presets.h"

static const struct by_preset_value values[] = {
    {"activation", "int16"},   {"weight", "int16"},      {"activation-method", "percentile"},
    {"percentile", "99.9999"}, {"bias", "as-weight"},    {"operators", "npu"},
    {"domain", "microsoft"},   {"hardware", "extended"}, {0},
};

const struct by_preset by_preset_s16s16_mixed = {
    .name = "S16S16_MIXED_S8S8",
    .help = "int16 activations and weights; the search for 8-bit layers is not implemented yet",
    .pending = "layers of int8 are not searched for yet: all are int16",
    .values = values,
};
