/* Every allocation of an inference fails in turn: NOMEM, or the same types and shapes. */
#include "tests/unit/infer_case.h"

#include "base/fault.h"

static struct baryon_attribute *with(struct baryon_node *node, struct baryon_model *model,
                                     const char *name, int64_t value)
{
    struct baryon_attribute *attr = put_attr(model, node, name, BY_ATTR_INT);
    attr->i = value;
    return attr;
}

static void put_name(struct baryon_graph *graph, struct by_ptrs *list, const char *name)
{
    struct by_value_info *info = BY_ARENA_NEW(&graph->model->arena, struct by_value_info, &err);
    push(graph->model, list, info);
    info->name = name_of(graph->model, name);
}

static void put_function(struct baryon_model *model)
{
    struct baryon_graph body = {.model = model};
    struct by_function *function = BY_ARENA_NEW(&model->arena, struct by_function, &err);
    push(model, &model->functions, function);
    function->name = name_of(model, "twice");
    function->domain = name_of(model, "local");
    push_names(model, &function->input, "a");
    push_names(model, &function->output, "b");
    put_node(&body, "s", "Shape", "a", "shape");
    with(put_node(&body, "c", "Concat", "a,a", "b"), model, "axis", 0)->ref_attr_name =
        name_of(model, "axis");
    function->node = body.node;
}

/* A bit of everything that takes memory. */
static struct baryon_model *build(void)
{
    struct baryon_model *model = new_model();
    struct baryon_graph *graph = model->graph;
    put_value(graph, "x", "float32[N,3,8,8]");
    put_value(graph, "w", "float32[4,3,3,3]");
    put_value(graph, "c", "bool[]");
    put_value(graph, "zero", "int64{0}");
    put_value(graph, "rest", "int64{4,36}");
    put_node(graph, "a", "Conv", "x,w", "t");
    put_node(graph, "b", "Shape", "t", "shape");
    put_node(graph, "d", "Gather", "shape,zero", "batch");
    with(put_node(graph, "e", "Concat", "batch,rest", "wanted"), model, "axis", 0);
    put_node(graph, "f", "Reshape", "t,wanted", "flat");
    struct baryon_node *branch = put_node(graph, "g", "If", "c", "u");
    struct baryon_graph *yes = put_nested(model, branch, "then_branch");
    struct baryon_graph *no = put_nested(model, branch, "else_branch");
    put_node(yes, "y", "Transpose", "flat", "y_out");
    put_node(no, "n", "MatMul", "flat,flat", "n_out");
    put_name(yes, &yes->output, "y_out");
    put_name(no, &no->output, "n_out");
    put_node(graph, "h", "SequenceConstruct", "flat,flat", "seq");
    with(put_node(graph, "i", "ConcatFromSequence", "seq", "all"), model, "axis", 2);
    struct baryon_node *call = put_node(graph, "j", "twice", "flat", "z");
    call->domain = name_of(model, "local");
    with(call, model, "axis", 1);
    put_function(model);
    assert_ok(by_model_link(model, &err));
    return model;
}

static void describe(const struct baryon_model *model, char *text, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < model->graph->all_values.count && used < size; i++) {
        const struct baryon_value *value = model->graph->all_values.at[i];
        used += (size_t)snprintf(text + used, size - used, "%s %s\n", value->name,
                                 found_text(model->graph, value->name));
    }
}

static void inference(void **state)
{
    char wanted[4096], found[4096];
    bool reached = true;
    struct baryon_model *model = build();
    (void)state;
    assert_ok(by_model_infer(model, NULL, &err));
    describe(model, wanted, sizeof wanted);
    assert_non_null(strstr(wanted, "z float32[N,8,36]"));
    assert_non_null(strstr(wanted, "all float32[N,4,?]"));
    by_model_free(model);
    for (uint64_t k = 1; reached; k++)
        for (int forever = 0; forever < 2; forever++) {
            model = build();
            by_err_clear(&err);
            const uint64_t before = by_fault_count(BY_FAULT_ALLOC);
            by_fault_arm(BY_FAULT_ALLOC, k, forever);
            const int failed = by_model_infer(model, NULL, &err);
            by_fault_arm(BY_FAULT_ALLOC, 0, false);
            reached = by_fault_count(BY_FAULT_ALLOC) - before >= k;
            assert_int_equal(failed, reached ? -1 : 0);
            assert_int_equal(err.code, reached ? BARYON_ERR_NOMEM : BARYON_OK);
            if (!failed) {
                describe(model, found, sizeof found);
                assert_string_equal(found, wanted);
            }
            by_model_free(model);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(inference)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
