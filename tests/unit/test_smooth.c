/* Smoothing: the model computes the same, peaks of channels are in the weights. */
#include "lines_build.h"

#include "adjust/smooth.h"
#include "quant/place.h"

/* --- Models --- */

/* Two products after a norm that read the same tensor. */
static struct baryon_model *norm_model(void)
{
    struct baryon_model *model = model_of(
        "2,3,6", LINES({"norm", "LayerNormalization", "x,g,b", "t"}, {"q", "MatMul", "t,wq", "a"},
                       {"k", "MatMul", "t,wk", "c"}, {"sum", "Add", "a,c", "y"}));
    put_random(model, "g", "6");
    put_random(model, "b", "6");
    put_random(model, "wq", "6,4");
    put_random(model, "wk", "6,4");
    return model;
}

/* A norm written out, a Gemm with turned weights after it. */
static struct baryon_model *written_norm_model(void)
{
    struct baryon_model *model =
        model_of("4,6", LINES({"mean", "ReduceMean", "x,last", "m"}, {"sub", "Sub", "x,m", "d"},
                              {"pow", "Pow", "d,two", "p"}, {"var", "ReduceMean", "p,last", "v"},
                              {"eps", "Add", "v,small", "e"}, {"root", "Sqrt", "e", "r"},
                              {"div", "Div", "d,r", "n"}, {"scale", "Mul", "n,g", "s"},
                              {"shift", "Add", "s,b", "t"}, {"fc", "Gemm", "t,w,c", "y"}));
    put_number(model, "two", 2);
    put_number(model, "small", 1e-5f);
    SHAPED(model, "last", -1);
    put_random(model, "g", "6");
    put_random(model, "b", "6");
    put_random(model, "w", "5,6");
    put_random(model, "c", "5");
    assert_ok(by_model_link(model, &err));
    assert_ok(by_node_set_int(node_of(model, "fc"), "transB", 1, &err));
    return model;
}

/* P V of two heads between the value and the output projection. */
static struct baryon_model *heads_model(void)
{
    struct baryon_model *model = model_of(
        "2,4,6", LINES({"value", "MatMul", "x,wv", "a"}, {"bias", "Add", "bv,a", "c"},
                       {"split", "Reshape", "c,heads", "d"}, {"turn", "Transpose", "d", "v"},
                       {"mix", "MatMul", "p,v", "o"}, {"back", "Transpose", "o", "f"},
                       {"join", "Reshape", "f,all", "t"}, {"out", "MatMul", "t,wo", "y"}));
    put_random(model, "wv", "6,6");
    put_random(model, "bv", "6");
    put_random(model, "p", "2,2,4,4");
    put_random(model, "wo", "6,5");
    SHAPED(model, "heads", 0, 0, 2, 3);
    SHAPED(model, "all", 0, 0, 6);
    assert_ok(by_model_link(model, &err));
    for (size_t i = 0; i < 2; i++)
        assert_ok(by_node_set_ints(node_of(model, i ? "turn" : "back"), "perm",
                                   (int64_t[]){0, 2, 1, 3}, 4, &err));
    return model;
}

/* Q, K and V side by side, taken apart by Gather; nothing else than V has factors. */
static struct baryon_model *packed_model(void)
{
    struct baryon_model *model =
        model_of("2,4,6", LINES({"qkv", "MatMul", "x,w", "a"}, {"split", "Reshape", "a,parts", "c"},
                                {"turn", "Transpose", "c", "d"}, {"q", "Gather", "d,i0", "e"},
                                {"k", "Gather", "d,i1", "f"}, {"v", "Gather", "d,i2", "g"},
                                {"flip", "Transpose", "f", "h"}, {"qk", "MatMul", "e,h", "l"},
                                {"soft", "Softmax", "l", "p"}, {"mix", "MatMul", "p,g", "o"},
                                {"back", "Transpose", "o", "j"}, {"join", "Reshape", "j,all", "t"},
                                {"out", "MatMul", "t,wo", "y"}));
    put_random(model, "w", "6,18");
    put_random(model, "wo", "6,5");
    SHAPED(model, "parts", 2, 4, 3, 2, 3);
    SHAPED(model, "all", 2, 4, 6);
    for (int64_t i = 0; i < 3; i++) {
        const char *names[] = {"i0", "i1", "i2"};
        put_weight(model, names[i], BY_ELEM_INT64, NULL, 0, &i, sizeof i);
    }
    assert_ok(by_model_link(model, &err));
    assert_ok(
        by_node_set_ints(node_of(model, "turn"), "perm", (int64_t[]){2, 0, 3, 1, 4}, 5, &err));
    assert_ok(by_node_set_ints(node_of(model, "flip"), "perm", (int64_t[]){0, 1, 3, 2}, 4, &err));
    assert_ok(by_node_set_ints(node_of(model, "back"), "perm", (int64_t[]){0, 2, 1, 3}, 4, &err));
    return model;
}

/* A gated unit: its gate cannot scale, the other branch can. */
static struct baryon_model *gate_model(void)
{
    struct baryon_model *model =
        model_of("3,6", LINES({"gate", "Gemm", "x,wg", "a"}, {"up", "Gemm", "x,wu,bu", "b"},
                              {"act", "Sigmoid", "a", "c"}, {"silu", "Mul", "a,c", "d"},
                              {"unit", "Mul", "b,d", "t"}, {"down", "MatMul", "t,wd", "y"}));
    put_random(model, "wg", "6,5");
    put_random(model, "wu", "6,5");
    put_random(model, "bu", "5");
    put_random(model, "wd", "5,4");
    return model;
}

/* A number that all channels share becomes one for each. */
static struct baryon_model *half_model(void)
{
    struct baryon_model *model =
        model_of("3,6", LINES({"act", "Erf", "x", "a"}, {"half", "Mul", "a,number", "t"},
                              {"down", "MatMul", "t,wd", "y"}));
    put_number(model, "number", 0.5f);
    put_random(model, "wd", "6,4");
    return model;
}

/* Parts of a product: only the first one has factors. */
static struct baryon_model *slice_model(void)
{
    struct baryon_model *model =
        model_of("3,6", LINES({"both", "MatMul", "x,w", "a"}, {"one", "Slice", "a,s0,s4,axis", "t"},
                              {"two", "Slice", "a,s4,s8,axis", "b"},
                              {"down", "MatMul", "t,wd", "c"}, {"sum", "Add", "c,b", "y"}));
    put_random(model, "w", "6,8");
    put_random(model, "wd", "4,4");
    SHAPED(model, "s0", 0);
    SHAPED(model, "s4", 4);
    SHAPED(model, "s8", 8);
    SHAPED(model, "axis", 1);
    return model;
}

/* Conv -> BatchNormalization -> Relu -> Conv. */
static struct baryon_model *conv_model(void)
{
    struct baryon_model *model =
        model_of("1,3,6,6", LINES({"one", "Conv", "x,w1", "a"},
                                  {"norm", "BatchNormalization", "a,g,b,m,v", "c"},
                                  {"act", "Relu", "c", "t"}, {"two", "Conv", "t,w2", "y"}));
    put_random(model, "w1", "5,3,3,3");
    put_random(model, "g", "5");
    put_random(model, "b", "5");
    put_random(model, "m", "5");
    put_floats(model, "v", "5", 2);
    put_random(model, "w2", "4,5,3,3");
    return model;
}

static struct baryon_model *microsoft(struct baryon_model *model, const char *const *names)
{
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_set_opset(model, "com.microsoft", 1, &err));
    for (; *names; names++)
        node_of(model, *names)->domain = "com.microsoft";
    return model;
}

/* SkipLayerNormalization -> FusedMatMul, Attention -> MatMul. */
static struct baryon_model *fused_model(void)
{
    struct baryon_model *model = model_of(
        "1,4,6", LINES({"att", "Attention", "x,wa,ba", "u"}, {"out", "MatMul", "u,wo", "v"},
                       {"norm", "SkipLayerNormalization", "v,x,g,b", "t"},
                       {"fc", "FusedMatMul", "t,w", "y"}));
    put_random(model, "wa", "6,18");
    put_random(model, "ba", "18");
    put_random(model, "wo", "6,6");
    put_random(model, "g", "6");
    put_random(model, "b", "6");
    put_random(model, "w", "5,6");
    microsoft(model, (const char *const[]){"att", "norm", "fc", NULL});
    assert_ok(by_node_set_int(node_of(model, "att"), "num_heads", 2, &err));
    assert_ok(by_node_set_int(node_of(model, "fc"), "transB", 1, &err));
    return model;
}

/* --- Smoothing --- */

/* 2^(5c mod 9 - 4); channel `dead` is zero. */
static float peak_of(size_t channel, size_t dead)
{
    return channel == dead ? 0 : exp2f((float)(5 * channel % 9) - 4);
}

static void smooth(struct baryon_model *model, double alpha, bool multiplies, size_t dead,
                   struct by_smooth_report *report)
{
    struct by_quant_plan *plan = open_plan(model);
    struct by_stats *stats = uneven_stats(plan, peak_of, dead);
    const struct by_smooth_options options = {.alpha = alpha, .multiplies = multiplies};
    assert_ok(by_smooth_run(plan, stats, &options, report, &err));
    by_stats_close(stats);
    by_quant_plan_close(plan);
    assert_ok(by_model_settle(model, &err));
    assert_ok(by_graph_verify(model, &err));
}

#define NONE_DEAD SIZE_MAX

static struct by_smooth_report check_same(struct baryon_model *model, bool multiplies, size_t dead)
{
    static float before[OUTPUTS], after[OUTPUTS];
    struct by_smooth_report report;
    const size_t count = run_model(model, before);
    smooth(model, 0.5, multiplies, dead, &report);
    assert_int_equal(run_model(model, after), count);
    assert_true(error_of(before, after, count) < 1e-5);
    return report;
}

/* --- Folding --- */

static const struct {
    struct baryon_model *(*make)(void);
    size_t folded, left;
    const char *moved; /* a constant that takes the factors */
} cases[] = {
    {norm_model, 1, 0, "g"},   {written_norm_model, 1, 0, "b"}, {heads_model, 1, 1, "bv"},
    {packed_model, 1, 1, "w"}, {gate_model, 1, 1, "bu"},        {slice_model, 1, 1, "w"},
    {conv_model, 1, 1, "g"},   {half_model, 1, 0, "wd"},        {fused_model, 2, 1, "ba"},
};

static void test_factors_are_folded(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float before[PUT_MOST], after[PUT_MOST];
        struct baryon_model *model = cases[i].make();
        const size_t nodes = model->graph->node.count;
        assert_ok(by_model_link(model, &err));
        const size_t count = read_weight(model, cases[i].moved, before);
        const struct by_smooth_report report = check_same(model, false, NONE_DEAD);
        assert_int_equal(report.folded, cases[i].folded);
        assert_int_equal(report.left, cases[i].left);
        assert_int_equal(report.multiplied, 0);
        assert_int_equal(model->graph->node.count, nodes);
        assert_int_equal(read_weight(model, cases[i].moved, after), count);
        assert_true(memcmp(before, after, count * sizeof *before) != 0);
        by_model_free(model);
    }
}

/* s = peak^a / weight^(1-a) around a geometric mean of 1: scale and weights of the norm. */
static void test_factors_are_those_of_alpha(void **state)
{
    (void)state;
    struct by_smooth_report report;
    float g[6], wq[24], wk[24], after[6];
    double factors[6], mean = 0;
    struct baryon_model *model = norm_model();
    assert_ok(by_model_link(model, &err));
    read_weight(model, "g", g);
    read_weight(model, "wq", wq);
    read_weight(model, "wk", wk);
    smooth(model, 0.75, false, NONE_DEAD, &report);
    read_weight(model, "g", after);
    for (size_t c = 0; c < 6; c++) {
        double reach = 0;
        for (size_t k = 0; k < 4; k++)
            reach = fmax(reach, fmax(fabs((double)wq[4 * c + k]), fabs((double)wk[4 * c + k])));
        factors[c] = 0.75 * log(exp2((double)(5 * c % 9) - 4)) - 0.25 * log(reach);
        mean += factors[c] / 6;
    }
    for (size_t c = 0; c < 6; c++)
        assert_true(fabs((double)(g[c] / after[c]) / exp(factors[c] - mean) - 1) < 1e-5);
    by_model_free(model);
}

static void test_dead_channels_stay(void **state)
{
    (void)state;
    float before[6], after[6];
    struct baryon_model *model = norm_model();
    assert_ok(by_model_link(model, &err));
    read_weight(model, "g", before);
    assert_int_equal(check_same(model, false, 2).folded, 1);
    read_weight(model, "g", after);
    for (size_t c = 0; c < 6; c++)
        assert_int_equal(before[c] == after[c], c == 2);
    by_model_free(model);
}

/* Alpha by predicted noise: peaks of channels make one step too large for all others. */
static void test_auto_predicts_a_gain(void **state)
{
    (void)state;
    struct by_smooth_report report;
    struct baryon_model *model = norm_model();
    smooth(model, BY_SMOOTH_AUTO, false, NONE_DEAD, &report);
    assert_int_equal(report.folded, 1);
    assert_true(report.decibels > 1);
    by_model_free(model);
}

/* --- What stays --- */

/* Its residual reads the tensor, too. */
static struct baryon_model *residual_model(void)
{
    struct baryon_model *model =
        model_of("3,6", LINES({"norm", "LayerNormalization", "x,g,b", "t"},
                              {"fc", "MatMul", "t,w", "a"}, {"sum", "Add", "a,t", "y"}));
    put_random(model, "g", "6");
    put_random(model, "b", "6");
    put_random(model, "w", "6,6");
    return model;
}

/* A sum of two tensors before the layer. */
static struct baryon_model *join_model(void)
{
    struct baryon_model *model =
        model_of("3,6", LINES({"act", "Relu", "x", "a"}, {"sum", "Add", "a,x", "t"},
                              {"fc", "MatMul", "t,w", "y"}));
    put_random(model, "w", "6,4");
    return model;
}

static struct baryon_model *output_model(void)
{
    struct baryon_model *model = norm_model();
    gives(model, "t", BY_ELEM_FLOAT, NULL);
    return model;
}

static struct baryon_model *shared_weight_model(void)
{
    struct baryon_model *model =
        model_of("3,6", LINES({"norm", "LayerNormalization", "x,g,b", "t"},
                              {"fc", "MatMul", "t,w", "a"}, {"other", "MatMul", "a,w", "y"}));
    put_random(model, "g", "6");
    put_random(model, "b", "6");
    put_random(model, "w", "6,6");
    return model;
}

static struct baryon_model *shared_norm_model(void)
{
    struct baryon_model *model =
        model_of("3,6", LINES({"norm", "LayerNormalization", "x,g,b", "t"},
                              {"fc", "MatMul", "t,w", "a"}, {"other", "Mul", "a,g", "y"}));
    put_random(model, "g", "6");
    put_random(model, "b", "6");
    put_random(model, "w", "6,6");
    return model;
}

/* One number for all channels is added. */
static struct baryon_model *broadcast_model(void)
{
    struct baryon_model *model =
        model_of("3,6", LINES({"one", "MatMul", "x,v", "a"}, {"shift", "Add", "a,number", "t"},
                              {"fc", "MatMul", "t,w", "y"}));
    put_random(model, "v", "6,5");
    put_number(model, "number", 0.5f);
    put_random(model, "w", "5,4");
    return model;
}

static struct baryon_model *infinite_model(void)
{
    float mask[5] = {0, 1, 2, -INFINITY, 3};
    struct baryon_model *model =
        model_of("3,6", LINES({"one", "MatMul", "x,v", "a"}, {"shift", "Add", "a,mask", "m"},
                              {"act", "Relu", "m", "t"}, {"fc", "MatMul", "t,w", "y"}));
    put_random(model, "v", "6,5");
    put_values(model, "mask", "5", mask);
    put_random(model, "w", "5,4");
    return model;
}

/* Nothing scales after the division. */
static struct baryon_model *plain_norm_model(void)
{
    struct baryon_model *model =
        model_of("3,6", LINES({"square", "Mul", "x,x", "a"}, {"mean", "ReduceMean", "a,last", "m"},
                              {"eps", "Add", "m,small", "e"}, {"root", "Sqrt", "e", "r"},
                              {"div", "Div", "x,r", "t"}, {"fc", "MatMul", "t,w", "y"}));
    put_number(model, "small", 1);
    SHAPED(model, "last", -1);
    put_random(model, "w", "6,4");
    return model;
}

/* A norm in float16 before the layer. */
static struct baryon_model *half_float_model(void)
{
    const uint16_t one = 0x3c00, values[6] = {one, one, one, one, one, one};
    const int64_t six = 6;
    struct baryon_model *model =
        model_of("3,6", LINES({"down", "Cast", "x", "h"}, {"scale", "Mul", "h,g", "s"},
                              {"up", "Cast", "s", "t"}, {"fc", "MatMul", "t,w", "y"}));
    put_weight(model, "g", BY_ELEM_FLOAT16, &six, 1, values, sizeof values);
    put_random(model, "w", "6,4");
    assert_ok(by_model_link(model, &err));
    assert_ok(by_node_set_int(node_of(model, "down"), "to", BY_ELEM_FLOAT16, &err));
    assert_ok(by_node_set_int(node_of(model, "up"), "to", BY_ELEM_FLOAT, &err));
    return model;
}

static const struct {
    struct baryon_model *(*make)(void);
    bool weight; /* it is the layer's: no Mul helps */
} alone[] = {
    {residual_model, false},     {join_model, false},        {output_model, false},
    {shared_weight_model, true}, {shared_norm_model, false}, {broadcast_model, false},
    {infinite_model, false},     {plain_norm_model, false},  {half_float_model, false},
};

static void test_what_cannot_fold_is_left(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++) {
        float before[PUT_MOST], after[PUT_MOST];
        struct baryon_model *model = alone[i].make();
        const char *weight =
            by_model_link(model, &err) == 0 && by_graph_value(model->graph, "wq") ? "wq" : "w";
        const size_t count = read_weight(model, weight, before);
        const struct by_smooth_report report = check_same(model, false, NONE_DEAD);
        assert_int_equal(report.folded, 0);
        assert_true(report.left > 0);
        read_weight(model, weight, after);
        assert_memory_equal(before, after, count * sizeof *before);
        by_model_free(model);
    }
}

static size_t count_muls(const struct baryon_model *model)
{
    size_t count = 0;
    for (size_t i = 0; i < model->graph->node.count; i++)
        count += by_place_reads_floats(model->graph->node.at[i]);
    return count;
}

static void test_a_mul_takes_what_cannot_fold(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++) {
        struct baryon_model *model = alone[i].make();
        const struct by_smooth_report report = check_same(model, true, NONE_DEAD);
        assert_int_equal(report.multiplied > 0, !alone[i].weight);
        assert_int_equal(count_muls(model), report.multiplied);
        assert_int_equal(report.products > 0, report.multiplied > 0);
        by_model_free(model);
    }
}

/* All layers of a tensor read one Mul. */
static void test_layers_share_a_mul(void **state)
{
    (void)state;
    struct baryon_model *model = output_model();
    assert_int_equal(check_same(model, true, NONE_DEAD).multiplied, 1);
    assert_int_equal(count_muls(model), 1);
    assert_ptr_equal(by_node_in(node_of(model, "q"), 0), by_node_in(node_of(model, "k"), 0));
    by_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_factors_are_folded),
        cmocka_unit_test(test_factors_are_those_of_alpha),
        cmocka_unit_test(test_dead_channels_stay),
        cmocka_unit_test(test_auto_predicts_a_gain),
        cmocka_unit_test(test_what_cannot_fold_is_left),
        cmocka_unit_test(test_a_mul_takes_what_cannot_fold),
        cmocka_unit_test(test_layers_share_a_mul),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
