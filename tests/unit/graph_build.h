/*
 * Graphs for tests, put together by hand: names are given as "a,b,,c" (an empty
 * one is left out). Nothing is linked until by_model_link().
 */
#ifndef GRAPH_BUILD_H
#define GRAPH_BUILD_H

#include "ir/graph.h"
#include "ir/tensor.h"
#include "onnx/load.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct baryon_error err;

static inline void assert_ok_at(int failed, const char *file, int line)
{
    char text[2048];
    if (!failed)
        return;
    baryon_error_format(&err, text, sizeof text);
    print_error("%s\n", text);
    _fail(file, line);
}
#define assert_ok(call) assert_ok_at((call) != 0, __FILE__, __LINE__)

/* After every edit: everything that links promise holds. */
#define assert_sound(model) assert_ok(by_graph_verify((model), &err))

static inline void assert_err_at(int failed, enum baryon_code code, const char *wanted,
                                 const char *file, int line)
{
    char text[2048];
    _assert_true(failed != 0, "fails", file, line);
    baryon_error_format(&err, text, sizeof text);
    _assert_string_equal(text, wanted, file, line);
    _assert_int_equal(err.code, code, file, line);
}
#define assert_err(call, code, wanted)                                                             \
    assert_err_at((call) != 0, (code), (wanted), __FILE__, __LINE__)

static inline struct baryon_model *new_model(void)
{
    struct baryon_model *model;
    assert_ok(by_model_new(&model, 10, 21, &err));
    model->graph->model = model;
    return model;
}

static inline const char *name_of(struct baryon_model *model, const char *text)
{
    const char *name = by_model_name(model, text, &err);
    assert_non_null(name);
    return name;
}

static inline void push(struct baryon_model *model, struct by_ptrs *list, void *item)
{
    assert_non_null(item);
    assert_ok(by_list_reserve(&model->arena, list, 1, sizeof(void *), &err));
    list->at[list->count++] = item;
}

static inline void push_names(struct baryon_model *model, struct by_names *list, const char *text)
{
    while (text) {
        const char *comma = strchr(text, ',');
        size_t size = comma ? (size_t)(comma - text) : strlen(text);
        assert_ok(by_list_reserve(&model->arena, list, 1, sizeof(char *), &err));
        list->at[list->count++] = by_intern(&model->names, text, size, &err);
        text = comma ? comma + 1 : NULL;
    }
}

static inline void put_info(struct baryon_graph *graph, struct by_ptrs *list, const char *name)
{
    struct baryon_model *model = graph->model;
    struct by_value_info *info = BY_ARENA_NEW(&model->arena, struct by_value_info, &err);
    assert_non_null(info);
    info->name = name_of(model, name);
    info->type = by_type_tensor(model, BY_ELEM_FLOAT, NULL, &err);
    push(model, list, info);
}

static inline void put_input(struct baryon_graph *graph, const char *name)
{
    put_info(graph, &graph->input, name);
}

static inline void put_output(struct baryon_graph *graph, const char *name)
{
    put_info(graph, &graph->output, name);
}

static inline struct baryon_tensor *new_tensor(struct baryon_model *model, const char *name)
{
    const float data[2] = {1, 2};
    const int64_t dims[1] = {2};
    struct baryon_tensor *tensor =
        by_tensor_new(model, name, BY_ELEM_FLOAT, dims, 1, data, sizeof data, &err);
    assert_non_null(tensor);
    return tensor;
}

static inline void put_init(struct baryon_graph *graph, const char *name)
{
    push(graph->model, &graph->initializer, new_tensor(graph->model, name));
}

static inline void put_sparse(struct baryon_graph *graph, const char *name)
{
    struct by_sparse_tensor *sparse =
        BY_ARENA_NEW(&graph->model->arena, struct by_sparse_tensor, &err);
    push(graph->model, &graph->sparse_initializer, sparse);
    sparse->values = new_tensor(graph->model, name);
    sparse->indices = new_tensor(graph->model, "");
}

static inline struct baryon_node *put_node(struct baryon_graph *graph, const char *name,
                                           const char *op_type, const char *inputs,
                                           const char *outputs)
{
    struct baryon_model *model = graph->model;
    struct baryon_node *node = BY_ARENA_NEW(&model->arena, struct baryon_node, &err);
    push(model, &graph->node, node);
    node->name = name_of(model, name);
    node->op_type = name_of(model, op_type);
    push_names(model, &node->input, inputs);
    push_names(model, &node->output, outputs);
    return node;
}

/* A graph in a new attribute of the node. */
static inline struct baryon_graph *put_nested(struct baryon_model *model, struct baryon_node *node,
                                              const char *attribute)
{
    struct baryon_attribute *attr = BY_ARENA_NEW(&model->arena, struct baryon_attribute, &err);
    push(model, &node->attribute, attr);
    attr->name = name_of(model, attribute);
    attr->type = BY_ATTR_GRAPH;
    attr->g = BY_ARENA_NEW(&model->arena, struct baryon_graph, &err);
    assert_non_null(attr->g);
    attr->g->model = model;
    attr->g->name = name_of(model, attribute);
    return attr->g;
}

static inline struct baryon_node *node_at(const struct baryon_graph *graph, size_t index)
{
    assert_true(index < graph->node.count);
    return graph->node.at[index];
}

static inline struct baryon_value *value_of(const struct baryon_graph *graph, const char *name)
{
    struct baryon_value *value = by_graph_value(graph, name);
    assert_non_null(value);
    return value;
}

static inline struct baryon_node *node_named(const struct baryon_model *model, const char *name)
{
    for (size_t i = 0; i < model->graph->node.count; i++) {
        struct baryon_node *node = model->graph->node.at[i];
        if (node->name && strcmp(node->name, name) == 0)
            return node;
    }
    fail_msg("no node '%s'", name);
    return NULL;
}

/* Names of the nodes in their order, "a b c"; holes as "-". */
static inline const char *order_of(const struct baryon_graph *graph)
{
    static char text[4096];
    text[0] = '\0';
    for (size_t i = 0; i < graph->node.count; i++) {
        const struct baryon_node *node = graph->node.at[i];
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s", i ? " " : "", node ? node->name : "-");
    }
    return text;
}

#endif
