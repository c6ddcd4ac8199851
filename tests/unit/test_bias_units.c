/* Biases in units of a layer's sums: alpha and beta of a Gemm, and room in the type of the bias. */
#include "engine_build.h"

#include "ir/infer.h"
#include "quant/params.h"
#include "quant/place.h"

#include <math.h>

#define MOST 2147483647.0

static struct by_recipe recipe;
static struct by_quant_plan *plan;

static int prepare(void **state)
{
    (void)state;
    recipe = (struct by_recipe){
        .activation = {.elem = BY_ELEM_UINT8},
        .weight = {.elem = BY_ELEM_INT8, .symmetric = true},
        .bias_kind = BY_BIAS_PRODUCT,
    };
    recipe.activation.method = recipe.weight.method = by_calibrator_find("minmax");
    return 0;
}

/* 2 x W + 4 b: sums count in x's scale times W's, the bias in half of that. */
static struct baryon_model *gemm_model(const float bias[2])
{
    static const float weight[4] = {1, 0.5f, -1, 0.25f};
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "1,2");
    gives(model, "y", BY_ELEM_FLOAT, "1,2");
    put_weight(model, "w", BY_ELEM_FLOAT, (const int64_t[]){2, 2}, 2, weight, sizeof weight);
    put_weight(model, "b", BY_ELEM_FLOAT, (const int64_t[]){2}, 1, bias, 2 * sizeof *bias);
    put_node(model->graph, "gemm", "Gemm", "x,w,b", "y");
    assert_ok(by_model_link(model, &err));
    assert_ok(by_node_set_float(model->graph->node.at[0], "alpha", 2, &err));
    assert_ok(by_node_set_float(model->graph->node.at[0], "beta", 4, &err));
    return model;
}

static void open_plan(const float bias[2])
{
    struct baryon_model *model = gemm_model(bias);
    assert_ok(by_model_infer(model, NULL, &err));
    assert_ok(by_quant_plan_open(&plan, model, &recipe, &err));
    assert_ok(by_place(plan, NULL, NULL, &err));
    for (size_t i = 0; i < plan->rows.count; i++) {
        struct by_quant_row *row = &plan->rows.at[i];
        row->range = (struct by_range){-2, 2, false, NAN};
        row->has_range = row->role == BY_ROLE_ACTIVATION;
    }
    assert_ok(by_quant_find_params(plan, NULL, NULL, &err));
}

static void close_plan(void)
{
    struct baryon_model *model = plan->model;
    by_quant_plan_close(plan);
    by_model_free(model);
}

static const struct by_params *params_of(const char *name)
{
    const size_t row = by_quant_find(plan, by_graph_value(plan->model->graph, name));
    assert_true(row != BY_NO_ROW);
    return by_quant_params(plan, row);
}

static double scale_of(const char *name, size_t channel)
{
    assert_true(channel < params_of(name)->count);
    return (double)params_of(name)->scales[channel];
}

static void assert_near(double found, double wanted)
{
    assert_true(fabs(found - wanted) <= 1e-6 * wanted);
}

static void units_have_alpha_and_beta(void **state)
{
    (void)state;
    for (int channels = 0; channels < 2; channels++) {
        recipe.weight.granularity = channels ? BY_PER_CHANNEL : BY_PER_TENSOR;
        open_plan((const float[]){1, 2});
        assert_int_equal(params_of("b")->count, channels ? 2 : 1);
        for (size_t i = 0; i < params_of("b")->count; i++)
            assert_near(scale_of("b", i), scale_of("x", 0) * scale_of("w", i) * 2 / 4);
        close_plan();
    }
}

/* The weight's scale grows until the bias has room, and no further: in its own channel. */
static void weights_make_room_for_biases(void **state)
{
    (void)state;
    recipe.adjust_weight_for_bias = true;
    recipe.weight.granularity = BY_PER_CHANNEL;
    open_plan((const float[]){1, 1e7f});
    const double unit = scale_of("x", 0) * 2 / 4 * MOST;
    assert_near(scale_of("w", 1), 1e7 / unit);
    assert_true(scale_of("w", 0) < 0.01);
    close_plan();
    recipe.weight.granularity = BY_PER_TENSOR;
    open_plan((const float[]){-1e7f, 1});
    assert_near(scale_of("w", 0), 1e7 / unit);
    close_plan();
}

/* 1e7 asks for a scale between two powers of two: it takes the greater one. */
static void powers_of_two_make_room(void **state)
{
    (void)state;
    recipe.adjust_weight_for_bias = true;
    recipe.weight.scale = BY_SCALE_POW2;
    open_plan((const float[]){1e7f, 1});
    const double unit = scale_of("x", 0) * 2 / 4 * MOST;
    const double scale = scale_of("w", 0);
    assert_true(scale >= 1e7 / unit && scale < 2 * 1e7 / unit);
    assert_true(log2(scale) == floor(log2(scale)) && scale > 1e7 / unit * 1.01);
    close_plan();
}

static void nothing_is_adjusted_unasked(void **state)
{
    (void)state;
    open_plan((const float[]){1e7f, 1});
    assert_true(scale_of("w", 0) < 0.01);
    close_plan();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(units_have_alpha_and_beta, prepare),
        cmocka_unit_test_setup(weights_make_room_for_biases, prepare),
        cmocka_unit_test_setup(powers_of_two_make_room, prepare),
        cmocka_unit_test_setup(nothing_is_adjusted_unasked, prepare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
