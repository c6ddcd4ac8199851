/* Scales that move in plans of finished models, and what is written back. */
#include "engine_build.h"

#include "ir/infer.h"
#include "quant/bias.h"
#include "quant/raise.h"
#include "quant/rescale.h"
#include "quant/spread.h"

#include <math.h>

static const struct by_recipe recipe;
static struct by_quant_plan *plan;
static struct by_rescaling rescaling;

static void put_scale(struct baryon_model *model, const char *name, const float *scales, int64_t n)
{
    put_weight(model, name, BY_ELEM_FLOAT, &n, n > 1, scales, sizeof *scales * (size_t)n);
}

/* x, quantized, times w of one or two channels, plus an int32 bias. */
static struct baryon_model *conv_model(const float *weight_scales, const float *bias_scales,
                                       int64_t channels)
{
    static const float step = 0.5f;
    static const int8_t w[4] = {100, -50, 7, 3}, zeros[2] = {0, 0};
    static const int32_t b[2] = {1000, -3};
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "1,2,3,3");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    put_scale(model, "x_s", &step, 1);
    put_weight(model, "x_z", BY_ELEM_INT8, NULL, 0, zeros, 1);
    put_weight(model, "w", BY_ELEM_INT8, (const int64_t[]){2, 2, 1, 1}, 4, w, sizeof w);
    put_scale(model, "w_s", weight_scales, channels);
    put_weight(model, "b", BY_ELEM_INT32, (const int64_t[]){2}, 1, b, sizeof b);
    put_scale(model, "b_s", bias_scales, channels);
    put_node(model->graph, "q", "QuantizeLinear", "x,x_s,x_z", "x_q");
    put_node(model->graph, "dx", "DequantizeLinear", "x_q,x_s,x_z", "x_d");
    put_node(model->graph, "dw", "DequantizeLinear", "w,w_s", "w_d");
    put_node(model->graph, "db", "DequantizeLinear", "b,b_s", "b_d");
    put_node(model->graph, "conv", "Conv", "x_d,w_d,b_d", "y");
    return model;
}

static void open_plan(struct baryon_model *model)
{
    assert_ok(by_model_link(model, &err));
    for (size_t i = 0; i < model->graph->node.count; i++) {
        struct baryon_node *node = model->graph->node.at[i];
        if (by_node_is(node, "DequantizeLinear"))
            assert_ok(by_node_set_int(node, "axis", node->name[1] == 'w' ? -4 : 0, &err));
    }
    assert_ok(by_model_infer(model, NULL, &err));
    assert_ok(by_quant_plan_open(&plan, model, &recipe, &err));
    assert_ok(by_raise(plan, &err));
    assert_ok(by_rescale_open(&rescaling, plan, &err));
}

static void close_plan(void)
{
    struct baryon_model *model = plan->model;
    by_quant_plan_close(plan);
    by_model_free(model);
}

static struct by_quant_row *row_named(const char *name)
{
    const struct baryon_value *value = by_graph_value(plan->model->graph, name);
    const size_t row = by_quant_find(plan, value);
    assert_true(row != BY_NO_ROW);
    return &plan->rows.at[row];
}

static void check_written(size_t wanted)
{
    size_t changes;
    assert_ok(by_rescale_write(&rescaling, NULL, &changes, &err));
    assert_int_equal(changes, wanted);
    assert_ok(by_model_settle(plan->model, &err));
    assert_ok(by_graph_verify(plan->model, &err));
}

static void check_ints(const char *name, const int64_t *wanted, size_t count)
{
    struct by_arena arena;
    int64_t *found;
    size_t there;
    by_arena_init(&arena, 0);
    const struct baryon_value *value = by_graph_value(plan->model->graph, name);
    assert_non_null(value);
    assert_ok(by_tensor_ints(value->initializer, &arena, 100, &found, &there, &err));
    assert_int_equal(there, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(found[i], wanted[i]);
    by_arena_release(&arena);
}

/* The weight's axis is counted from the front; the bias is a product, and follows the weight. */
static void test_weight_and_bias(void **state)
{
    (void)state;
    open_plan(conv_model((const float[]){0.25f, 1}, (const float[]){0.125f, 0.5f}, 2));
    struct by_quant_row *weight = row_named("w_d"), *bias = row_named("b_d");
    assert_int_equal(weight->params.axis, 0);
    by_raise_biases(plan, false, NULL);
    assert_true(bias->input_row != BY_NO_ROW);
    weight->params.scales[0] = 0.5f;
    assert_ok(by_bias_scales(plan, &err));
    check_written(2);
    check_ints("w", (const int64_t[]){50, -25, 7, 3}, 4);
    check_ints("b", (const int64_t[]){500, -3}, 2);
    close_plan();
}

/* A bias of another scale gets the product where all should: two scales instead of one. */
static void test_all_biases(void **state)
{
    (void)state;
    size_t kept;
    open_plan(conv_model((const float[]){0.25f, 1}, (const float[]){0.5f, 0.25f}, 2));
    by_raise_biases(plan, false, &kept);
    assert_int_equal(kept, 1);
    by_raise_biases(plan, true, &kept);
    assert_int_equal(kept, 0);
    assert_ok(by_bias_scales(plan, &err));
    check_written(1);
    check_ints("b", (const int64_t[]){4000, -2}, 2); /* -1.5: ties to even */
    close_plan();
}

static void test_nothing_moved(void **state)
{
    (void)state;
    open_plan(conv_model((const float[]){0.25f, 1}, (const float[]){0.125f, 0.5f}, 2));
    by_raise_biases(plan, false, NULL);
    assert_ok(by_bias_scales(plan, &err));
    check_written(0);
    close_plan();
}

static void check_bound(double ratio, double least, bool adaptive, float first)
{
    const struct by_spread_bound bound = {.ratio = ratio, .least = least, .adaptive = adaptive};
    open_plan(conv_model((const float[]){0.25f, 64}, (const float[]){0.125f, 32}, 2));
    const struct by_params *params = &row_named("w_d")->params;
    assert_ok(by_bound_spread(plan, &bound, &err));
    assert_true(params->scales[0] == first);
    assert_true(params->scales[1] == 64);
    close_plan();
}

static void test_spread(void **state)
{
    (void)state;
    check_bound(256, 1, false, 0.25f); /* the ratio may be 256 */
    check_bound(255, 1, false, 1);
    check_bound(255, 0.125, false, 0.25f); /* it is above that */
    check_bound(16, 1, true, 4);
    check_bound(16, 8, true, 8);
    check_bound(16, 1000, false, 64); /* the greatest stays */
}

/* A node whose parameters differ from its partner's is not known well enough to be moved. */
static void test_fixed(void **state)
{
    (void)state;
    static const float other = 0.25f;
    struct baryon_model *model =
        conv_model((const float[]){0.25f, 1}, (const float[]){0.125f, 0.5f}, 2);
    put_scale(model, "other", &other, 1);
    assert_ok(by_model_link(model, &err));
    assert_ok(by_node_set_input(model->graph->node.at[0], 1, by_graph_value(model->graph, "other"),
                                &err));
    open_plan(model);
    assert_true(row_named("x")->has_params);
    assert_false(row_named("w_d")->has_params);
    close_plan();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weight_and_bias), cmocka_unit_test(test_all_biases),
        cmocka_unit_test(test_nothing_moved),   cmocka_unit_test(test_spread),
        cmocka_unit_test(test_fixed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
