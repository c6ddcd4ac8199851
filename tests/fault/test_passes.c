/* Every allocation fails in turn while passes run: NOMEM, nothing leaked, links as they should be.
 */
#include "tests/unit/engine_build.h"

#include "base/fault.h"
#include "pass/pass.h"

#define PASSES_MAX 128

static void weights(struct baryon_model *model, const char *name, const int64_t *dims, size_t rank)
{
    static float values[64];
    size_t count = 1;
    for (size_t i = 0; i < rank; i++)
        count *= (size_t)dims[i];
    for (size_t i = 0; i < 64; i++)
        values[i] = 0.5f + (float)(i % 7) / 8;
    put_weight(model, name, BY_ELEM_FLOAT, dims, rank, values, count * sizeof *values);
}

/* Something for most passes that run by themselves. */
static struct baryon_model *build(void)
{
    static const int64_t row[] = {2}, kernel[] = {2, 2, 1, 1}, plane[] = {2, 1, 1}, eight[] = {8};
    static const int64_t pads[] = {0, 0, 1, 1, 0, 0, 1, 1}, shape[] = {2, -1}, table[] = {2, 2};
    struct baryon_model *model = new_model();
    struct baryon_graph *graph = model->graph;
    takes(model, "x", BY_ELEM_FLOAT, "1,2,4,4");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    gives(model, "z", BY_ELEM_FLOAT, NULL);
    weights(model, "w", kernel, 4);
    weights(model, "k", plane, 3);
    weights(model, "g", row, 1);
    weights(model, "m", table, 2);
    put_weight(model, "pads", BY_ELEM_INT64, eight, 1, pads, sizeof pads);
    put_weight(model, "shape", BY_ELEM_INT64, row, 1, shape, sizeof shape);
    put_node(graph, "n1", "Pad", "x,pads", "v1");
    put_node(graph, "n2", "Conv", "v1,w", "v2");
    put_node(graph, "n3", "Mul", "v2,k", "v3");
    put_node(graph, "n4", "BatchNormalization", "v3,g,g,g,g", "v4");
    put_node(graph, "n5", "Relu", "v4", "v5");
    put_node(graph, "n6", "Relu", "v5", "v6");
    put_node(graph, "n7", "Identity", "v6", "v7");
    put_node(graph, "n8", "Shape", "x", "s");
    put_node(graph, "n9", "ConstantOfShape", "s", "c");
    put_node(graph, "n10", "Add", "c,x", "z");
    put_node(graph, "n11", "Reshape", "v7,shape", "v8");
    put_node(graph, "n12", "Transpose", "v8", "v9");
    put_node(graph, "n13", "MatMul", "v9,m", "v10");
    put_node(graph, "n14", "Add", "v10,g", "y");
    assert_ok(by_model_link(model, &err));
    return model;
}

static int run(struct baryon_model *model, bool folds)
{
    const struct by_session_options session = {.threads = 1};
    struct by_pass_context context = {.model = model, .session = &session};
    bool on[PASSES_MAX];
    size_t count;
    const struct by_pass *const *passes = by_passes(&count);
    by_passes_defaults(on, true, false);
    for (size_t i = 0; i < count; i++)
        if ((strcmp(passes[i]->name, "fold-constants") == 0) != folds)
            on[i] = false;
    if (by_origins_open(&context.origins, model, &err))
        return -1;
    int failed = by_passes_run(&context, on, NULL, &err);
    by_origins_close(context.origins);
    return failed;
}

static void sweep(bool folds, size_t wanted_nodes)
{
    bool reached = true;
    struct baryon_model *model = build();
    assert_ok(run(model, folds));
    assert_sound(model);
    assert_int_equal(model->graph->node.count, wanted_nodes);
    by_model_free(model);
    for (uint64_t k = 1; reached; k++)
        for (int forever = 0; forever < 2; forever++) {
            model = build();
            by_err_clear(&err);
            const uint64_t before = by_fault_count(BY_FAULT_ALLOC);
            by_fault_arm(BY_FAULT_ALLOC, k, forever);
            const int failed = run(model, folds);
            by_fault_arm(BY_FAULT_ALLOC, 0, false);
            reached = by_fault_count(BY_FAULT_ALLOC) - before >= k;
            assert_int_equal(failed, reached ? -1 : 0);
            assert_int_equal(err.code, reached ? BARYON_ERR_NOMEM : BARYON_OK);
            assert_sound(model);
            by_model_free(model);
        }
}

static void rewriting(void **state)
{
    (void)state;
    sweep(false, 7);
}

static void folding(void **state)
{
    (void)state;
    sweep(true, 14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rewriting), cmocka_unit_test(folding)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
