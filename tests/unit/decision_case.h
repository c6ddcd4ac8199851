/* A network of four layers whose decisions tests look at: of its layers one has a wide range, and
 * another wide weights. */
#ifndef BY_TEST_DECISION_CASE_H
#define BY_TEST_DECISION_CASE_H

#include "made_source.h"

#include "ir/infer.h"
#include "search/decision.h"
#include "sensitivity/sensitivity.h"

#include <math.h>

static struct by_recipe recipe;
static struct by_quantize_options options;
static struct by_quantization q;
static struct by_judge *judge;
static struct by_decisions d;

/* --- The model --- */

static int64_t opset = 13;
static enum by_float_form floats = BY_FLOATS_QUARK;
static bool two_outputs;
static bool joins; /* the output has a part of little energy */
static bool solves;
static bool has_scale;   /* a constant that no layer multiplies with, of one great value */
static bool has_second;  /* one of two readers wants another type, which a second pair gives */
static bool has_softmax; /* whose range is known without samples */
static bool has_table;   /* a row of a constant is added, of values that 8 bits hold badly */

static bool has_branch; /* whose graphs read b and e, before the last layer */

static enum { NO_PRODUCT, MATMUL, GEMM } product; /* before the last layer */

/* The last axis of e times a weight, which Gemm reads turned. */
static inline struct baryon_node *put_product(struct baryon_model *model)
{
    float values[20];
    const int64_t rows[] = {-1, 4}, whole[] = {-1, 6, 4, 5};
    for (size_t i = 0; i < 20; i++)
        values[i] = (float)by_rng_unit(9, 1, i) * (i % 4 ? 0.2F : 3) - 0.1F;
    put_values(model, "w6", product == MATMUL ? "4,5" : "5,4", values);
    if (product == MATMUL) {
        put_node(model->graph, "dense", "MatMul", "e,w6", "p");
        return NULL;
    }
    put_weight(model, "rows", BY_ELEM_INT64, (int64_t[]){2}, 1, rows, sizeof rows);
    put_weight(model, "whole", BY_ELEM_INT64, (int64_t[]){4}, 1, whole, sizeof whole);
    put_node(model->graph, "flat", "Reshape", "e,rows", "er");
    struct baryon_node *gemm = put_node(model->graph, "dense", "Gemm", "er,w6", "pr");
    put_node(model->graph, "back", "Reshape", "pr,whole", "p");
    return gemm;
}

static inline void put_branch(struct baryon_model *model)
{
    put_node(model->graph, "size", "Size", "x", "n");
    put_node(model->graph, "always", "Equal", "n,n", "yes");
    struct baryon_node *node = put_node(model->graph, "branch", "If", "yes", "p");
    struct baryon_graph *first = put_nested(model, node, "then_branch");
    put_node(first, "top", "ReduceMax", "b", "bt");
    put_node(first, "above", "Add", "e,bt", "ebt");
    put_output(first, "ebt");
    struct baryon_graph *second = put_nested(model, node, "else_branch");
    put_node(second, "same", "Identity", "e", "es");
    put_output(second, "es");
}

static inline struct baryon_model *made_model(void)
{
    struct baryon_model *model = new_model();
    struct baryon_node *joined = NULL, *cast = NULL, *gemm = NULL;
    drawn = 0;
    takes(model, "x", BY_ELEM_FLOAT, "N,3,8,8");
    gives(model, joins ? "z" : "y", BY_ELEM_FLOAT, NULL);
    if (two_outputs)
        gives(model, "c", BY_ELEM_FLOAT, NULL);
    put_layer(model, "one", "w1", "6,3,3,3", "x,w1", "a", 0.2F);
    if (has_scale) {
        const float scale[] = {0.1F, 0.2F, 0.3F, 0.1F, 0.2F, 40};
        put_values(model, "s", "6,1,1", scale);
        put_node(model->graph, "scale", "Mul", "a,s", "m");
    }
    if (has_table) {
        const float table[] = {0.1F, 0.2F, 90};
        put_values(model, "t", "3,1,1,1", table);
        put_values(model, "row", "1", (float[]){1});
        cast = put_node(model->graph, "cast", "Cast", "row", "rows");
        put_node(model->graph, "lookup", "Gather", "t,rows", "g");
        put_node(model->graph, "add", "Add", "a,g", "m");
    }
    if (has_softmax)
        put_node(model->graph, "shares", "Softmax", "a", "m");
    put_node(model->graph, "act", "Tanh", has_scale || has_softmax || has_table ? "m" : "a", "b");
    put_layer(model, "two", "w2", "6,6,3,3", "b,w2", "c", 12);
    if (has_second) {
        put_layer(model, "beside", "w5", "6,6,3,3", "b,w5", "f", 0.3F);
        put_node(model->graph, "sum", "Add", "c,f", "cf");
    }
    put_layer(model, "three", "w3", "6,6,1,1", has_second ? "cf,w3" : "c,w3", "e", 0.1F);
    if (product)
        gemm = put_product(model);
    if (has_branch)
        put_branch(model);
    put_layer(model, "four", "w4", "2,6,3,3", product || has_branch ? "p,w4" : "e,w4", "y", 0.3F);
    if (joins) {
        put_values(model, "tenth", "1", (float[]){0.02F});
        put_node(model->graph, "part", "Mul", "y,tenth", "small");
        put_node(model->graph, "bound", "Sigmoid", "small", "bounded");
        joined = put_node(model->graph, "join", "Concat", "y,bounded", "z");
    }
    assert_ok(by_model_link(model, &err));
    if (cast)
        assert_ok(by_node_set_int(cast, "to", BY_ELEM_INT64, &err));
    if (joined)
        assert_ok(by_node_set_int(joined, "axis", 1, &err));
    if (gemm)
        assert_ok(by_node_set_int(gemm, "transB", 1, &err));
    assert_ok(by_model_set_opset(model, "", opset, &err));
    assert_ok(by_model_infer(model, NULL, &err));
    return model;
}

/* --- Up to the decisions --- */

static struct by_rule wants_int16 = {
    .kind = BY_RULE_NODE,
    .input = {.spec = {.elem = BY_ELEM_INT16, .symmetric = true}, .set = BY_CHANGE_ELEM},
    .pattern = {.text = "re:two|beside"}};

static inline void set_options(unsigned threads)
{
    begin_source();
    recipe = (struct by_recipe){
        .activation = {.elem = BY_ELEM_INT8, .symmetric = true},
        .weight = {.elem = BY_ELEM_INT8, .symmetric = true},
        .bias = {.elem = BY_ELEM_INT32, .symmetric = true},
        .domain = BY_Q_MICROSOFT,
        .floats = floats,
        .smooth = BY_SMOOTH_OFF,
    };
    recipe.activation.method = recipe.weight.method = recipe.bias.method =
        by_calibrator_find("minmax");
    by_calib_defaults(recipe.activation.method, &recipe.activation.calib);
    recipe.activation.calib.headroom = 1.5;
    if (has_second) {
        recipe.rules.at = &wants_int16;
        recipe.rules.count = 1;
        recipe.dual_pairs = true;
    }
    if (solves) {
        recipe.rounding = BY_ROUNDING_DESCENT;
        recipe.rounding_starts = 1;
        recipe.rounding_samples = 4;
        recipe.rounding_damping = 0.01;
    }
    recipe.weight.calib = recipe.bias.calib = recipe.activation.calib;
    options = (struct by_quantize_options){
        .recipe = &recipe, .calibrate = {.samples = &samples, .session = {.threads = threads}}};
}

static const struct by_alternative alternatives[] = {
    {.name = "int16 activation", .kind = BY_DECIDE_TENSOR, .activation = "int16"},
    {.name = "int16 weight", .kind = BY_DECIDE_WEIGHT, .weight = "int16"},
    {.name = "float layer", .kind = BY_DECIDE_FLOAT},
};
static const struct by_mac_cost macs[] = {{"*int16", "*", 2, true},
                                          {"*", "int16", 2, true},
                                          {"int8", "int8", 1, false},
                                          {"*", "*", 8, true}};
static const struct by_target_ladder widens = {alternatives, 2, macs, 4, 0};
/* Where the other one is wide already it still costs. */
static const struct by_mac_cost steps[] = {{"int16", "int16", 3, true},
                                           {"int16", "*", 2, true},
                                           {"*", "int16", 2, true},
                                           {"*", "*", 1, false}};
static const struct by_target_ladder adds_up = {alternatives, 2, steps, 4, 0};
static const struct by_target_ladder excludes = {alternatives, 3, macs, 4, 0};

static const struct by_alternative loose[] = {
    {.name = "int16 activation", .kind = BY_DECIDE_TENSOR, .activation = "int16"},
    {.name = "float tensor", .kind = BY_DECIDE_TENSOR, .activation = "float"},
    {.name = "int16 weight", .kind = BY_DECIDE_WEIGHT, .weight = "int16"},
};
static const struct by_target_ladder loosens = {loose, 3, macs, 4, 0};

static const struct by_alternative around[] = {
    {.name = "float layer", .kind = BY_DECIDE_FLOAT},
    {.name = "around", .kind = BY_DECIDE_TENSOR, .activation = "float", .around = true},
};
static const struct by_target_ladder regions = {around, 2, macs, 4, 0};

static const struct by_alternative of_layers[] = {
    {.name = "int16 activation", .kind = BY_DECIDE_TENSOR, .activation = "int16"},
    {.name = "bf16 layer", .kind = BY_DECIDE_LAYER, .activation = "bf16", .weight = "bf16"},
};
static const struct by_mac_cost costs_of_layers[] = {
    {"bf16", "*", 4, true}, {"*", "bf16", 4, true}, {"*int16", "*", 2, true}, {"*", "*", 1, false}};
static const struct by_target_ladder blocks = {of_layers, 2, costs_of_layers, 4, 0};

static inline void open_decisions(unsigned threads, const struct by_target_ladder *ladder,
                                  const struct by_decide_options *decide)
{
    struct baryon_model *model = made_model();
    set_options(threads);
    assert_ok(by_sensitivity_begin(&judge, model, &options, &err));
    source.next = 0;
    assert_ok(by_quantization_open(&q, model, &options, &err));
    assert_ok(by_decisions_open(&d, &q, judge, ladder, decide, &err));
}

static inline void close_decisions(void)
{
    struct baryon_model *model = q.model;
    by_decisions_close(&d);
    by_judge_close(judge);
    by_quantization_close(&q);
    by_model_free(model);
}

static inline double judged(const bool *on)
{
    double sqnr;
    assert_ok(by_decisions_judge(&d, on, NULL, &sqnr, &err));
    return sqnr;
}

static inline size_t find(const char *alternative, const char *name)
{
    for (size_t i = 0; i < d.decision_count; i++)
        if (!strcmp(d.decisions[i].name, name) &&
            !strcmp(d.decisions[i].alternative->name, alternative))
            return i;
    fail_msg("no decision '%s' about '%s'", alternative, name);
    return 0;
}

#define MOST 32

static inline void assert_near(double value, double wanted, double within)
{
    if (!(fabs(value - wanted) <= within))
        fail_msg("%.9g is not within %g of %.9g", value, within, wanted);
}

static const struct by_decide_options all_samples = {.samples = SAMPLES};

static inline double cost_of(const bool *on)
{
    struct by_prediction prediction;
    by_decisions_predict(&d, on, &prediction);
    return prediction.cost;
}

static inline double predicted(const bool *on)
{
    struct by_prediction prediction;
    by_decisions_predict(&d, on, &prediction);
    return prediction.sqnr;
}

#endif
