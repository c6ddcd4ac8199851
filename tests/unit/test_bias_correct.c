/* Biases that make up for rounded weights: against the plain formula, and what is left alone. */
#include "engine_build.h"

#include "adjust/bias_correct.h"
#include "ir/infer.h"
#include "quant/params.h"
#include "quant/place.h"

#include <math.h>

static struct by_recipe recipe;
static struct by_quant_plan *plan;
static struct by_bias_job job;

static int prepare(void **state)
{
    (void)state;
    recipe = (struct by_recipe){
        .activation = {.elem = BY_ELEM_UINT8},
        .weight = {.elem = BY_ELEM_INT8, .symmetric = true},
        .bias = {.elem = BY_ELEM_INT8, .symmetric = true},
    };
    recipe.activation.method = recipe.weight.method = recipe.bias.method =
        by_calibrator_find("minmax");
    drawn = 0;
    return 0;
}

static void make_plan(struct baryon_model *model)
{
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_infer(model, NULL, &err));
    assert_ok(by_quant_plan_open(&plan, model, &recipe, &err));
    assert_ok(by_place(plan, NULL, NULL, &err));
    for (size_t i = 0; i < plan->rows.count; i++) {
        struct by_quant_row *row = &plan->rows.at[i];
        row->range = (struct by_range){-2, 2, false, NAN};
        row->has_range = row->role == BY_ROLE_ACTIVATION;
    }
    assert_ok(by_quant_find_params(plan, NULL, NULL, &err));
    assert_ok(by_bias_survey(plan, &job, &err));
}

static void close_plan(struct baryon_model *model)
{
    by_bias_close(&job);
    by_quant_plan_close(plan);
    by_model_free(model);
}

/* Conv with two groups, 4 channels to 6, and two elements inside. */
static struct baryon_model *conv_model(void)
{
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "1,4,1,5");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    put_random(model, "w", "6,2,1,2");
    put_random(model, "b", "6");
    struct baryon_node *conv = put_node(model->graph, "conv", "Conv", "x,w,b", "y");
    assert_ok(by_model_link(model, &err));
    assert_ok(by_node_set_int(conv, "group", 2, &err));
    return model;
}

static struct baryon_model *gemm_model(int64_t turned)
{
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "1,4");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    put_random(model, "w", turned ? "3,4" : "4,3");
    put_random(model, "b", "3");
    struct baryon_node *gemm = put_node(model->graph, "gemm", "Gemm", "x,w,b", "y");
    assert_ok(by_model_link(model, &err));
    assert_ok(by_node_set_int(gemm, "transB", turned, &err));
    assert_ok(by_node_set_float(gemm, "alpha", 3, &err));
    assert_ok(by_node_set_float(gemm, "beta", 2, &err));
    return model;
}

static void floats_of(struct baryon_model *model, const char *name, float *values, size_t count)
{
    struct by_span bytes;
    const struct baryon_value *value = by_graph_value(model->graph, name);
    assert_ok(by_tensor_bytes(value->initializer, &model->arena, &bytes, &err));
    assert_int_equal(bytes.size, count * sizeof *values);
    memcpy(values, bytes.data, bytes.size);
}

static const double means[4] = {1.5, -0.25, 0.75, 3};

/* What is lost at one weight. */
static double error_of(const float *weights, size_t at)
{
    const struct by_params *params =
        by_quant_params(plan, by_quant_find(plan, by_graph_value(plan->model->graph, "w")));
    const double scale = (double)params->scales[0];
    const double level = nearbyint((double)(weights[at] / params->scales[0]));
    return (double)weights[at] - fmin(fmax(level, -127), 127) * scale;
}

static void correct(struct baryon_model *model)
{
    make_plan(model);
    assert_int_equal(job.layer_count, 1);
    assert_int_equal(job.inputs[0].channels, 4);
    assert_string_equal(job.inputs[0].name, "x");
    memcpy(job.inputs[0].means, means, sizeof means);
    assert_ok(by_bias_correct(plan, &job, NULL, &err));
}

/* Corrects a conv_model(), whose elements of the kernel count by these shares, and frees it. */
static void assert_conv_corrected(struct baryon_model *model, const double shares[2])
{
    float weights[24], before[6], after[6];
    floats_of(model, "w", weights, 24);
    floats_of(model, "b", before, 6);
    correct(model);
    floats_of(model, "b", after, 6);
    for (size_t out = 0; out < 6; out++) {
        double want = (double)before[out];
        for (size_t in = 0; in < 2; in++)
            for (size_t k = 0; k < 2; k++)
                want +=
                    shares[k] * error_of(weights, out * 4 + in * 2 + k) * means[out / 3 * 2 + in];
        assert_true(fabs((double)after[out] - want) < 1e-6);
        assert_true(after[out] != before[out]);
    }
    close_plan(model);
}

static void conv_with_groups(void **state)
{
    (void)state;
    assert_conv_corrected(conv_model(), (const double[]){1, 1});
}

static void gemm_either_way(void **state)
{
    (void)state;
    for (int64_t turned = 0; turned < 2; turned++) {
        float weights[12], before[3], after[3];
        struct baryon_model *model = gemm_model(turned);
        floats_of(model, "w", weights, 12);
        floats_of(model, "b", before, 3);
        correct(model);
        floats_of(model, "b", after, 3);
        for (size_t out = 0; out < 3; out++) {
            double want = (double)before[out];
            for (size_t in = 0; in < 4; in++)
                want += 1.5 * error_of(weights, turned ? out * 4 + in : in * 3 + out) * means[in];
            assert_true(fabs((double)after[out] - want) < 1e-6);
        }
        close_plan(model);
    }
}

/* How many places of a window of 1x2 lie with element k inside a row of 5: counted one by one. */
static double share(int64_t k, int64_t pad, int64_t behind, int64_t stride, int64_t dilation)
{
    int64_t inside = 0, all = 0;
    for (int64_t at = -pad; at + dilation <= 4 + behind; at += stride, all++)
        inside += at + k * dilation >= 0 && at + k * dilation < 5;
    return (double)inside / (double)all;
}

/* Padding is no input: what meets it loses nothing. */
static void padding_counts_as_zero(void **state)
{
    (void)state;
    static const int64_t cases[][4] = {/* pads, stride, dilation */
                                       {1, 1, 1, 1},
                                       {0, 1, 2, 1},
                                       {3, 0, 1, 2},
                                       {2, 3, 2, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int64_t pad = cases[i][0], behind = cases[i][1], stride = cases[i][2],
                      dilation = cases[i][3];
        struct baryon_model *model = conv_model();
        struct baryon_node *conv = model->graph->node.at[0];
        assert_ok(by_node_set_ints(conv, "pads", (const int64_t[]){0, pad, 0, behind}, 4, &err));
        assert_ok(by_node_set_ints(conv, "strides", (const int64_t[]){1, stride}, 2, &err));
        assert_ok(by_node_set_ints(conv, "dilations", (const int64_t[]){1, dilation}, 2, &err));
        assert_conv_corrected(model, (const double[]){share(0, pad, behind, stride, dilation),
                                                      share(1, pad, behind, stride, dilation)});
    }
}

/* A bias with a scale of its own has the one that its new values want. */
static void scales_follow(void **state)
{
    (void)state;
    float after[6], most = 0;
    recipe.bias_kind = BY_BIAS_OWN;
    struct baryon_model *model = conv_model();
    correct(model);
    floats_of(model, "b", after, 6);
    for (size_t i = 0; i < 6; i++)
        most = fmaxf(most, fabsf(after[i]));
    const size_t row = by_quant_find(plan, by_graph_value(model->graph, "b"));
    assert_true(fabsf(plan->rows.at[row].params.scales[0] * 127 / most - 1) < 1e-5f);
    assert_int_equal(plan->rows.at[row].remarks.count, 1);
    assert_string_equal(plan->rows.at[row].remarks.at[0].rule, "bias-correction");
    close_plan(model);
}

static void left_alone(void **state)
{
    (void)state;
    recipe.weight.elem = BY_ELEM_INT16; /* nothing to speak of is lost */
    struct baryon_model *model = conv_model();
    make_plan(model);
    assert_int_equal(job.layer_count, 0);
    close_plan(model);
    recipe.weight.elem = BY_ELEM_INT8;
    model = conv_model(); /* somebody else reads the bias */
    by_model_unlink(model);
    put_node(model->graph, "other", "Neg", "b", "n");
    gives(model, "n", BY_ELEM_FLOAT, NULL);
    make_plan(model);
    assert_int_equal(job.layer_count, 0);
    close_plan(model);
    model = gemm_model(0);
    assert_ok(by_node_set_float(model->graph->node.at[0], "beta", 0, &err));
    make_plan(model);
    assert_int_equal(job.layer_count, 0);
    close_plan(model);
}

/* Inputs that samples told nothing of. */
static void no_means(void **state)
{
    (void)state;
    float before[6], after[6];
    struct baryon_model *model = conv_model();
    floats_of(model, "b", before, 6);
    make_plan(model);
    job.inputs[0].means = NULL;
    assert_ok(by_bias_correct(plan, &job, NULL, &err));
    floats_of(model, "b", after, 6);
    assert_memory_equal(before, after, sizeof before);
    close_plan(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(conv_with_groups, prepare),
        cmocka_unit_test_setup(gemm_either_way, prepare),
        cmocka_unit_test_setup(padding_counts_as_zero, prepare),
        cmocka_unit_test_setup(scales_follow, prepare),
        cmocka_unit_test_setup(left_alone, prepare),
        cmocka_unit_test_setup(no_means, prepare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
