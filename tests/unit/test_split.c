/* Splitting of outliers: the model computes the same, and what its layers read has none. */
#include "lines_build.h"

#include "adjust/split.h"
#include "quant/place.h"

/* --- Models --- */

/* Two products after a norm that read the same tensor; another node reads it, too. */
static struct baryon_model *shared_tensor_model(void)
{
    struct baryon_model *model = model_of(
        "2,3,32", LINES({"norm", "LayerNormalization", "x,g,b", "t"}, {"q", "MatMul", "t,wq", "a"},
                        {"k", "MatMul", "t,wk", "c"}, {"sum", "Add", "a,c", "d"},
                        {"mean", "ReduceMean", "t", "m"}, {"residual", "Add", "d,m", "y"}));
    put_random(model, "g", "32");
    put_random(model, "b", "32");
    put_random(model, "wq", "32,6");
    put_random(model, "wk", "32,6");
    return model;
}

/* y = 0.5 x w^T + 2 c is the model's output. */
static struct baryon_model *gemm_model(void)
{
    struct baryon_model *model = model_of("4,32", LINES({"fc", "Gemm", "x,w,c", "y"}));
    put_random(model, "w", "5,32");
    put_random(model, "c", "5");
    assert_ok(by_model_link(model, &err));
    assert_ok(by_node_set_int(node_of(model, "fc"), "transB", 1, &err));
    assert_ok(by_node_set_float(node_of(model, "fc"), "alpha", 0.5f, &err));
    assert_ok(by_node_set_float(node_of(model, "fc"), "beta", 2, &err));
    return model;
}

/* What is split is an output of the model, and so is what the layer gives. */
static struct baryon_model *outputs_model(void)
{
    struct baryon_model *model =
        model_of("3,32", LINES({"act", "Relu", "x", "t"}, {"fc", "MatMul", "t,w", "u"},
                               {"end", "Relu", "u", "y"}));
    put_random(model, "w", "32,5");
    gives(model, "t", BY_ELEM_FLOAT, NULL);
    gives(model, "u", BY_ELEM_FLOAT, NULL);
    return model;
}

static struct baryon_model *plain_model(void)
{
    struct baryon_model *model =
        model_of("3,32", LINES({"act", "Relu", "x", "t"}, {"fc", "MatMul", "t,w", "y"}));
    put_random(model, "w", "32,5");
    return model;
}

static struct baryon_model *shared_weight_model(void)
{
    struct baryon_model *model =
        model_of("3,32", LINES({"fc", "MatMul", "x,w", "a"}, {"act", "Relu", "x", "r"},
                               {"other", "MatMul", "r,w", "b"}, {"sum", "Add", "a,b", "y"}));
    put_random(model, "w", "32,5");
    return model;
}

static struct baryon_model *infinite_weight_model(void)
{
    float w[32] = {0, 1, 2, -INFINITY, 3, 4};
    struct baryon_model *model = model_of("3,32", LINES({"fc", "MatMul", "x,w", "y"}));
    put_values(model, "w", "32,1", w);
    return model;
}

/* Its weights are float16. */
static struct baryon_model *half_model(void)
{
    uint16_t w[64];
    const int64_t dims[] = {32, 2};
    struct baryon_model *model =
        model_of("3,32", LINES({"down", "Cast", "x", "h"}, {"fc", "MatMul", "h,w", "u"},
                               {"up", "Cast", "u", "y"}));
    for (size_t i = 0; i < 64; i++)
        w[i] = 0x3c00;
    put_weight(model, "w", BY_ELEM_FLOAT16, dims, 2, w, sizeof w);
    assert_ok(by_model_link(model, &err));
    assert_ok(by_node_set_int(node_of(model, "down"), "to", BY_ELEM_FLOAT16, &err));
    assert_ok(by_node_set_int(node_of(model, "up"), "to", BY_ELEM_FLOAT, &err));
    return model;
}

static struct baryon_model *fused_model(void)
{
    struct baryon_model *model = model_of("3,32", LINES({"fc", "FusedMatMul", "x,w", "y"}));
    put_random(model, "w", "32,5");
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_set_opset(model, "com.microsoft", 1, &err));
    node_of(model, "fc")->domain = "com.microsoft";
    return model;
}

/* --- Splitting --- */

/* One channel is far above the others. */
static float with_outlier(size_t channel, size_t outlier)
{
    return channel == outlier ? 100 : 1;
}

static float with_dead_ones(size_t channel, size_t outlier)
{
    return channel == outlier ? 100 : channel % 2 ? 0 : 1;
}

static float even(size_t channel, size_t context)
{
    (void)channel;
    (void)context;
    return 1;
}

typedef float peaks_fn(size_t channel, size_t context);

static struct by_split_report split(struct baryon_model *model, peaks_fn *peaks, bool infinite)
{
    struct by_split_report report, survey;
    struct by_quant_plan *plan = open_plan(model);
    struct by_stats *stats = uneven_stats(plan, peaks, 2);
    for (size_t i = 0; i < stats->tensor_count; i++)
        stats->tensors[i].sketch.infinities = infinite;
    assert_ok(by_split_survey(plan, stats, NULL, &survey, &err));
    assert_ok(by_split_run(plan, stats, &report, &err));
    assert_memory_equal(&survey, &report, sizeof report);
    by_stats_close(stats);
    by_quant_plan_close(plan);
    assert_ok(by_model_settle(model, &err));
    assert_ok(by_graph_verify(model, &err));
    return report;
}

static struct by_split_report check_same(struct baryon_model *model, peaks_fn *peaks)
{
    static float before[OUTPUTS], after[OUTPUTS];
    const size_t count = run_model(model, before);
    const struct by_split_report report = split(model, peaks, false);
    assert_int_equal(run_model(model, after), count);
    assert_true(error_of(before, after, count) < 1e-5);
    return report;
}

static size_t count_added(const struct baryon_model *model, const char *op_type)
{
    size_t count = 0;
    for (size_t i = 0; i < model->graph->node.count; i++) {
        const struct baryon_node *node = model->graph->node.at[i];
        count += by_node_is(node, op_type) && !strncmp(node->name, "outlier_", 8);
    }
    return count;
}

/* --- What is split --- */

static const struct {
    struct baryon_model *(*make)(void);
    size_t layers;
    const char *weight, *sum; /* the layer's, and the name of what it gave */
} cases[] = {
    {shared_tensor_model, 2, "wk", "c"},
    {gemm_model, 1, "w", "y"},
    {outputs_model, 1, "w", "u"},
    {plain_model, 1, "w", "y"},
};

static void test_outputs_stay_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct baryon_model *model = cases[i].make();
        const struct by_split_report report = check_same(model, with_outlier);
        assert_int_equal(report.tensors, 1);
        assert_int_equal(report.channels, 1);
        assert_int_equal(report.left, 0);
        assert_true(report.decibels > 20);
        assert_true(fabs(report.share - 1.0 / 32) < 1e-9);
        assert_int_equal(count_added(model, "Mul"), 1);
        assert_int_equal(count_added(model, "Gather"), 1);
        assert_int_equal(count_added(model, "MatMul"), cases[i].layers);
        assert_int_equal(count_added(model, "Add"), cases[i].layers);
        by_model_free(model);
    }
}

/* The sum bears the name, so that reports compare what is the same in both models. */
static void test_names_keep_their_meaning(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct baryon_model *model = cases[i].make();
        check_same(model, with_outlier);
        const struct baryon_value *sum = by_graph_value(model->graph, cases[i].sum);
        assert_non_null(sum);
        assert_true(by_node_is(sum->producer, "Add"));
        assert_true(strncmp(sum->producer->name, "outlier_add", 11) == 0);
        by_model_free(model);
    }
}

/* Rows of split channels decide no scale of the weight. */
static void test_rows_leave_the_weight(void **state)
{
    (void)state;
    float before[PUT_MOST], after[PUT_MOST];
    struct baryon_model *model = plain_model();
    assert_ok(by_model_link(model, &err));
    const size_t count = read_weight(model, "w", before);
    check_same(model, with_outlier);
    assert_int_equal(read_weight(model, "w", after), count);
    for (size_t i = 0; i < count; i++)
        assert_true(after[i] == (i / 5 == 2 ? 0 : before[i]));
    by_model_free(model);
}

static void test_dead_channels_stay(void **state)
{
    (void)state;
    struct baryon_model *model = plain_model();
    const struct by_split_report report = check_same(model, with_dead_ones);
    assert_int_equal(report.channels, 1);
    by_model_free(model);
}

/* What is added stays float, and reads floats where it must not read integers. */
static void test_added_nodes_read_floats(void **state)
{
    (void)state;
    size_t reads = 0;
    struct baryon_model *model = shared_tensor_model();
    check_same(model, with_outlier);
    for (size_t i = 0; i < model->graph->node.count; i++)
        reads += by_place_reads_floats(model->graph->node.at[i]);
    assert_int_equal(reads, 2);
    by_model_free(model);
}

/* --- What stays --- */

static struct baryon_model *(*const alone[])(void) = {
    shared_weight_model,
    infinite_weight_model,
    half_model,
    fused_model,
};

static void test_what_cannot_be_split_is_left(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++) {
        struct baryon_model *model = alone[i]();
        const size_t nodes = model->graph->node.count;
        const struct by_split_report report = split(model, with_outlier, false);
        assert_int_equal(report.tensors, 0);
        assert_true(report.left > 0);
        assert_true(report.share == 0);
        assert_int_equal(model->graph->node.count, nodes);
        by_model_free(model);
    }
}

static void test_even_channels_stay_together(void **state)
{
    (void)state;
    struct baryon_model *model = plain_model();
    const struct by_split_report report = check_same(model, even);
    assert_int_equal(report.tensors, 0);
    assert_int_equal(report.left, 1);
    by_model_free(model);
}

/* Zero times infinity is no zero. */
/* A channel of few is no small share. */
static void test_few_channels_stay_together(void **state)
{
    (void)state;
    struct baryon_model *model = model_of("3,31", LINES({"fc", "MatMul", "x,w", "y"}));
    put_random(model, "w", "31,5");
    const struct by_split_report report = check_same(model, with_outlier);
    assert_int_equal(report.matrices, 0);
    assert_int_equal(report.tensors, 0);
    assert_int_equal(report.left, 1);
    by_model_free(model);
}

/* Without statistics it is known what could be split, not what is. */
static void test_it_counts_without_statistics(void **state)
{
    (void)state;
    struct by_split_report report;
    struct baryon_model *model = plain_model();
    struct by_quant_plan *plan = open_plan(model);
    assert_ok(by_split_survey(plan, NULL, NULL, &report, &err));
    assert_int_equal(report.matrices, 1);
    assert_int_equal(report.tensors, 0);
    by_quant_plan_close(plan);
    by_model_free(model);
}

static void test_infinities_stay(void **state)
{
    (void)state;
    struct baryon_model *model = plain_model();
    const struct by_split_report report = split(model, with_outlier, true);
    assert_int_equal(report.tensors, 0);
    assert_int_equal(report.left, 1);
    by_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outputs_stay_the_same),
        cmocka_unit_test(test_names_keep_their_meaning),
        cmocka_unit_test(test_rows_leave_the_weight),
        cmocka_unit_test(test_dead_channels_stay),
        cmocka_unit_test(test_added_nodes_read_floats),
        cmocka_unit_test(test_what_cannot_be_split_is_left),
        cmocka_unit_test(test_even_channels_stay_together),
        cmocka_unit_test(test_few_channels_stay_together),
        cmocka_unit_test(test_it_counts_without_statistics),
        cmocka_unit_test(test_infinities_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
