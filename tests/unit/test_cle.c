/* Equalization: the model computes the same, weights of neighbours are balanced. */
#include "engine_build.h"

#include "adjust/cle.h"
#include "adjust/cle_internal.h"
#include "ir/infer.h"

#include <math.h>

#define OUTPUTS 4096

static struct by_recipe recipe;

/* --- Models --- */

/* Channels along the first axis differ a lot in magnitude. */
static void put_uneven(struct baryon_model *model, const char *name, const int64_t *dims,
                       size_t rank)
{
    static float values[65536];
    size_t count = 1;
    for (size_t i = 0; i < rank; i++)
        count *= (size_t)dims[i];
    const size_t inside = count / (size_t)dims[0];
    for (size_t i = 0; i < count; i++)
        values[i] = draw(7) * exp2f((float)(i / inside * 5 % 9) - 4);
    put_weight(model, name, BY_ELEM_FLOAT, dims, rank, values, count * sizeof *values);
}

#define DIMS(...) ((const int64_t[]){__VA_ARGS__}), sizeof((const int64_t[]){__VA_ARGS__}) / 8

static void put_scalar(struct baryon_model *model, const char *name, float value)
{
    put_weight(model, name, BY_ELEM_FLOAT, NULL, 0, &value, sizeof value);
}

static void set_group(struct baryon_model *model, size_t node, int64_t group)
{
    assert_ok(by_model_link(model, &err));
    assert_ok(by_node_set_int(model->graph->node.at[node], "group", group, &err));
}

/* bias: of the first layer; NULL: an uneven one. */
static struct baryon_model *pair_model(const float *bias)
{
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "1,3,8,8");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    put_uneven(model, "w1", DIMS(6, 3, 3, 3));
    if (bias)
        put_weight(model, "b1", BY_ELEM_FLOAT, DIMS(6), bias, 6 * sizeof *bias);
    else
        put_uneven(model, "b1", DIMS(6));
    put_uneven(model, "w2", DIMS(4, 6, 3, 3));
    put_node(model->graph, "one", "Conv", "x,w1,b1", "p");
    put_node(model->graph, "act", "Relu", "p", "q");
    put_node(model->graph, "pool", "MaxPool", "q", "r");
    put_node(model->graph, "two", "Conv", "r,w2", "y");
    assert_ok(by_model_link(model, &err));
    assert_ok(
        by_node_set_ints(model->graph->node.at[2], "kernel_shape", (int64_t[]){2, 2}, 2, &err));
    return model;
}

/* Conv -> Relu6 -> depthwise -> Relu6 -> Conv. */
static struct baryon_model *mobile_model(void)
{
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "1,3,8,8");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    put_scalar(model, "zero", 0);
    put_scalar(model, "six", 6);
    put_uneven(model, "w1", DIMS(8, 3, 1, 1));
    put_uneven(model, "b1", DIMS(8));
    put_uneven(model, "w2", DIMS(8, 1, 3, 3));
    put_uneven(model, "b2", DIMS(8));
    put_uneven(model, "w3", DIMS(5, 8, 1, 1));
    put_uneven(model, "b3", DIMS(5));
    put_node(model->graph, "one", "Conv", "x,w1,b1", "p1");
    put_node(model->graph, "clip1", "Clip", "p1,zero,six", "q1");
    put_node(model->graph, "two", "Conv", "q1,w2,b2", "p2");
    put_node(model->graph, "clip2", "Clip", "p2,zero,six", "q2");
    put_node(model->graph, "three", "Conv", "q2,w3,b3", "y");
    set_group(model, 2, 8);
    return model;
}

/* ConvTranspose with groups -> LeakyRelu -> grouped Conv -> GAP -> Flatten -> Gemm. */
static struct baryon_model *mixed_model(void)
{
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "1,4,5,5");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    put_uneven(model, "w1", DIMS(4, 3, 2, 2));
    put_uneven(model, "b1", DIMS(6));
    put_uneven(model, "w2", DIMS(9, 2, 3, 3));
    put_uneven(model, "w3", DIMS(9, 7));
    put_uneven(model, "b3", DIMS(7));
    put_node(model->graph, "one", "ConvTranspose", "x,w1,b1", "p");
    put_node(model->graph, "act", "LeakyRelu", "p", "q");
    put_node(model->graph, "two", "Conv", "q,w2", "r");
    put_node(model->graph, "mean", "GlobalAveragePool", "r", "s");
    put_node(model->graph, "flat", "Flatten", "s", "t");
    put_node(model->graph, "three", "Gemm", "t,w3,b3", "y");
    set_group(model, 0, 2);
    set_group(model, 2, 3);
    return model;
}

/* Conv -> Relu -> pool -> Concat with another branch -> BatchNormalization, and on a second way
 * through a depthwise Conv; the norms share a scale. */
static struct baryon_model *stem_model(void)
{
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "1,3,8,8");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    gives(model, "z", BY_ELEM_FLOAT, NULL);
    put_uneven(model, "w1", DIMS(6, 3, 3, 3));
    put_uneven(model, "b1", DIMS(6));
    put_uneven(model, "wide", DIMS(9));
    put_uneven(model, "beta9", DIMS(9));
    put_uneven(model, "mean9", DIMS(9));
    put_uneven(model, "beta6", DIMS(6));
    put_uneven(model, "mean6", DIMS(6));
    put_uneven(model, "deep", DIMS(12, 1, 1, 1));
    float spread[9];
    for (size_t i = 0; i < 9; i++)
        spread[i] = 1 + (float)i / 4;
    put_weight(model, "var9", BY_ELEM_FLOAT, DIMS(9), spread, sizeof spread);
    put_weight(model, "var6", BY_ELEM_FLOAT, DIMS(6), spread, 6 * sizeof *spread);
    put_uneven(model, "scale6", DIMS(6));
    put_node(model->graph, "stem", "Conv", "x,w1,b1", "p");
    put_node(model->graph, "act", "Relu", "p", "q");
    put_node(model->graph, "pool", "MaxPool", "q", "r");
    put_node(model->graph, "cut", "MaxPool", "x", "s");
    put_node(model->graph, "join", "Concat", "s,r", "t");
    put_node(model->graph, "norm", "BatchNormalization", "t,wide,beta9,mean9,var9", "y");
    put_node(model->graph, "first", "BatchNormalization", "r,scale6,beta6,scale6,var6", "u");
    put_node(model->graph, "depth", "Conv", "r,deep", "v");
    put_node(model->graph, "more", "Concat", "u,v", "z");
    assert_ok(by_model_link(model, &err));
    const int64_t three[] = {3, 3};
    for (size_t i = 0; i < model->graph->node.count; i++) {
        struct baryon_node *node = model->graph->node.at[i];
        if (by_node_is(node, "MaxPool"))
            assert_ok(by_node_set_ints(node, "kernel_shape", three, 2, &err));
        if (by_node_is(node, "Concat"))
            assert_ok(by_node_set_int(node, "axis", 1, &err));
        if (strcmp(node->name, "depth") == 0)
            assert_ok(by_node_set_int(node, "group", 6, &err));
        if (strcmp(node->name, "stem") == 0)
            assert_ok(by_node_set_ints(node, "pads", (int64_t[]){1, 1, 1, 1}, 4, &err));
    }
    return model;
}

/* The value between is an output as well: nobody may scale it. */
static struct baryon_model *seen_model(void)
{
    struct baryon_model *model = pair_model(NULL);
    assert_ok(by_graph_add_output(by_graph_value(model->graph, "q"), NULL, &err));
    return model;
}

/* --- Running and equalizing --- */

static size_t run_model(struct baryon_model *model, float *out)
{
    static float x[3 * 64];
    const struct by_session_options options = {.threads = 1};
    struct by_session *session;
    size_t count;
    for (size_t i = 0; i < sizeof x / sizeof *x; i++)
        x[i] = sinf((float)i);
    assert_ok(by_session_open_model(&session, model, 0, &options, &err));
    const struct by_port *port = by_session_inputs(session, &count);
    struct by_array array = array_of("x", BY_ELEM_FLOAT, port->rank, port->dims, x, sizeof *x);
    for (size_t i = 0; i < port->rank; i++)
        array.size *= (size_t)port->dims[i];
    struct by_run *run = run_ok(session, &array, 1);
    size_t outputs;
    const struct by_array *y = by_run_outputs(run, &outputs);
    count = 0;
    for (size_t i = 0; i < outputs; i++) {
        assert_true(count * sizeof *out + y[i].size <= OUTPUTS * sizeof *out);
        memcpy(out + count, y[i].data, y[i].size);
        count += y[i].size / sizeof *out;
    }
    by_run_free(run);
    by_session_close(session);
    return count;
}

static void open_plan(struct by_quant_plan *plan, struct baryon_model *model)
{
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_infer(model, NULL, &err));
    *plan = (struct by_quant_plan){.model = model, .recipe = &recipe};
    plan->node_count = model->graph->node.count;
    plan->nodes = by_arena_alloc(&model->arena, plan->node_count, sizeof *plan->nodes, &err);
    assert_non_null(plan->nodes);
    for (size_t i = 0; i < plan->node_count; i++)
        plan->nodes[i] =
            (struct by_quant_node){.node = model->graph->node.at[i], .state = BY_NODE_QUANTIZED};
}

static void equalize(struct baryon_model *model, enum by_cle_mode mode,
                     struct by_cle_report *report)
{
    struct by_quant_plan plan;
    bool replaced;
    const struct by_cle_options options = {.mode = mode, .range = 1};
    open_plan(&plan, model);
    assert_ok(by_cle_run(&plan, NULL, &options, report, &replaced, &err));
    assert_ok(by_model_settle(model, &err));
}

static double error_of(const float *want, const float *got, size_t count)
{
    double signal = 0, noise = 0;
    for (size_t i = 0; i < count; i++) {
        signal += (double)want[i] * (double)want[i];
        noise += pow((double)want[i] - (double)got[i], 2);
    }
    assert_true(signal > 0);
    return sqrt(noise / signal);
}

static void check_same(struct baryon_model *model, enum by_cle_mode mode,
                       struct by_cle_report *report)
{
    static float before[OUTPUTS], after[OUTPUTS];
    const size_t count = run_model(model, before);
    equalize(model, mode, report);
    assert_int_equal(run_model(model, after), count);
    assert_true(error_of(before, after, count) < 1e-5);
}

/* Greatest ratio between the two sides' peaks of a channel. */
static double imbalance(struct baryon_model *model)
{
    struct by_quant_plan plan;
    struct by_cle cle = {0};
    double worst = 1;
    by_arena_init(&cle.arena, SIZE_MAX);
    open_plan(&plan, model);
    assert_ok(by_cle_find(&cle, &plan, true, &err));
    for (size_t i = 0; i < cle.links.count; i++) {
        double out[64], in[64];
        assert_true(cle.links.at[i].channels <= 64);
        by_cle_out_peaks(&cle.layers.at[cle.links.at[i].from], out);
        by_cle_in_peaks(&cle.layers.at[cle.links.at[i].to], in);
        for (size_t c = 0; c < cle.links.at[i].channels; c++)
            worst = fmax(worst, fmax(out[c] / in[c], in[c] / out[c]));
    }
    by_arena_release(&cle.arena);
    return worst;
}

/* --- Tests --- */

static void test_pair(void **state)
{
    (void)state;
    struct by_cle_report report;
    struct baryon_model *model = pair_model(NULL);
    check_same(model, BY_CLE_EXACT, &report);
    assert_int_equal(report.pairs, 1);
    assert_true(imbalance(model) < 1.01);
    by_model_free(model);
}

static void test_depthwise_and_relu6(void **state)
{
    (void)state;
    struct by_cle_report report;
    struct baryon_model *model = mobile_model();
    check_same(model, BY_CLE_EXACT, &report);
    assert_int_equal(report.pairs, 2);
    assert_int_equal(report.relu6, 2);
    assert_int_equal(report.depthwise, 1);
    for (size_t i = 0; i < model->graph->node.count; i++)
        assert_false(by_node_is(model->graph->node.at[i], "Clip"));
    assert_non_null(by_graph_value(model->graph, "q1"));
    assert_non_null(by_graph_value(model->graph, "q2"));
    by_model_free(model);
}

static void test_keep_leaves_relu6(void **state)
{
    (void)state;
    struct by_cle_report report;
    struct baryon_model *model = mobile_model();
    check_same(model, BY_CLE_KEEP, &report);
    assert_int_equal(report.pairs, 0);
    assert_true(by_node_is(model->graph->node.at[1], "Clip"));
    by_model_free(model);
}

static void test_replace_takes_relu(void **state)
{
    (void)state;
    struct by_cle_report report;
    struct baryon_model *model = mobile_model();
    equalize(model, BY_CLE_REPLACE, &report);
    size_t relus = 0, others = 0;
    for (size_t i = 0; i < model->graph->node.count; i++) {
        relus += by_node_is(model->graph->node.at[i], "Relu");
        others += by_node_is(model->graph->node.at[i], "Clip") ||
                  by_node_is(model->graph->node.at[i], "Min");
    }
    assert_int_equal(relus, 2);
    assert_int_equal(others, 0);
    by_model_free(model);
}

static void test_groups_transposes_and_gemm(void **state)
{
    (void)state;
    struct by_cle_report report;
    struct baryon_model *model = mixed_model();
    check_same(model, BY_CLE_EXACT, &report);
    assert_int_equal(report.pairs, 2);
    assert_true(imbalance(model) < 1.01);
    by_model_free(model);
}

static void test_output_between_is_left_alone(void **state)
{
    (void)state;
    struct by_cle_report report;
    struct baryon_model *model = seen_model();
    check_same(model, BY_CLE_EXACT, &report);
    assert_int_equal(report.pairs, 0);
    by_model_free(model);
}

static void test_float_neighbours_are_left_alone(void **state)
{
    (void)state;
    struct by_cle_report report;
    struct by_quant_plan plan;
    struct baryon_model *model = pair_model(NULL);
    open_plan(&plan, model);
    plan.nodes[0].state = BY_NODE_FLOAT;
    assert_ok(by_cle_survey(&plan, &report, &err));
    assert_int_equal(report.pairs, 0);
    by_model_free(model);
}

/* Bits that the channels of the stem's weights lose to the greatest one. */
static double stem_spread(struct baryon_model *model)
{
    struct by_quant_plan plan;
    struct by_cle_report report;
    open_plan(&plan, model);
    assert_ok(by_cle_survey(&plan, &report, &err));
    return report.stem_spread;
}

static void test_stem(void **state)
{
    (void)state;
    struct by_cle_report report;
    struct baryon_model *model = stem_model();
    recipe.cle_stem = true;
    const double before = stem_spread(model);
    check_same(model, BY_CLE_EXACT, &report);
    assert_int_equal(report.stems, 1);
    assert_int_equal(report.pairs, 0);
    assert_true(stem_spread(model) < before - 0.5);
    recipe.cle_stem = false;
    by_model_free(model);
}

static void test_stem_that_others_read(void **state)
{
    (void)state;
    struct by_cle_report report;
    struct baryon_model *model = stem_model();
    recipe.cle_stem = true;
    assert_ok(by_graph_add_output(by_graph_value(model->graph, "q"), NULL, &err));
    check_same(model, BY_CLE_EXACT, &report);
    assert_int_equal(report.stems, 0);
    recipe.cle_stem = false;
    by_model_free(model);
}

static void test_stem_not_asked_for(void **state)
{
    (void)state;
    struct by_cle_report report;
    struct baryon_model *model = stem_model();
    check_same(model, BY_CLE_EXACT, &report);
    assert_int_equal(report.stems, 0);
    by_model_free(model);
}

static void test_no_limits_are_left(void **state)
{
    (void)state;
    struct by_cle_report report;
    struct baryon_model *model = mobile_model();
    equalize(model, BY_CLE_EXACT, &report);
    for (size_t i = 0; i < model->graph->all_values.count; i++) {
        const struct baryon_value *value = model->graph->all_values.at[i];
        assert_false(value && value->initializer && !value->use_count);
    }
    by_model_free(model);
}

/* --- Bounds --- */

#define CHANNELS 6

/* Statistics of what is between: as far as each channel reaches. */
static struct by_stats *stats_of(const float *reach)
{
    static const struct by_target targets[] = {{"p", BY_ELEM_FLOAT, 1, false},
                                               {"q", BY_ELEM_FLOAT, 1, false},
                                               {"r", BY_ELEM_FLOAT, 1, false}};
    struct by_stats *stats;
    assert_ok(by_stats_open(&stats, &err));
    assert_ok(by_stats_set_targets(stats, targets, 3, &err));
    for (size_t i = 0; i < 3; i++) {
        struct by_tensor_stats *tensor = &stats->tensors[i];
        by_tensor_stats_shape(tensor, (int64_t[]){1, CHANNELS}, 2);
        assert_ok(by_channels_init(&tensor->channels, CHANNELS, &err));
        assert_ok(by_channels_look(
            &tensor->channels,
            &(struct by_channel_values){.at = reach, .elem = BY_ELEM_FLOAT, 1, CHANNELS, 1}, NULL,
            &err));
    }
    return stats;
}

/* By how much each channel of the first layer is divided, told by its bias. */
static size_t find_scales(const float *bias, const float *reach, double range, double *scales)
{
    struct by_cle_report report;
    struct by_quant_plan plan;
    struct by_span bytes;
    float after[CHANNELS];
    bool replaced;
    size_t held;
    const struct by_cle_options options = {.mode = BY_CLE_EXACT, .range = range};
    struct baryon_model *model = pair_model(bias);
    struct by_stats *stats = reach ? stats_of(reach) : NULL;
    open_plan(&plan, model);
    assert_ok(by_cle_held(&plan, stats, &options, &held, &err));
    assert_ok(by_cle_run(&plan, stats, &options, &report, &replaced, &err));
    assert_ok(by_model_settle(model, &err));
    const struct baryon_tensor *tensor = by_graph_value(model->graph, "b1")->initializer;
    assert_ok(by_tensor_bytes(tensor, &model->arena, &bytes, &err));
    memcpy(after, bytes.data, sizeof after);
    for (size_t i = 0; i < CHANNELS; i++)
        scales[i] = (double)bias[i] / (double)after[i];
    by_stats_close(stats);
    by_model_free(model);
    return held;
}

/* No channel becomes greater than the greatest one is: neither where the next layer reads it, nor
 * in a bias that has a scale of its own. Channel 0 is bound by the one, 4 by the other. */
static void test_two_bounds_on_one_link(void **state)
{
    static const float bias[CHANNELS] = {0.1f, 0.1f, 0.1f, 0.1f, 2, 0.1f};
    static const float reach[CHANNELS] = {-4, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f};
    double scales[CHANNELS];
    (void)state;
    assert_int_equal(find_scales(bias, NULL, 1, scales), 0);
    assert_true(scales[0] < 0.9 && scales[4] < 0.9);
    recipe.bias_kind = BY_BIAS_OWN;
    assert_int_equal(find_scales(bias, reach, 1, scales), 2);
    assert_true(fabs(scales[0] - 1) < 1e-6 && fabs(scales[4] - 1) < 1e-6);
    assert_true(scales[2] < 0.9 && scales[5] > 1);
    recipe.bias_kind = BY_BIAS_PRODUCT; /* whose scale follows the weights */
    assert_int_equal(find_scales(bias, reach, 1, scales), 1);
    assert_true(fabs(scales[0] - 1) < 1e-6 && scales[4] < 0.9);
    recipe.bias_kind = BY_BIAS_FLOAT;
}

/* Channel 0 comes as far as the factor lets it, or as its weights do. */
static void test_channels_reach_beyond_the_range(void **state)
{
    static const float bias[CHANNELS] = {0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f};
    static const float reach[CHANNELS] = {-4, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f};
    double scales[CHANNELS];
    (void)state;
    assert_int_equal(find_scales(bias, reach, 1.05, scales), 1);
    assert_true(fabs(scales[0] * 1.05 - 1) < 1e-6);
    assert_int_equal(find_scales(bias, reach, 1e6, scales), 0);
    assert_true(scales[0] < 0.9);
    assert_int_equal(find_scales(bias, reach, 0, scales), 0); /* any */
    assert_true(scales[0] < 0.9);
}

static void test_spread_of_channels(void **state)
{
    (void)state;
    assert_true(fabs(by_cle_spread((double[]){8, 4, 1, 0}, 4) - 4 / 3.0) < 1e-12);
    assert_true(by_cle_spread((double[]){8, 8}, 2) == 0);
    assert_true(by_cle_spread((double[]){0, 0}, 2) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pair),
        cmocka_unit_test(test_depthwise_and_relu6),
        cmocka_unit_test(test_keep_leaves_relu6),
        cmocka_unit_test(test_replace_takes_relu),
        cmocka_unit_test(test_groups_transposes_and_gemm),
        cmocka_unit_test(test_output_between_is_left_alone),
        cmocka_unit_test(test_float_neighbours_are_left_alone),
        cmocka_unit_test(test_stem),
        cmocka_unit_test(test_stem_that_others_read),
        cmocka_unit_test(test_stem_not_asked_for),
        cmocka_unit_test(test_no_limits_are_left),
        cmocka_unit_test(test_two_bounds_on_one_link),
        cmocka_unit_test(test_channels_reach_beyond_the_range),
        cmocka_unit_test(test_spread_of_channels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
