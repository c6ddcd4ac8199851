/* For tests of the rules: the findings of a model, as text. */
#ifndef CHECK_EXPECT_H
#define CHECK_EXPECT_H

#include "graph_build.h"
#include "ir/shape.h"
#include "onnx/check.h"

static char findings[16384];

static inline bool collect_finding(void *context, const struct by_finding *finding)
{
    static const char *const severities[] = {"notice", "warning", "error"};
    size_t used = strlen(findings);
    (void)context;
    snprintf(findings + used, sizeof findings - used, "%s%s %s: %s: %s%s%s", used ? "\n" : "",
             severities[finding->severity], finding->rule, finding->error.place,
             finding->error.message, finding->error.hint[0] ? "; " : "", finding->error.hint);
    return true;
}

/* All findings, one a line; frees the model. */
static inline const char *findings_of(struct baryon_model *model)
{
    findings[0] = '\0';
    int result = by_model_check(model, NULL, collect_finding, NULL, &err);
    if ((result != 0) != (strncmp(findings, "error ", 6) == 0 || strstr(findings, "\nerror ")))
        fail_msg("result %d with findings:\n%s", result, findings);
    by_model_free(model);
    return findings;
}

#define assert_findings(model, wanted) assert_string_equal(findings_of(model), wanted)

/* x -> Relu -> y */
static inline struct baryon_model *relu_model(void)
{
    struct baryon_model *model = new_model();
    struct by_type *type[2];
    struct by_shape *shape = by_shape_new(&model->arena, 1, &err);
    assert_non_null(shape);
    shape->dims[0] = (struct by_extent){2, NULL};
    put_input(model->graph, "x");
    put_output(model->graph, "y");
    put_node(model->graph, "relu", "Relu", "x", "y");
    for (size_t i = 0; i < 2; i++) {
        type[i] = by_type_tensor(model, BY_ELEM_FLOAT, shape, &err);
        assert_non_null(type[i]);
    }
    ((struct by_value_info *)model->graph->input.at[0])->type = type[0];
    ((struct by_value_info *)model->graph->output.at[0])->type = type[1];
    return model;
}

static inline struct baryon_attribute *put_attr(struct baryon_model *model, struct by_ptrs *list,
                                                const char *name, enum by_attr_type type)
{
    struct baryon_attribute *attr = BY_ARENA_NEW(&model->arena, struct baryon_attribute, &err);
    push(model, list, attr);
    attr->name = name_of(model, name);
    attr->type = type;
    return attr;
}

static inline void put_ints(struct baryon_node *node, const char *name, const int64_t *values,
                            size_t count)
{
    assert_ok(by_node_set_ints(node, name, values, count, &err));
}

/* An initializer of zeros. */
static inline struct baryon_tensor *put_zeros(struct baryon_graph *graph, const char *name,
                                              int64_t elem, const int64_t *dims, size_t rank)
{
    struct baryon_tensor *tensor =
        by_tensor_new(graph->model, name, elem, dims, rank, NULL, 0, &err);
    assert_non_null(tensor);
    push(graph->model, &graph->initializer, tensor);
    return tensor;
}

static inline struct by_function *put_function(struct baryon_model *model, const char *domain,
                                               const char *name)
{
    struct by_function *function = BY_ARENA_NEW(&model->arena, struct by_function, &err);
    push(model, &model->functions, function);
    function->name = name_of(model, name);
    function->domain = name_of(model, domain);
    return function;
}

static inline void put_import(struct baryon_model *model, struct by_ptrs *list, const char *domain,
                              int64_t version)
{
    struct by_opset *opset = BY_ARENA_NEW(&model->arena, struct by_opset, &err);
    push(model, list, opset);
    opset->domain = name_of(model, domain);
    opset->version = version;
}

static inline struct baryon_node *new_node(struct baryon_model *model, const char *name,
                                           const char *op_type, const char *inputs,
                                           const char *outputs)
{
    struct baryon_node *node = put_node(model->graph, name, op_type, inputs, outputs);
    model->graph->node.count--;
    return node;
}

#endif
