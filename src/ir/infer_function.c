/*
 * Functions of the model: the body of a call becomes a model of its own, with the
 * attributes of the call put in, and is walked like any other. What comes out is
 * copied; the model of the body is gone after the call. The work that all calls
 * together may cost is limited in proportion to the model.
 */
#include "ir/infer_internal.h"

#include <string.h>

#define CALL_DEPTH_MAX 32
/* Bytes of bodies walked for each byte of the model, and some on top for small ones. */
#define BUDGET_FACTOR 4u
#define BUDGET_FREE   (16u << 20)
#define NODE_WEIGHT   1024u /* of a function that was not read from a file */

int by_functions_open(struct by_functions *functions, const struct baryon_model *model,
                      struct by_arena *arena, struct baryon_error *err)
{
    functions->budget = BUDGET_FREE + BUDGET_FACTOR * model->msg.src_size;
    return by_function_table_fill(&functions->table, model, arena, err);
}

void by_functions_close(struct by_functions *functions)
{
    by_function_table_release(&functions->table);
}

const struct by_function *by_function_of(const struct by_infer *infer,
                                         const struct baryon_node *node)
{
    const struct by_callee *callee =
        by_function_find(&infer->functions->table, node->domain, node->op_type, node->overload);
    return callee ? callee->function : NULL;
}

/* False when all calls together cost too much. */
static bool take_budget(struct by_functions *functions, const struct by_function *function)
{
    size_t cost = 1 + function->msg.src_size;
    if (!function->msg.src)
        cost += NODE_WEIGHT * function->node.count;
    if (cost > functions->budget)
        return false;
    functions->budget -= cost;
    return true;
}

/* --- copying a body --- */

struct call {
    const struct by_function *function;
    const struct baryon_node *node;
    struct by_map attributes;  /* of the call, and the function's defaults */
    struct by_map left_out;    /* names of inputs that the call does not give */
    struct baryon_model model; /* of the body */
};

static struct baryon_graph *copy_graph(struct call *call, const struct baryon_graph *from,
                                       struct baryon_error *err);

static int map_attributes(struct by_map *map, const struct by_ptrs *list, struct baryon_error *err)
{
    for (size_t i = 0; i < list->count; i++) {
        struct baryon_attribute *attr = list->at[i];
        if (attr && attr->name && !by_map_get(map, attr->name) &&
            by_map_put(map, attr->name, attr, err))
            return -1;
    }
    return 0;
}

static int map_call(struct call *call, struct baryon_error *err)
{
    const struct by_names *inputs = &call->function->input;
    for (size_t i = 0; i < inputs->count; i++)
        if (inputs->at[i] && !by_in_given(call->node, i) &&
            by_map_put(&call->left_out, inputs->at[i], call, err))
            return -1;
    if (map_attributes(&call->attributes, &call->node->attribute, err))
        return -1;
    return map_attributes(&call->attributes, &call->function->attribute_proto, err);
}

/* The attribute itself, or what it refers to: of the call, else the function's default. */
static const struct baryon_attribute *resolve(const struct call *call,
                                              const struct baryon_attribute *attr)
{
    return attr->ref_attr_name ? by_map_get(&call->attributes, attr->ref_attr_name) : attr;
}

static int push_call_item(struct call *call, struct by_ptrs *list, void *item,
                          struct baryon_error *err)
{
    if (!item || by_list_reserve(&call->model.arena, list, 1, sizeof item, err))
        return -1;
    list->at[list->count++] = item;
    return 0;
}

static int copy_attr(struct call *call, struct baryon_node *node,
                     const struct baryon_attribute *attr, struct baryon_error *err)
{
    const struct baryon_attribute *from = resolve(call, attr);
    if (!from)
        return 0;
    struct baryon_attribute *copy = BY_ARENA_NEW(&call->model.arena, struct baryon_attribute, err);
    if (!copy)
        return -1;
    *copy = *from;
    copy->name = attr->name;
    copy->ref_attr_name = NULL;
    copy->graphs = (struct by_ptrs){0};
    if (from->g && !(copy->g = copy_graph(call, from->g, err)))
        return -1;
    for (size_t i = 0; i < from->graphs.count; i++)
        if (push_call_item(call, &copy->graphs, copy_graph(call, from->graphs.at[i], err), err))
            return -1;
    return push_call_item(call, &node->attribute, copy, err);
}

/* An input of the function that the call leaves out is left out in the body too. */
static int copy_inputs(struct call *call, struct baryon_node *node, const struct baryon_node *from,
                       struct baryon_error *err)
{
    node->input = (struct by_names){0};
    if (by_list_reserve(&call->model.arena, &node->input, from->input.count, sizeof(char *), err))
        return -1;
    for (size_t i = 0; i < from->input.count; i++) {
        const char *name = from->input.at[i];
        node->input.at[node->input.count++] =
            name && by_map_get(&call->left_out, name) ? NULL : name;
    }
    return 0;
}

static struct baryon_node *copy_node(struct call *call, const struct baryon_node *from,
                                     struct baryon_error *err)
{
    struct baryon_node *node = BY_ARENA_NEW(&call->model.arena, struct baryon_node, err);
    if (!node)
        return NULL;
    *node = (struct baryon_node){.input = from->input,
                                 .output = from->output,
                                 .name = from->name,
                                 .op_type = from->op_type,
                                 .domain = from->domain,
                                 .overload = from->overload};
    if (copy_inputs(call, node, from, err))
        return NULL;
    for (size_t i = 0; i < from->attribute.count; i++)
        if (from->attribute.at[i] && copy_attr(call, node, from->attribute.at[i], err))
            return NULL;
    return node;
}

static int copy_nodes(struct call *call, struct baryon_graph *graph, const struct by_ptrs *from,
                      struct baryon_error *err)
{
    for (size_t i = 0; i < from->count; i++)
        if (from->at[i] &&
            push_call_item(call, &graph->node, copy_node(call, from->at[i], err), err))
            return -1;
    return 0;
}

static struct baryon_graph *copy_graph(struct call *call, const struct baryon_graph *from,
                                       struct baryon_error *err)
{
    struct baryon_graph *graph = BY_ARENA_NEW(&call->model.arena, struct baryon_graph, err);
    if (!graph)
        return NULL;
    *graph = (struct baryon_graph){.name = from->name,
                                   .initializer = from->initializer,
                                   .sparse_initializer = from->sparse_initializer,
                                   .input = from->input,
                                   .output = from->output,
                                   .value_info = from->value_info};
    return copy_nodes(call, graph, &from->node, err) ? NULL : graph;
}

static int name_values(struct call *call, struct by_ptrs *list, const struct by_names *names,
                       bool inputs, struct baryon_error *err)
{
    for (size_t i = 0; i < names->count; i++) {
        if (inputs && !by_in_given(call->node, i))
            continue;
        struct by_value_info *info = BY_ARENA_NEW(&call->model.arena, struct by_value_info, err);
        if (info)
            info->name = names->at[i];
        if (push_call_item(call, list, info, err))
            return -1;
    }
    return 0;
}

static int copy_body(struct call *call, struct baryon_error *err)
{
    const struct by_function *function = call->function;
    struct baryon_graph *graph = BY_ARENA_NEW(&call->model.arena, struct baryon_graph, err);
    if (!graph)
        return -1;
    call->model.graph = graph;
    graph->value_info = function->value_info;
    return name_values(call, &graph->input, &function->input, true, err) ||
                   name_values(call, &graph->output, &function->output, false, err) ||
                   copy_nodes(call, graph, &function->node, err)
               ? -1
               : 0;
}

/* --- walking it --- */

static void bind_inputs(struct by_infer *infer, struct by_infer *body, const struct call *call)
{
    size_t slot = 0;
    for (size_t i = 0; i < call->function->input.count; i++) {
        const struct baryon_value *from = by_node_in(call->node, i);
        const struct by_value_info *info = from ? call->model.graph->input.at[slot++] : NULL;
        struct baryon_value *value =
            info && info->name ? by_map_get(&call->model.graph->values, info->name) : NULL;
        if (!value)
            continue;
        value->elem = from->elem;
        value->shape = from->shape;
        *by_fact_of(body, value) = *by_fact_of(infer, from);
    }
}

/* Copies a value of the body, whose shape and elements go with the body. */
static int copy_out(struct by_infer *infer, struct baryon_node *node, size_t slot,
                    const struct by_infer *body, const struct baryon_value *from,
                    struct baryon_error *err)
{
    const struct by_fact *fact = by_fact_of(body, from);
    struct by_shape *shape = from->shape ? by_new_copy(infer, from->shape, err) : NULL;
    struct by_shape *inner = fact->shape ? by_new_copy(infer, fact->shape, err) : NULL;
    if ((from->shape && !shape) || (fact->shape && !inner))
        return -1;
    if (fact->kind != BY_KIND_TENSOR) {
        by_out_kind(infer, node, slot, fact->kind, fact->elem, inner);
        return 0;
    }
    by_out_elem(node, slot, from->elem);
    by_out_shape(node, slot, shape);
    if (!fact->content)
        return 0;
    struct by_content *content = by_new_content(infer, fact->content->count, err);
    if (!content)
        return -1;
    memcpy(content->items, fact->content->items, content->count * sizeof *content->items);
    by_out_content(infer, node, slot, content);
    return 0;
}

static int64_t opset_of(const struct by_function *function)
{
    for (size_t i = 0; i < function->opset_import.count; i++) {
        const struct by_opset *opset = function->opset_import.at[i];
        if (opset && !*by_domain(opset->domain))
            return opset->version;
    }
    return 0;
}

static int walk_body(struct by_infer *infer, struct baryon_node *node, struct call *call,
                     struct baryon_error *err)
{
    struct by_infer_frame frame;
    struct by_infer body = {.model = &call->model,
                            .functions = infer->functions,
                            .opset = opset_of(call->function),
                            .call_depth = infer->call_depth + 1};
    int status = -1;
    by_arena_init(&body.scratch, 0);
    if (!by_infer_enter(&body, call->model.graph, &frame, err)) {
        bind_inputs(infer, &body, call);
        status = by_infer_graph(&body, err);
        for (size_t i = 0; !status && i < node->output.count; i++)
            if (by_graph_out(call->model.graph, i))
                status = copy_out(infer, node, i, &body, by_graph_out(call->model.graph, i), err);
        by_infer_leave(&body);
    }
    by_arena_release(&body.scratch);
    return status;
}

/* What is wrong in a body is not the caller's fault: then nothing is known. */
int by_infer_call(struct by_infer *infer, struct baryon_node *node,
                  const struct by_function *function, struct baryon_error *err)
{
    struct call call = {.function = function, .node = node};
    struct baryon_error local;
    if (infer->call_depth >= CALL_DEPTH_MAX || !take_budget(infer->functions, function)) {
        infer->result.ruleless++;
        return 0;
    }
    by_err_clear(&local);
    by_arena_init(&call.model.arena, 0);
    by_names_table_init(&call.model.names, &call.model.arena);
    call.model.ir_version = infer->model->ir_version;
    int status = map_call(&call, &local) || copy_body(&call, &local);
    if (!status)
        status = by_model_link(&call.model, &local);
    if (!status)
        status = walk_body(infer, node, &call, &local);
    by_map_release(&call.attributes);
    by_map_release(&call.left_out);
    by_model_unlink(&call.model);
    by_names_table_release(&call.model.names);
    by_arena_release(&call.model.arena);
    if (!status)
        return 0;
    if (local.code != BARYON_ERR_NOMEM) {
        infer->result.ruleless++;
        return 0;
    }
    if (err)
        *err = local;
    return -1;
}
