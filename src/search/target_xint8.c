/* Ryzen AI and DPU compilers that take int8 with power-of-two scales alone. */
#include "search/ladders.h"

static const struct by_preset_value plain[] = {{"preset", "XINT8"}, {0}};
static const struct by_preset_value solved[] = {{"preset", "XINT8_ADAROUND"}, {0}};
/* The hardware has HardSigmoid in place of Sigmoid, which may cost more than all of int8 does. */
#define EXACT_SIGMOID                                                                              \
    {"pass", "-sigmoid-to-hard-sigmoid"},                                                          \
    {                                                                                              \
        "exclude-op-type", "[Sigmoid]"                                                             \
    }
static const struct by_preset_value sigmoid[] = {{"preset", "XINT8"}, EXACT_SIGMOID, {0}};
static const struct by_preset_value sigmoid_solved[] = {
    {"preset", "XINT8_ADAROUND"}, EXACT_SIGMOID, {0}};
static const struct by_preset_value scales[] = {{"preset", "XINT8_ADAQUANT"}, {0}};

static const struct by_rung rungs[] = {
    {"XINT8", "int8 with power-of-two scales; equalization and biases as samples choose",
     BY_RUNG_FIRST, 1, plain, NULL, NULL},
    {"XINT8, float Sigmoid", "Sigmoid stays as it is, on the processor", BY_RUNG_FIRST, 1, sigmoid,
     "XINT8", "Sigmoid"},
    {"XINT8, solved", "weights rounded by reconstruction", BY_RUNG_SOLVED, 1, solved, NULL, NULL},
    {"XINT8, float Sigmoid, solved", "weights rounded by reconstruction", BY_RUNG_SOLVED, 1,
     sigmoid_solved, NULL, "Sigmoid"},
    {"XINT8, solved, tuned", "and scales of activations tuned", BY_RUNG_TUNED, 1, scales, NULL,
     NULL},
};

static const struct by_alternative alternatives[] = {
    {.name = "float layer", .kind = BY_DECIDE_FLOAT},
    {.name = "float tensor and its nodes",
     .kind = BY_DECIDE_TENSOR,
     .activation = "float",
     .around = true},
};

/* A float layer runs on the processor: it is slow, and tensors go there and back. */
static const struct by_mac_cost costs[] = {
    {"int8", "int8", 1, false},
    {"float*", "*", 16, true},
    {"*", "*", 16, true},
};

const struct by_ladder by_ladder_xint8 = {
    .name = "xint8",
    .help = "NPUs of int8 with power-of-two scales; layers that lose too much stay float",
    BY_RUNGS(rungs),
    BY_DECISIONS(alternatives, costs),
};
