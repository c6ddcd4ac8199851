/* Which values are looked at: hidden by fusions or not, and where their channels are. */
#include "engine_build.h"

#include "ir/infer.h"
#include "stats/targets.h"

/* "x:1* y:-1": names and channel axes of what is found, and what layers with weights read. */
static const char *targets_of(struct baryon_model *model, enum by_target_choice choice)
{
    static char text[2048];
    struct by_target *targets;
    size_t count;
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_infer(model, NULL, &err));
    assert_ok(by_targets_find(model->graph, choice, &targets, &count, &err));
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s:%d%s", i ? " " : "", targets[i].name,
                 targets[i].channel_axis, targets[i].feeds ? "*" : "");
    }
    by_free(targets);
    return text;
}

/* Frees the model. */
static void assert_targets(struct baryon_model *model, enum by_target_choice choice,
                           const char *wanted)
{
    assert_string_equal(targets_of(model, choice), wanted);
    by_model_free(model);
}

/* x -> Conv -> c -> more; the weight is 4x2x1x1. */
static struct baryon_model *conv_model(void)
{
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "N,2,4,4");
    put_floats(model, "w", "4,2,1,1", 0);
    put_node(model->graph, "conv", "Conv", "x,w", "c");
    return model;
}

static struct baryon_model *conv_then(const char *op_type, const char *inputs)
{
    struct baryon_model *model = conv_model();
    put_floats(model, "k", "", 0);
    put_floats(model, "v", "4", 0);
    put_node(model->graph, "then", op_type, inputs, "y");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    return model;
}

static void activations_swallow(void **state)
{
    (void)state;
    assert_targets(conv_then("Relu", "c"), BY_TARGETS_SEEN, "x:1* y:1");
    assert_targets(conv_then("LeakyRelu", "c"), BY_TARGETS_SEEN, "x:1* y:1");
    assert_targets(conv_then("Clip", "c,k"), BY_TARGETS_SEEN, "x:1* y:1");
    assert_targets(conv_then("BatchNormalization", "c,v,v,v,v"), BY_TARGETS_SEEN, "x:1* y:1");
    assert_targets(conv_then("Relu", "c"), BY_TARGETS_ALL, "x:1* c:1 y:1");
}

static void other_readers_do_not(void **state)
{
    (void)state;
    assert_targets(conv_then("Sigmoid", "c"), BY_TARGETS_SEEN, "x:1* c:1 y:1");
    assert_targets(conv_then("PRelu", "c,k"), BY_TARGETS_SEEN, "x:1* c:1 y:1");
    assert_targets(conv_then("Mul", "c,k"), BY_TARGETS_SEEN, "x:1* c:1 y:1");
    struct baryon_model *model = conv_model();
    takes(model, "high", BY_ELEM_FLOAT, "");
    put_node(model->graph, "clip", "Clip", "c,,high", "y");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    assert_targets(model, BY_TARGETS_SEEN, "x:1* high:-1 c:1 y:1");
}

static void what_others_read_stays(void **state)
{
    (void)state;
    struct baryon_model *model = conv_then("Relu", "c");
    gives(model, "c", BY_ELEM_FLOAT, NULL);
    assert_targets(model, BY_TARGETS_SEEN, "x:1* c:1 y:1");
    model = conv_then("Relu", "c");
    put_node(model->graph, "too", "Sigmoid", "c", "z");
    gives(model, "z", BY_ELEM_FLOAT, NULL);
    assert_targets(model, BY_TARGETS_SEEN, "x:1* c:1 y:1 z:1");
}

static void what_inner_graphs_read_stays(void **state)
{
    (void)state;
    struct baryon_model *model = conv_then("Relu", "c");
    takes(model, "which", BY_ELEM_BOOL, "");
    struct baryon_node *choose = put_node(model->graph, "if", "If", "which", "z");
    for (int i = 0; i < 2; i++) {
        struct baryon_graph *branch = put_nested(model, choose, i ? "else_branch" : "then_branch");
        put_node(branch, "same", "Identity", "c", i ? "b1" : "b0");
        put_output(branch, i ? "b1" : "b0");
    }
    gives(model, "z", BY_ELEM_FLOAT, NULL);
    assert_targets(model, BY_TARGETS_SEEN, "x:1* c:1 y:1 z:-1");
}

static void normalization_after_normalization(void **state)
{
    (void)state;
    struct baryon_model *model = conv_model();
    put_floats(model, "v", "4", 0);
    put_node(model->graph, "bn", "BatchNormalization", "c,v,v,v,v", "b");
    put_node(model->graph, "add", "Add", "b,x2", "s");
    put_node(model->graph, "relu", "Relu", "s", "y");
    takes(model, "x2", BY_ELEM_FLOAT, "N,4,4,4");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    assert_targets(model, BY_TARGETS_SEEN, "x:1* x2:1 b:1 y:1");
}

static void constants_and_other_types_are_none(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT16, "2");
    takes(model, "n", BY_ELEM_INT64, "2");
    put_floats(model, "w", "2", 0);
    put_node(model->graph, "exp", "Exp", "w", "e");
    put_node(model->graph, "cast", "Cast", "e", "h");
    by_node_set_int(node_at(model->graph, 1), "to", BY_ELEM_FLOAT16, &err);
    put_node(model->graph, "add", "Add", "x,h", "y");
    put_node(model->graph, "twice", "Add", "n,n", "m");
    put_node(model->graph, "random", "RandomNormalLike", "w", "r");
    put_node(model->graph, "unused", "Exp", "y", "u");
    gives(model, "y", BY_ELEM_FLOAT16, NULL);
    gives(model, "m", BY_ELEM_INT64, NULL);
    gives(model, "r", BY_ELEM_FLOAT, NULL);
    assert_targets(model, BY_TARGETS_SEEN, "x:-1 y:-1 r:-1");
}

/* --- Patterns; h stands before and y after --- */

static struct baryon_model *pattern_model(void)
{
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "2,3,8");
    put_floats(model, "w", "8,8", 0);
    put_floats(model, "v", "8", 0);
    put_floats(model, "k", "", 0);
    put_node(model->graph, "first", "MatMul", "x,w", "h");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    return model;
}

static void put_layer_norm(struct baryon_model *model, const char *second)
{
    struct baryon_graph *graph = model->graph;
    put_node(graph, "mean", "ReduceMean", "h", "m");
    put_node(graph, "sub", "Sub", "h,m", "d");
    if (!strcmp(second, "d2"))
        put_node(graph, "sub2", "Sub", "h,m", "d2");
    put_node(graph, "pow", "Pow", "d,k", "q");
    put_node(graph, "var", "ReduceMean", "q", "s");
    put_node(graph, "eps", "Add", "s,k", "t");
    put_node(graph, "root", "Sqrt", "t", "r");
    char inputs[16];
    snprintf(inputs, sizeof inputs, "%s,r", second);
    put_node(graph, "div", "Div", inputs, "n");
    put_node(graph, "scale", "Mul", "n,v", "o");
    put_node(graph, "bias", "Add", "v,o", "y");
}

static void layer_normalization(void **state)
{
    (void)state;
    struct baryon_model *model = pattern_model();
    put_layer_norm(model, "d");
    assert_targets(model, BY_TARGETS_SEEN, "x:2 h:2 y:2");
    model = pattern_model();
    put_layer_norm(model, "d2");
    assert_targets(model, BY_TARGETS_SEEN, "x:2 h:2 y:2");
    model = pattern_model();
    put_layer_norm(model, "d");
    gives(model, "d", BY_ELEM_FLOAT, NULL);
    assert_targets(model, BY_TARGETS_SEEN, "x:2 h:2 m:2 d:2 q:2 s:2 t:2 r:2 n:2 o:2 y:2");
}

static void rms_normalization(void **state)
{
    (void)state;
    struct baryon_model *model = pattern_model();
    struct baryon_graph *graph = model->graph;
    put_node(graph, "square", "Mul", "h,h", "q");
    put_node(graph, "mean", "ReduceMean", "q", "s");
    put_node(graph, "eps", "Add", "k,s", "t");
    put_node(graph, "root", "Sqrt", "t", "r");
    put_node(graph, "div", "Div", "h,r", "n");
    put_node(graph, "scale", "Mul", "n,v", "y");
    assert_targets(model, BY_TARGETS_SEEN, "x:2 h:2 y:2");
}

static void gelu(void **state)
{
    (void)state;
    static const char *const ends[][3] = {
        {"h,p", "a,k", "Mul"}, /* (x * (1 + erf)) * 0.5 */
        {"p,k", "h,a", "Mul"}, /* x * ((1 + erf) * 0.5) */
    };
    for (size_t i = 0; i < 2; i++) {
        struct baryon_model *model = pattern_model();
        put_node(model->graph, "div", "Div", "h,k", "i");
        put_node(model->graph, "erf", "Erf", "i", "e");
        put_node(model->graph, "plus", "Add", "e,k", "p");
        put_node(model->graph, "one", "Mul", ends[i][0], "a");
        put_node(model->graph, "two", ends[i][2], ends[i][1], "y");
        assert_targets(model, BY_TARGETS_SEEN, "x:2 h:2 y:2");
    }
    struct baryon_model *model = pattern_model();
    put_node(model->graph, "half", "Mul", "h,k", "a");
    put_node(model->graph, "div", "Div", "h,k", "i");
    put_node(model->graph, "erf", "Erf", "i", "e");
    put_node(model->graph, "plus", "Add", "e,k", "p");
    put_node(model->graph, "one", "Mul", "a,p", "y");
    assert_targets(model, BY_TARGETS_SEEN, "x:2 h:2 y:2");
    model = pattern_model();
    put_node(model->graph, "erf", "Erf", "h", "e");
    put_node(model->graph, "plus", "Add", "e,h", "y");
    assert_targets(model, BY_TARGETS_SEEN, "x:2 h:2 e:2 y:2");
}

static void gelu_by_tanh(void **state)
{
    (void)state;
    struct baryon_model *model = pattern_model();
    struct baryon_graph *graph = model->graph;
    put_node(graph, "cube", "Pow", "h,k", "a");
    put_node(graph, "part", "Mul", "a,k", "b");
    put_node(graph, "sum", "Add", "h,b", "c");
    put_node(graph, "inner", "Mul", "c,k", "d");
    put_node(graph, "tanh", "Tanh", "d", "e");
    put_node(graph, "plus", "Add", "e,k", "f");
    put_node(graph, "product", "Mul", "h,f", "g");
    put_node(graph, "half", "Mul", "g,k", "y");
    assert_targets(model, BY_TARGETS_SEEN, "x:2 h:2 y:2");
    /* x * sigmoid(x) by tanh stays: nothing fuses it. */
    model = pattern_model();
    graph = model->graph;
    put_node(graph, "inner", "Mul", "h,k", "d");
    put_node(graph, "tanh", "Tanh", "d", "e");
    put_node(graph, "plus", "Add", "e,k", "f");
    put_node(graph, "product", "Mul", "h,f", "g");
    put_node(graph, "half", "Mul", "g,k", "y");
    assert_targets(model, BY_TARGETS_SEEN, "x:2 h:2 d:2 e:2 f:2 g:2 y:2");
}

static void channels_are_carried(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "N,3,4,4");
    put_floats(model, "k", "", 0);
    put_floats(model, "w", "3,1", 0);
    put_node(model->graph, "scale", "Mul", "x,k", "a");
    put_node(model->graph, "pool", "GlobalAveragePool", "a", "p");
    put_node(model->graph, "flat", "Flatten", "p", "f");
    put_node(model->graph, "gemm", "Gemm", "f,w", "g");
    put_node(model->graph, "soft", "Sigmoid", "g", "y");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    assert_targets(model, BY_TARGETS_SEEN, "x:1 a:1 p:1 f:1* g:1 y:1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(activations_swallow),
        cmocka_unit_test(other_readers_do_not),
        cmocka_unit_test(what_others_read_stays),
        cmocka_unit_test(what_inner_graphs_read_stays),
        cmocka_unit_test(normalization_after_normalization),
        cmocka_unit_test(constants_and_other_types_are_none),
        cmocka_unit_test(layer_normalization),
        cmocka_unit_test(rms_normalization),
        cmocka_unit_test(gelu),
        cmocka_unit_test(gelu_by_tanh),
        cmocka_unit_test(channels_are_carried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
