/* Processors with ONNX Runtime, whose integer kernels take uint8 activations and int8 weights. */
#include "search/ladders.h"

static const struct by_preset_value channels[] = {{"preset", "INT8_CNN_DEFAULT"}, {0}};
static const struct by_preset_value percentile[] = {
    {"preset", "U8S8_AAWS"}, {"weight-granularity", "channel"}, {0}};
static const struct by_preset_value solved[] = {
    {"preset", "INT8_CNN_DEFAULT"}, {"rounding", "descent"}, {0}};

static const struct by_rung rungs[] = {
    {"U8S8, per channel", "uint8 activations of least error, int8 weights per channel",
     BY_RUNG_FIRST, 1, channels, NULL, NULL},
    {"U8S8, percentile", "ranges of activations by percentile, or as samples choose", BY_RUNG_FIRST,
     1, percentile, "U8S8, per channel", NULL},
    {"U8S8, per channel, solved", "weights rounded by reconstruction", BY_RUNG_SOLVED, 1, solved,
     NULL, NULL},
};

static const struct by_alternative alternatives[] = {
    {.name = "float tensor", .kind = BY_DECIDE_TENSOR, .activation = "float"},
    {.name = "float layer", .kind = BY_DECIDE_FLOAT},
};

/* Integer kernels with VNNI are about four times as fast as float ones. Activations that are
 * multiplied are both uint8, which VNNI cannot multiply: a 512x512 product takes 2.9 ms with int8,
 * 7.0 without, 10.6 in float. */
static const struct by_mac_cost costs[] = {
    {"uint8", "int8", 1, false}, {"int8", "int8", 1, false}, {"uint8", "uint8", 2.5, false},
    {"float*", "*", 4, true},    {"*", "*", 4, true},
};

const struct by_ladder by_ladder_cpu = {
    .name = "cpu",
    .help = "Processors with ONNX Runtime: uint8 activations, int8 weights per channel",
    BY_RUNGS(rungs),
    BY_DECISIONS(alternatives, costs),
};
