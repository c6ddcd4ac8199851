/* Whatever runs Q/DQ pairs: all integer types, and floats where nothing else suffices. */
#include "search/ladders.h"

static const struct by_preset_value channels[] = {{"preset", "INT8_CNN_DEFAULT"}, {0}};
static const struct by_preset_value solved[] = {
    {"preset", "INT8_CNN_DEFAULT"}, {"rounding", "descent"}, {0}};
/* Which activations get 16 bits is left to the decisions, which know what each costs. */
static const struct by_preset_value a8w8[] = {{"preset", "A8W8"},
                                              {"weight-granularity", "channel"},
                                              {"extra-op-types", "[LSTM, GRU]"},
                                              {"wide-auto", "false"},
                                              {0}};
static const struct by_preset_value a8w8_solved[] = {{"preset", "A8W8_ADAROUND"},
                                                     {"weight-granularity", "channel"},
                                                     {"extra-op-types", "[LSTM, GRU]"},
                                                     {"wide-auto", "false"},
                                                     {0}};
static const struct by_preset_value a16w8[] = {
    {"preset", "A16W8"}, {"weight-granularity", "channel"}, {0}};
static const struct by_preset_value a16w8_solved[] = {
    {"preset", "A16W8_ADAROUND"}, {"weight-granularity", "channel"}, {0}};
static const struct by_preset_value a16w16[] = {
    {"preset", "INT16_CNN_DEFAULT"}, {"weight", "int16"}, {0}};
static const struct by_preset_value bf16[] = {{"preset", "BF16"}, {"float-form", "cast"}, {0}};

#define FIRST "U8S8, per channel"

static const struct by_rung rungs[] = {
    {FIRST, "uint8 activations of least error, int8 weights per channel", BY_RUNG_FIRST, 1,
     channels, NULL, NULL},
    {"A8W8, per channel", "int8 for more operators, recurrent ones too", BY_RUNG_FIRST, 1, a8w8,
     FIRST, NULL},
    {"U8S8, per channel, solved", "weights rounded by reconstruction", BY_RUNG_SOLVED, 1, solved,
     NULL, NULL},
    {"A8W8, per channel, solved", "weights rounded by reconstruction", BY_RUNG_SOLVED, 1,
     a8w8_solved, NULL, NULL},
    {"A16W8, per channel", "all activations in int16", BY_RUNG_WIDE, 2, a16w8, NULL, NULL},
    {"A16W8, per channel, solved", "and weights rounded by reconstruction", BY_RUNG_WIDE, 2,
     a16w8_solved, NULL, NULL},
    {"A16W16", "weights in int16 too", BY_RUNG_WIDE, 2, a16w16, FIRST, NULL},
    {"BF16", "bfloat16 for every operator", BY_RUNG_WIDE, 4, bf16, NULL, NULL},
};

static const struct by_alternative alternatives[] = {
    {.name = "int16 activation", .kind = BY_DECIDE_TENSOR, .activation = "int16"},
    {.name = "float tensor", .kind = BY_DECIDE_TENSOR, .activation = "float"},
    {.name = "int16 weight", .kind = BY_DECIDE_WEIGHT, .weight = "int16"},
    {.name = "BF16 layer", .kind = BY_DECIDE_LAYER, .activation = "bf16", .weight = "bf16"},
    {.name = "float layer", .kind = BY_DECIDE_FLOAT},
};

static const struct by_alternative narrower[] = {
    {.name = "int8 activation", .kind = BY_DECIDE_TENSOR, .activation = "int8"},
    {.name = "float tensor", .kind = BY_DECIDE_TENSOR, .activation = "float"},
    {.name = "int16 weight", .kind = BY_DECIDE_WEIGHT, .weight = "int16"},
    {.name = "BF16 layer", .kind = BY_DECIDE_LAYER, .activation = "bf16", .weight = "bf16"},
    {.name = "float layer", .kind = BY_DECIDE_FLOAT},
};

/* No runtime is known to be faster with int4 weights than with int8 ones: they save bytes. */
static const struct by_alternative back[] = {
    {.name = "int8 weight", .kind = BY_DECIDE_WEIGHT, .weight = "int8", .from = "int4"},
};

/* Of two activations that are multiplied both have the type of the wider one. */
static const struct by_mac_cost costs[] = {
    {"*int8", "*int8", 1, false}, {"*int16", "int8", 2, true},  {"*int8", "int4", 1, false},
    {"*int16", "int4", 2, true},  {"*int*", "*int16", 2, true}, {"float*", "*", 8, true},
    {"*", "float*", 8, true},     {"bf16", "*", 4, true},       {"*", "bf16", 4, true},
    {"*", "*", 8, true},
};

const struct by_ladder by_ladder_any = {
    .name = "any",
    .help = "Whatever runs Q/DQ pairs: int8, int16, and float layers",
    BY_RUNGS(rungs),
    BY_DECISIONS(alternatives, costs),
    BY_NARROWER(narrower),
    .layer_options = "float-form: cast\n",
    BY_NARROW_WEIGHTS("int4", back),
};
