/* Layers of a plan: which nodes are some, and what of them becomes a solver's target. */
#include "engine_build.h"

#include "ir/infer.h"
#include "quant/floats.h"
#include "quant/params.h"
#include "quant/place.h"
#include "quant/rounded.h"
#include "rounding/target.h"

#include <math.h>

static struct by_recipe recipe;
static struct by_quant_plan *plan;
static struct baryon_model *made;

static int prepare(void **state)
{
    (void)state;
    recipe = (struct by_recipe){
        .activation = {.elem = BY_ELEM_UINT8},
        .weight = {.elem = BY_ELEM_INT8, .symmetric = true},
        .bias = {.elem = BY_ELEM_INT32, .symmetric = true},
    };
    recipe.activation.method = recipe.weight.method = recipe.bias.method =
        by_calibrator_find("minmax");
    drawn = 0;
    return 0;
}

static int finish(void **state)
{
    (void)state;
    by_quant_plan_close(plan);
    by_model_free(made);
    plan = NULL;
    made = NULL;
    return 0;
}

static struct baryon_node *node_called(const char *name)
{
    for (size_t i = 0; i < made->graph->node.count; i++) {
        struct baryon_node *node = made->graph->node.at[i];
        if (!strcmp(node->name, name))
            return node;
    }
    fail_msg("no node %s", name);
    return NULL;
}

static void make_plan(void)
{
    assert_ok(by_model_link(made, &err));
    assert_ok(by_model_infer(made, NULL, &err));
    assert_ok(by_quant_plan_open(&plan, made, &recipe, &err));
    assert_ok(by_place(plan, NULL, NULL, &err));
    for (size_t i = 0; i < plan->rows.count; i++) {
        struct by_quant_row *row = &plan->rows.at[i];
        row->range = (struct by_range){-2, 2, false, NAN};
        row->has_range = row->role == BY_ROLE_ACTIVATION;
    }
    assert_ok(by_quant_find_params(plan, NULL, NULL, &err));
}

/* --- Which nodes --- */

/* x [1,4] to y through a Gemm, and more that a test adds. */
static struct baryon_node *gemm(const char *inputs, const char *weight)
{
    made = new_model();
    takes(made, "x", BY_ELEM_FLOAT, "1,4");
    gives(made, "y", BY_ELEM_FLOAT, NULL);
    put_random(made, "w", weight);
    put_random(made, "b", "4");
    return put_node(made->graph, "layer", strchr(inputs, 'b') ? "Gemm" : "MatMul", inputs, "y");
}

static bool is_taken(const char *name)
{
    struct by_rounding_layer layer;
    return by_rounding_layer_of(plan, node_called(name), &layer);
}

static bool gemm_is_taken(void)
{
    make_plan();
    const bool taken = is_taken("layer");
    finish(NULL);
    prepare(NULL);
    return taken;
}

static bool with_float(const char *attribute, float value)
{
    struct baryon_node *node = gemm("x,w,b", "4,4");
    assert_ok(by_model_link(made, &err));
    assert_ok(by_node_set_float(node, attribute, value, &err));
    return gemm_is_taken();
}

static void test_attributes(void **state)
{
    (void)state;
    gemm("x,w,b", "4,4");
    assert_true(gemm_is_taken());
    gemm("x,w", "4,4");
    assert_true(gemm_is_taken());
    assert_true(with_float("alpha", 1));
    assert_false(with_float("alpha", 0.5F));
    assert_false(with_float("beta", 2));
    struct baryon_node *node = gemm("x,w,b", "1,4");
    assert_ok(by_model_link(made, &err));
    assert_ok(by_node_set_int(node, "transA", 1, &err));
    assert_false(gemm_is_taken());
    gemm("x,w", "1,4,4"); /* a batch of weights */
    assert_false(gemm_is_taken());
}

static void test_shared(void **state)
{
    (void)state;
    gemm("x,w,b", "4,4");
    put_node(made->graph, "other", "Gemm", "y,w", "z"); /* the weight */
    gives(made, "z", BY_ELEM_FLOAT, NULL);
    assert_false(gemm_is_taken());
    gemm("x,w,b", "4,4");
    put_random(made, "v", "4,4");
    put_node(made->graph, "other", "Gemm", "y,v,b", "z"); /* the bias: each gets one of its own */
    gives(made, "z", BY_ELEM_FLOAT, NULL);
    make_plan();
    struct by_rounding_layer one, other;
    assert_true(by_rounding_layer_of(plan, node_called("layer"), &one));
    assert_true(by_rounding_layer_of(plan, node_called("other"), &other));
    assert_non_null(one.bias);
    assert_non_null(other.bias);
    assert_ptr_not_equal(one.bias, other.bias);
}

static void test_not_constant(void **state)
{
    (void)state;
    gemm("x,t", "4,4");
    takes(made, "t", BY_ELEM_FLOAT, "4,4");
    assert_false(gemm_is_taken());
    gemm("x,w,bt", "4,4");
    takes(made, "bt", BY_ELEM_FLOAT, "4");
    assert_false(gemm_is_taken());
    gemm("x,w,scalar_b", "4,4"); /* it would have to become four */
    put_random(made, "scalar_b", "1");
    assert_false(gemm_is_taken());
}

static void test_chosen_already(void **state)
{
    (void)state;
    static int32_t integers[16];
    gemm("x,w,b", "4,4");
    make_plan();
    assert_true(is_taken("layer"));
    struct by_quant_row *row = &plan->rows.at[by_quant_find(plan, value_of(made->graph, "w"))];
    row->rounded = integers;
    assert_false(is_taken("layer"));
    row->rounded = NULL;
    row->keep_float = true;
    assert_false(is_taken("layer"));
}

/* --- Targets --- */

/* Conv with two groups, 4 channels to 6, windows of 1 x 2 */
static void conv_layer(struct by_rounding_layer *layer)
{
    made = new_model();
    takes(made, "x", BY_ELEM_FLOAT, "2,4,1,5");
    gives(made, "y", BY_ELEM_FLOAT, NULL);
    put_random(made, "w", "6,2,1,2");
    put_random(made, "b", "6");
    struct baryon_node *conv = put_node(made->graph, "conv", "Conv", "x,w,b", "y");
    assert_ok(by_model_link(made, &err));
    assert_ok(by_node_set_int(conv, "group", 2, &err));
    make_plan();
    assert_true(by_rounding_layer_of(plan, conv, layer));
}

static void test_places(void **state)
{
    (void)state;
    struct by_rounding_layer layer;
    size_t element = 0;
    conv_layer(&layer);
    assert_int_equal(layer.groups, 2);
    assert_int_equal(layer.outs, 3);
    assert_int_equal(layer.columns, 4);
    for (size_t g = 0; g < 2; g++) /* a Conv's elements are in this order */
        for (size_t o = 0; o < 3; o++)
            for (size_t c = 0; c < 4; c++)
                assert_int_equal(by_rounding_element(&layer, g, o, c), element++);
}

static void test_target_of_integers(void **state)
{
    (void)state;
    struct by_rounding_layer layer;
    struct by_rounding_target made_of;
    conv_layer(&layer);
    assert_ok(by_rounding_target_open(&made_of, plan, &layer, NULL, &err));
    const struct by_round_target *target = &made_of.target;
    const struct by_params *params = by_quant_params(plan, layer.weight);
    float *weights = by_floats_copy(value_of(made->graph, "w")->initializer, NULL, &err);
    assert_memory_equal(target->weights, weights, 24 * sizeof *weights);
    assert_int_equal(target->groups * target->outs, 6);
    assert_int_equal(target->columns, 4);
    assert_non_null(target->biases);
    assert_int_equal(target->grid.spans, 1);
    assert_int_equal(target->grid.span, 4);
    assert_int_equal(target->grid.low, -127);
    assert_int_equal(target->grid.high, 127);
    assert_null(target->grid.held);
    for (size_t i = 0; i < 6; i++) {
        assert_float_equal(target->grid.scales[i], params->scales[0], 0);
        assert_int_equal(target->grid.units[i], 0); /* one scale for all of them */
    }
    by_free(weights);
    by_rounding_target_close(&made_of);
}

/* --- The activation after --- */

/* What a layer's activation sees; more: another reader. */
static struct by_rounding_layer behind(const char *op_type, const char *inputs, const char *more)
{
    struct by_rounding_layer layer;
    made = new_model();
    takes(made, "x", BY_ELEM_FLOAT, "1,4");
    gives(made, "z", BY_ELEM_FLOAT, NULL);
    put_random(made, "w", "4,4");
    put_floats(made, "least", "", -1);
    put_floats(made, "most", "", 6);
    put_node(made->graph, "layer", "MatMul", "x,w", "y");
    put_node(made->graph, "next", op_type, inputs, "z");
    if (*more)
        put_node(made->graph, "more", more, "y", "more");
    make_plan();
    assert_true(by_rounding_layer_of(plan, node_called("layer"), &layer));
    finish(NULL);
    prepare(NULL);
    return layer;
}

static void assert_seen(const struct by_rounding_layer layer, float low, float high)
{
    assert_true(layer.low == low && layer.high == high);
}

static void test_seen(void **state)
{
    (void)state;
    assert_seen(behind("Relu", "y", ""), 0, INFINITY);
    assert_seen(behind("HardSwish", "y", ""), -3, INFINITY);
    assert_seen(behind("Clip", "y,least,most", ""), -1, 6);
    assert_seen(behind("Clip", "y,least", ""), -1, INFINITY);
    assert_seen(behind("Clip", "y,,most", ""), -INFINITY, 6);
    assert_seen(behind("Tanh", "y", ""), -INFINITY, INFINITY);
    assert_seen(behind("Relu", "y", "Tanh"), -INFINITY, INFINITY); /* which sees all */
    assert_seen(behind("Clip", "least,y,most", ""), -INFINITY, INFINITY);
}

/* --- Floats and blocks --- */

static struct by_rounding_layer gemm_of_blocks(void)
{
    struct by_rounding_layer layer;
    recipe.activation =
        (struct by_tensor_spec){.elem = BY_ELEM_FLOAT, .format = by_dtype_find("mx6")};
    recipe.weight = recipe.bias = recipe.activation;
    recipe.keep_float_weights = recipe.keep_float_blocks = true;
    recipe.bias_kind = BY_BIAS_OWN;
    gemm("x,w,b", "4,4");
    make_plan();
    assert_true(by_rounding_layer_of(plan, node_called("layer"), &layer));
    assert_true(by_rounding_has_steps(plan, &layer));
    return layer;
}

static void test_blocks(void **state)
{
    (void)state;
    struct by_round_choice choice, taken = {0};
    struct by_rounding_target made_of;
    const struct by_rounding_layer layer = gemm_of_blocks();
    const struct by_quant_row *row = &plan->rows.at[layer.weight];
    float wanted[16];
    assert_true(by_rounding_can(plan, &layer));
    assert_ok(by_rounding_target_open(&made_of, plan, &layer, NULL, &err));
    assert_ok(by_round_nearest(&made_of.target, &choice, &err));
    by_rounding_target_close(&made_of);
    float *given = by_floats_copy(row->value->initializer, NULL, &err);
    assert_ok(by_quant_round(plan, layer.weight, given, NULL, wanted, &err));
    for (size_t o = 0; o < 4; o++)
        for (size_t c = 0; c < 4; c++)
            assert_float_equal(choice.weights[o * 4 + c], wanted[c * 4 + o], 0);
    taken = choice;
    assert_ok(by_rounding_take(plan, &layer, &taken, NULL, &err));
    assert_null(plan->rows.at[layer.weight].rounded);
    assert_memory_equal(plan->rows.at[layer.weight].solved, wanted, sizeof wanted);
    assert_false(is_taken("layer")); /* a second time */
    by_free(given);
    by_round_choice_release(&choice);
}

static void test_blocks_that_are_left(void **state)
{
    (void)state;
    bool finite;
    const struct by_rounding_layer layer = gemm_of_blocks();
    assert_ok(by_rounding_is_finite(plan, &layer, &finite, &err));
    assert_true(finite);
    float *given = by_floats_copy(plan->rows.at[layer.weight].value->initializer, NULL, &err);
    given[7] = INFINITY;
    assert_ok(
        by_floats_write(made, plan->rows.at[layer.weight].value->initializer, given, 16, &err));
    assert_ok(by_rounding_is_finite(plan, &layer, &finite, &err));
    assert_false(finite);
    by_free(given);
    recipe.rounding_free = true;
    assert_false(by_rounding_can(plan, &layer));
    recipe.rounding_free = false;
    recipe.rounding = BY_ROUNDING_GPTQ;
    assert_false(by_rounding_can(plan, &layer));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_attributes, prepare, finish),
        cmocka_unit_test_setup_teardown(test_shared, prepare, finish),
        cmocka_unit_test_setup_teardown(test_not_constant, prepare, finish),
        cmocka_unit_test_setup_teardown(test_chosen_already, prepare, finish),
        cmocka_unit_test_setup_teardown(test_places, prepare, finish),
        cmocka_unit_test_setup_teardown(test_target_of_integers, prepare, finish),
        cmocka_unit_test_setup_teardown(test_seen, prepare, finish),
        cmocka_unit_test_setup_teardown(test_blocks, prepare, finish),
        cmocka_unit_test_setup_teardown(test_blocks_that_are_left, prepare, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
