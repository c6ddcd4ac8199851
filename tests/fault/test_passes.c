/* Every allocation fails in turn while passes run: NOMEM, nothing leaked, links as they should be.
 */
#include "tests/unit/engine_build.h"

#include "base/fault.h"
#include "pass/retype.h"

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

static int run_passes(struct baryon_model *model, const bool *on,
                      const struct by_retype_options *retype, const char *excluded)
{
    const struct by_session_options session = {.threads = 1};
    struct by_pass_context context = {.model = model, .session = &session, .retype = retype};
    size_t count;
    if (by_origins_open(&context.origins, model, &err))
        return -1;
    struct by_user_node *users = by_origins_user(context.origins, &count);
    for (size_t i = 0; excluded && i < count; i++)
        users[i].excluded = strcmp(users[i].name, excluded) == 0;
    int failed = by_passes_run(&context, on, NULL, &err);
    by_origins_close(context.origins);
    return failed;
}

/* Those that run by themselves: the one that folds by ONNX Runtime alone, or the others. */
static int run_defaults(struct baryon_model *model, bool folds)
{
    bool on[PASSES_MAX];
    size_t count;
    const struct by_pass *const *passes = by_passes(&count);
    by_passes_defaults(on, true, false);
    for (size_t i = 0; i < count; i++)
        if ((strcmp(passes[i]->name, "fold-constants") == 0) != folds)
            on[i] = false;
    return run_passes(model, on, NULL, NULL);
}

static int rewrite(struct baryon_model *model)
{
    return run_defaults(model, false);
}

static int fold(struct baryon_model *model)
{
    return run_defaults(model, true);
}

/* To float16, but for one node, and a region of that back. */
static int retype(struct baryon_model *model)
{
    static const char *const from[] = {"n3"}, *const to[] = {"n6"};
    const struct by_pass_region region = {from, to, 1, 1};
    const struct by_retype_options narrow = {.keep_io = true},
                                   widen = {.regions = &region, .region_count = 1};
    bool on[PASSES_MAX] = {false};
    size_t count, narrows = 0, widens = 0;
    const struct by_pass *const *passes = by_passes(&count);
    for (size_t i = 0; i < count; i++) {
        narrows = strcmp(passes[i]->name, "fp32-to-fp16") == 0 ? i : narrows;
        widens = strcmp(passes[i]->name, "fp16-to-fp32") == 0 ? i : widens;
    }
    on[narrows] = true;
    if (run_passes(model, on, &narrow, "n13"))
        return -1;
    on[narrows] = false;
    on[widens] = true;
    return run_passes(model, on, &widen, NULL);
}

static void sweep(int (*run)(struct baryon_model *model), size_t wanted_nodes)
{
    bool reached = true;
    struct baryon_model *model = build();
    assert_ok(run(model));
    assert_sound(model);
    assert_int_equal(model->graph->node.count, wanted_nodes);
    by_model_free(model);
    for (uint64_t k = 1; reached; k++)
        for (int forever = 0; forever < 2; forever++) {
            model = build();
            by_err_clear(&err);
            const uint64_t before = by_fault_count(BY_FAULT_ALLOC);
            by_fault_arm(BY_FAULT_ALLOC, k, forever);
            const int failed = run(model);
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
    sweep(rewrite, 7);
}

static void folding(void **state)
{
    (void)state;
    sweep(fold, 14);
}

static void retyping(void **state)
{
    (void)state;
    sweep(retype, 23);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rewriting), cmocka_unit_test(folding),
                                       cmocka_unit_test(retyping)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
