/* Ryzen AI with the Vitis AI execution provider: A8W8, A16W8, BFP16 and BF16. */
#include "search/ladders.h"

static const struct by_preset_value xint8[] = {{"preset", "XINT8"}, {0}};
static const struct by_preset_value a8w8[] = {{"preset", "A8W8"}, {0}};
static const struct by_preset_value channels[] = {
    {"preset", "A8W8"}, {"weight-granularity", "channel"}, {0}};
static const struct by_preset_value solved[] = {
    {"preset", "A8W8_ADAROUND"}, {"weight-granularity", "channel"}, {0}};
static const struct by_preset_value a16w8[] = {
    {"preset", "A16W8"}, {"weight-granularity", "channel"}, {0}};
static const struct by_preset_value bfp16[] = {{"preset", "BFP16"}, {0}};
static const struct by_preset_value bf16[] = {{"preset", "BF16"}, {0}};

static const struct by_rung rungs[] = {
    {"XINT8", "int8 with power-of-two scales; equalization and biases as samples choose",
     BY_RUNG_FIRST, 1, xint8, NULL, NULL},
    {"A8W8", "int8 with float scales; some activations in int16, as samples choose", BY_RUNG_FIRST,
     1, a8w8, NULL, NULL},
    {"A8W8, per channel", "a scale for each output channel of weights", BY_RUNG_FIRST, 1, channels,
     NULL, NULL},
    {"A8W8, per channel, solved", "weights rounded by reconstruction", BY_RUNG_SOLVED, 1, solved,
     NULL, NULL},
    {"A16W8, per channel", "all activations in int16", BY_RUNG_WIDE, 2, a16w8, NULL, NULL},
    {"BFP16", "blocks of 8 values with a shared exponent", BY_RUNG_WIDE, 2, bfp16, NULL, NULL},
    {"BF16", "bfloat16 for every operator", BY_RUNG_WIDE, 4, bf16, NULL, NULL},
};

static const struct by_alternative alternatives[] = {
    {.name = "int16 activation", .kind = BY_DECIDE_TENSOR, .activation = "int16"},
    {.name = "BFP16 layer", .kind = BY_DECIDE_LAYER, .activation = "bfp16", .weight = "bfp16"},
    {.name = "BF16 layer", .kind = BY_DECIDE_LAYER, .activation = "bf16", .weight = "bf16"},
    {.name = "float layer", .kind = BY_DECIDE_FLOAT},
};

static const struct by_alternative narrower[] = {
    {.name = "int8 activation", .kind = BY_DECIDE_TENSOR, .activation = "int8"},
    {.name = "BFP16 layer", .kind = BY_DECIDE_LAYER, .activation = "bfp16", .weight = "bfp16"},
    {.name = "BF16 layer", .kind = BY_DECIDE_LAYER, .activation = "bf16", .weight = "bf16"},
    {.name = "float layer", .kind = BY_DECIDE_FLOAT},
};

static const struct by_mac_cost costs[] = {
    {"int8", "int8", 1, false}, {"int16", "int8", 2, true}, {"float*", "*", 16, true},
    {"*", "float*", 16, true},  {"bf16", "*", 4, true},     {"*", "bf16", 4, true},
    {"bfp16", "*", 2, true},    {"*", "bfp16", 2, true},    {"*", "*", 8, true},
};

const struct by_ladder by_ladder_vitis_ai = {
    .name = "vitis-ai",
    .help = "Ryzen AI NPUs: int8, int16 activations, BFP16 and BF16",
    BY_RUNGS(rungs),
    BY_DECISIONS(alternatives, costs),
    BY_NARROWER(narrower),
};
