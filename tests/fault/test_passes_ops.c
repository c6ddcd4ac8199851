/* Every allocation of the passes fails in turn, once and from then on: NOMEM, nothing leaked. */
#include "base/fault.h"
#include "pass/pass.h"
#include "tests/unit/graph_build.h"

#define PASSES_MAX 64

static void put_numbers(struct baryon_graph *graph, const char *name, const int64_t *dims,
                        size_t rank, float number)
{
    float numbers[64];
    size_t count = 1;
    for (size_t i = 0; i < rank; i++)
        count *= (size_t)dims[i];
    for (size_t i = 0; i < count; i++)
        numbers[i] = number;
    push(graph->model, &graph->initializer,
         by_tensor_new(graph->model, name, BY_ELEM_FLOAT, dims, rank, numbers, count * 4, &err));
}

static void put_ints(struct baryon_graph *graph, const char *name, const int64_t *numbers,
                     size_t count)
{
    const int64_t dims[] = {(int64_t)count};
    push(graph->model, &graph->initializer,
         by_tensor_new(graph->model, name, BY_ELEM_INT64, dims, 1, numbers, count * 8, &err));
}

static void put_constants(struct baryon_graph *graph)
{
    put_numbers(graph, "two", NULL, 0, 2);
    put_numbers(graph, "one", NULL, 0, 1);
    put_numbers(graph, "half", NULL, 0, 0.5f);
    put_numbers(graph, "root2", NULL, 0, 1.41421356f);
    put_numbers(graph, "tiny", NULL, 0, 1e-12f);
    put_numbers(graph, "zero", NULL, 0, 0);
    put_numbers(graph, "channels", (const int64_t[]){4}, 1, 0.75f);
    put_numbers(graph, "picture", (const int64_t[]){4, 1, 1}, 3, 0.5f);
    put_numbers(graph, "row", (const int64_t[]){32}, 1, 0.5f);
    put_ints(graph, "last", (const int64_t[]){-1}, 1);
    put_ints(graph, "places", (const int64_t[]){2, 3}, 2);
    put_ints(graph, "halves", (const int64_t[]){2, 2}, 2);
}

/* Names that begin with a dot get the prefix before it. */
static void put_part(struct baryon_graph *graph, const char *prefix, const char *op_type,
                     const char *one, const char *other, const char *output)
{
    char inputs[128], name[64];
    const char *const first = *one == '.' ? prefix : "", *const second =
                                                             *other == '.' ? prefix : "";
    snprintf(inputs, sizeof inputs, "%s%s%s%s%s", first, one, *other ? "," : "", second, other);
    snprintf(name, sizeof name, "%s%s", prefix, output);
    put_node(graph, name, op_type, inputs, name);
}

static void put_normalization(struct baryon_graph *graph, const char *prefix, const char *input,
                              const char *axes, const char *scale)
{
    put_part(graph, prefix, "ReduceMean", input, axes, ".mean");
    put_part(graph, prefix, "Sub", input, ".mean", ".centred");
    put_part(graph, prefix, "Mul", ".centred", ".centred", ".squares");
    put_part(graph, prefix, "ReduceMean", ".squares", axes, ".variance");
    put_part(graph, prefix, "Add", ".variance", "tiny", ".sum");
    put_part(graph, prefix, "Sqrt", ".sum", "", ".root");
    put_part(graph, prefix, "Div", ".centred", ".root", ".normal");
    put_part(graph, prefix, "Mul", ".normal", scale, ".scaled");
    put_part(graph, prefix, "Add", ".scaled", scale, "");
}

/* One chain of everything that passes look for. */
static void put_nodes(struct baryon_graph *graph)
{
    put_normalization(graph, "layer", "x", "last", "row");
    put_normalization(graph, "instance", "layer", "places", "picture");
    put_node(graph, "g1", "Div", "instance,root2", "g1");
    put_node(graph, "g2", "Erf", "g1", "g2");
    put_node(graph, "g3", "Add", "g2,one", "g3");
    put_node(graph, "g4", "Mul", "instance,g3", "g4");
    put_node(graph, "gelu", "Mul", "g4,half", "gelu");
    put_node(graph, "norm", "BatchNormalization", "gelu,channels,channels,channels,channels",
             "norm");
    put_node(graph, "l2", "ReduceL2", "norm,last", "l2");
    put_node(graph, "l3", "Max", "l2,tiny", "l3");
    put_node(graph, "length", "Div", "norm,l3", "length");
    put_node(graph, "clip", "Clip", "length,zero", "clip");
    put_node(graph, "bound", "Clip", "clip", "bound");
    put_node(graph, "mean", "ReduceMean", "bound,places", "mean");
    put_node(graph, "split", "Split", "bound,halves", "one_half,other_half");
    put_node(graph, "join", "Concat", "other_half,one_half", "join");
    put_node(graph, "sigmoid", "Sigmoid", "join", "sigmoid");
    put_node(graph, "leaky", "LeakyRelu", "sigmoid", "leaky");
    put_node(graph, "softmax", "Softmax", "leaky", "softmax");
    put_node(graph, "y", "Mul", "softmax,mean", "y");
}

static struct baryon_model *sample(void)
{
    const struct by_shape *shape;
    struct baryon_model *model = new_model();
    struct baryon_graph *graph = model->graph;
    put_input(graph, "x");
    assert_ok(by_shape_from_dims(&model->arena, (const int64_t[]){1, 4, 32, 32}, 4, &shape, &err));
    struct by_value_info *info = graph->input.at[0];
    info->type = by_type_tensor(model, BY_ELEM_FLOAT, shape, &err);
    put_constants(graph);
    put_nodes(graph);
    put_output(graph, "y");
    assert_ok(by_model_link(model, &err));
    for (size_t i = 0; i < graph->node.count; i++) {
        struct baryon_node *node = graph->node.at[i];
        if (by_node_is(node, "Concat") || by_node_is(node, "Split"))
            assert_ok(by_node_set_int(node, "axis", 1, &err));
    }
    return model;
}

static int run(struct baryon_model *model)
{
    const char *inputs[] = {"x"};
    bool on[PASSES_MAX];
    struct by_pass_context context = {
        .model = model, .compat = true, .fix_shapes = "x:[1,4,32,32]", .nhwc = {inputs, 1, 1}};
    /* Folding takes a runtime, which has tests of its own. */
    size_t count;
    const struct by_pass *const *passes = by_passes(&count);
    for (size_t i = 0; i < count; i++)
        on[i] = strcmp(passes[i]->name, "fold-constants") != 0 &&
                strcmp(passes[i]->name, "convert-opset") != 0;
    assert_true(count <= PASSES_MAX);
    if (by_origins_open(&context.origins, model, &err))
        return -1;
    const int failed = by_passes_run(&context, on, NULL, &err);
    by_origins_close(context.origins);
    return failed;
}

static size_t count_nodes(const struct baryon_model *model, const char *op_type)
{
    size_t count = 0;
    for (size_t i = 0; i < model->graph->node.count; i++)
        count += by_node_is(model->graph->node.at[i], op_type);
    return count;
}

/* The sample has what the passes look for. */
static void passes_find_it_all(void **state)
{
    (void)state;
    struct baryon_model *model = sample();
    assert_ok(run(model));
    static const char *const made[] = {"LayerNormalization",
                                       "InstanceNormalization",
                                       "Gelu",
                                       "LpNormalization",
                                       "Conv",
                                       "Relu",
                                       "GlobalAveragePool",
                                       "HardSigmoid",
                                       "Transpose"};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        if (!count_nodes(model, made[i]))
            fail_msg("no %s", made[i]);
    static const char *const gone[] = {"Sqrt", "Erf", "Split", "BatchNormalization", "Softmax"};
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        if (count_nodes(model, gone[i]))
            fail_msg("%s is still there", gone[i]);
    assert_sound(model);
    by_model_free(model);
}

static void memory_ends(void **state)
{
    (void)state;
    for (int forever = 0; forever < 2; forever++) {
        int failed = -1;
        for (uint64_t k = 1; failed; k++) {
            struct baryon_model *model = sample();
            by_fault_arm(BY_FAULT_ALLOC, k, forever);
            by_err_clear(&err);
            failed = run(model);
            by_fault_arm(BY_FAULT_ALLOC, 0, false);
            by_model_free(model);
            if (failed && err.code != BARYON_ERR_NOMEM)
                fail_msg("allocation %llu: %s", (unsigned long long)k, err.message);
            assert_true(k < 100000);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_find_it_all),
        cmocka_unit_test(memory_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
