/* Edits of what a graph begins and ends with: initializers, inputs, outputs. */
#include "ir/links.h"

#include "ir/shape.h"

#include <string.h>

#define IR_VERSION_FREE_INITIALIZERS 4

/* --- initializers --- */

static int check_linked(const struct baryon_graph *graph, struct baryon_error *err)
{
    return graph->linked ? 0 : by_fail(err, BARYON_ERR_USAGE, "the graph is not linked");
}

/* The value, and an entry in the list for the caller to fill. */
static struct baryon_value *enter_initializer(struct baryon_graph *graph, struct by_ptrs *list,
                                              const char *name, struct baryon_error *err)
{
    struct baryon_model *model = graph->model;
    if (by_list_reserve(&model->arena, list, 1, sizeof(void *), err))
        return NULL;
    struct baryon_value *value = by_value_new(graph, name, err);
    if (!value)
        return NULL;
    value->init_slot = list->count;
    if (model->ir_version < IR_VERSION_FREE_INITIALIZERS)
        model->ir_version = IR_VERSION_FREE_INITIALIZERS;
    return value;
}

struct baryon_value *by_graph_add_initializer(struct baryon_graph *graph,
                                              struct baryon_tensor *tensor,
                                              struct baryon_error *err)
{
    if (check_linked(graph, err))
        return NULL;
    const char *name = by_new_value_name(graph, tensor->name ? tensor->name : "", err);
    struct baryon_value *value =
        name ? enter_initializer(graph, &graph->initializer, name, err) : NULL;
    if (!value)
        return NULL;
    tensor->name = name;
    value->initializer = tensor;
    by_ptrs_add(&graph->initializer, tensor);
    return value;
}

static void remove_input(struct baryon_value *value)
{
    value->graph->input.at[value->slot] = NULL;
    value->is_input = false;
}

int by_graph_remove_initializer(struct baryon_value *value, struct baryon_error *err)
{
    char name[BY_QUOTE_MAX];
    if (by_value_is_live(value, err))
        return -1;
    struct baryon_graph *graph = value->graph;
    by_quote(name, value->name);
    if (value->init_slot == BY_NO_SLOT)
        return by_fail(err, BARYON_ERR_USAGE, "value %s is not an initializer", name);
    if (value->use_count || by_value_is_kept(value))
        return by_fail(err, BARYON_ERR_USAGE,
                       "initializer %s is still used, must be removed after its consumers", name);
    if (value->initializer)
        graph->initializer.at[value->init_slot] = NULL;
    else
        graph->sparse_initializer.at[value->init_slot] = NULL;
    if (value->is_input)
        remove_input(value);
    by_value_forget(value);
    return 0;
}

int by_graph_remove_default_input(struct baryon_value *value, struct baryon_error *err)
{
    char name[BY_QUOTE_MAX];
    if (by_value_is_live(value, err))
        return -1;
    struct baryon_graph *graph = value->graph;
    if (!value->is_input || value->init_slot == BY_NO_SLOT || by_value_is_kept(value))
        return by_fail(err, BARYON_ERR_USAGE, "value %s is not an input with a default",
                       by_quote(name, value->name));
    if (by_list_reserve(by_graph_arena(graph), &graph->value_info, 1, sizeof(void *), err))
        return -1;
    struct by_value_info *info = graph->input.at[value->slot];
    remove_input(value);
    if (value->info_slot == BY_NO_SLOT) {
        value->info_slot = graph->value_info.count;
        by_ptrs_add(&graph->value_info, info);
    }
    by_value_find_info(value);
    if (graph->model->ir_version < IR_VERSION_FREE_INITIALIZERS)
        graph->model->ir_version = IR_VERSION_FREE_INITIALIZERS;
    graph->unsettled = true;
    return 0;
}

/* Pairs are copied one by one: saving may write new ones for one of the tensors. */
static int copy_pairs(struct by_arena *arena, struct by_ptrs *pairs, struct baryon_error *err)
{
    const struct by_ptrs from = *pairs;
    *pairs = (struct by_ptrs){0};
    if (by_list_reserve(arena, pairs, from.count, sizeof(void *), err))
        return -1;
    for (size_t i = 0; i < from.count; i++) {
        struct by_pair *pair = BY_ARENA_NEW(arena, struct by_pair, err);
        if (!pair)
            return -1;
        *pair = *(const struct by_pair *)from.at[i];
        by_ptrs_add(pairs, pair);
    }
    return 0;
}

static struct baryon_tensor *copy_tensor(struct by_arena *arena, const struct baryon_tensor *from,
                                         struct baryon_error *err)
{
    struct baryon_tensor *tensor = BY_ARENA_NEW(arena, struct baryon_tensor, err);
    if (!tensor)
        return NULL;
    *tensor = *from;
    tensor->dims = (struct by_ints){0};
    if (by_list_reserve(arena, &tensor->dims, from->dims.count, sizeof(int64_t), err) ||
        copy_pairs(arena, &tensor->external_data, err) || copy_pairs(arena, &tensor->metadata, err))
        return NULL;
    if (from->dims.count)
        memcpy(tensor->dims.at, from->dims.at, from->dims.count * sizeof(int64_t));
    tensor->dims.count = from->dims.count;
    return tensor;
}

static struct baryon_value *duplicate_dense(struct baryon_value *value, const char *name,
                                            struct baryon_error *err)
{
    struct baryon_graph *graph = value->graph;
    struct baryon_tensor *tensor = copy_tensor(by_graph_arena(graph), value->initializer, err);
    struct baryon_value *copy =
        tensor ? enter_initializer(graph, &graph->initializer, name, err) : NULL;
    if (!copy)
        return NULL;
    tensor->name = name;
    copy->initializer = tensor;
    by_ptrs_add(&graph->initializer, tensor);
    return copy;
}

/* The indices are shared: nothing ever changes them. */
static struct baryon_value *duplicate_sparse(struct baryon_value *value, const char *name,
                                             struct baryon_error *err)
{
    struct baryon_graph *graph = value->graph;
    struct by_sparse_tensor *sparse =
        BY_ARENA_NEW(by_graph_arena(graph), struct by_sparse_tensor, err);
    if (!sparse)
        return NULL;
    *sparse = *value->sparse;
    sparse->values = copy_tensor(by_graph_arena(graph), value->sparse->values, err);
    struct baryon_value *copy =
        sparse->values ? enter_initializer(graph, &graph->sparse_initializer, name, err) : NULL;
    if (!copy)
        return NULL;
    sparse->values->name = name;
    copy->sparse = sparse;
    by_ptrs_add(&graph->sparse_initializer, sparse);
    return copy;
}

struct baryon_value *by_graph_duplicate_initializer(struct baryon_value *value,
                                                    struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    if (by_value_is_live(value, err))
        return NULL;
    if (value->init_slot == BY_NO_SLOT) {
        by_fail(err, BARYON_ERR_USAGE, "value %s is not an initializer",
                by_quote(quoted, value->name));
        return NULL;
    }
    const char *name = by_model_fresh_name(value->graph->model, value->name, err);
    if (!name)
        return NULL;
    struct baryon_value *copy =
        value->initializer ? duplicate_dense(value, name, err) : duplicate_sparse(value, name, err);
    if (copy) {
        copy->elem = value->elem;
        copy->shape = value->shape;
    }
    return copy;
}

/* --- inputs and outputs --- */

static struct by_dim *new_dim(struct baryon_model *model, struct by_extent extent,
                              struct baryon_error *err)
{
    struct by_dim *dim = BY_ARENA_NEW(&model->arena, struct by_dim, err);
    if (dim && extent.size >= 0) {
        dim->value = extent.size;
        dim->msg.has = BY_HAS_DIM_VALUE;
    } else if (dim && extent.symbol && !(dim->param = by_model_name(model, extent.symbol, err))) {
        return NULL;
    }
    return dim;
}

static struct by_shape_msg *new_shape(struct baryon_model *model, const struct by_shape *shape,
                                      struct baryon_error *err)
{
    struct by_shape_msg *msg = BY_ARENA_NEW(&model->arena, struct by_shape_msg, err);
    if (!msg || by_list_reserve(&model->arena, &msg->dims, shape->rank, sizeof(void *), err))
        return NULL;
    for (size_t i = 0; i < shape->rank; i++) {
        struct by_dim *dim = new_dim(model, shape->dims[i], err);
        if (!dim)
            return NULL;
        by_ptrs_add(&msg->dims, dim);
    }
    return msg;
}

struct by_type *by_type_tensor(struct baryon_model *model, int64_t elem,
                               const struct by_shape *shape, struct baryon_error *err)
{
    struct by_type *type = BY_ARENA_NEW(&model->arena, struct by_type, err);
    if (!type || !(type->tensor = BY_ARENA_NEW(&model->arena, struct by_tensor_type, err)))
        return NULL;
    type->tensor->elem_type = elem;
    if (shape && !(type->tensor->shape = new_shape(model, shape, err)))
        return NULL;
    return type;
}

static struct by_value_info *new_info(struct baryon_graph *graph, const char *name,
                                      struct by_type *type, struct baryon_error *err)
{
    struct by_value_info *info = BY_ARENA_NEW(by_graph_arena(graph), struct by_value_info, err);
    if (info)
        *info = (struct by_value_info){.name = name, .type = type};
    return info;
}

struct baryon_value *by_graph_add_input(struct baryon_graph *graph, const char *name,
                                        struct by_type *type, struct baryon_error *err)
{
    if (check_linked(graph, err))
        return NULL;
    if (!(name = by_new_value_name(graph, name, err)))
        return NULL;
    struct by_value_info *info = new_info(graph, name, type, err);
    if (!info || by_list_reserve(by_graph_arena(graph), &graph->input, 1, sizeof(void *), err))
        return NULL;
    struct baryon_value *value = by_value_new(graph, name, err);
    if (!value)
        return NULL;
    value->is_input = true;
    value->slot = graph->input.count;
    value->info = info;
    by_ptrs_add(&graph->input, info);
    return value;
}

static int reserve_output(struct baryon_graph *graph, struct baryon_error *err)
{
    struct by_list links = {graph->out_links, graph->output.count, graph->out_links_cap};
    if (by_list_reserve(by_graph_arena(graph), &links, 1, sizeof *graph->out_links, err))
        return -1;
    graph->out_links = links.at;
    graph->out_links_cap = links.cap;
    return by_list_reserve(by_graph_arena(graph), &graph->output, 1, sizeof(void *), err);
}

int by_graph_add_output(struct baryon_value *value, struct by_type *type, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    if (by_value_is_live(value, err))
        return -1;
    struct baryon_graph *graph = value->graph;
    for (size_t i = 0; value->output_count && i < graph->output.count; i++)
        if (graph->out_links[i].value == value)
            return by_fail(err, BARYON_ERR_USAGE, "value %s is already output[%zu]",
                           by_quote(quoted, value->name), i);
    struct by_value_info *info = new_info(graph, value->name, type, err);
    if (!info || by_value_reserve(value, 1, err) || reserve_output(graph, err))
        return -1;
    size_t slot = graph->output.count;
    by_ptrs_add(&graph->output, info);
    graph->out_links[slot] = (struct by_link){0};
    by_use_connect((struct by_use){NULL, graph, slot}, value);
    by_value_find_info(value);
    return 0;
}

static int declare(struct baryon_value *value, struct baryon_error *err)
{
    struct baryon_graph *graph = value->graph;
    struct by_type *type = by_type_tensor(graph->model, value->elem, value->shape, err);
    struct by_value_info *info = type ? new_info(graph, value->name, type, err) : NULL;
    if (!info || by_list_reserve(by_graph_arena(graph), &graph->value_info, 1, sizeof(void *), err))
        return -1;
    value->info = info;
    value->info_slot = graph->value_info.count;
    by_ptrs_add(&graph->value_info, info);
    return 0;
}

int by_value_declare(struct baryon_value *value, struct baryon_error *err)
{
    return value->producer && !value->info && value->elem ? declare(value, err) : 0;
}

int by_model_declare(struct baryon_model *model, struct baryon_error *err)
{
    const struct by_ptrs *values = &model->graph->all_values;
    for (size_t i = 0; i < values->count; i++) {
        struct baryon_value *value = values->at[i];
        if (value && by_value_declare(value, err))
            return -1;
    }
    return 0;
}

static bool is_wrong_shape(const struct by_shape *found, const struct by_shape_msg *declared)
{
    if (!found || !declared)
        return false;
    if (found->rank != declared->dims.count)
        return true;
    for (size_t i = 0; i < found->rank; i++) {
        const struct by_dim *dim = declared->dims.at[i];
        if (dim && by_dim_is_number(dim) && by_extent_is_number(found->dims[i]) &&
            found->dims[i].size != dim->value)
            return true;
    }
    return false;
}

static bool is_wrong_type(const struct baryon_value *value, const struct by_tensor_type *declared)
{
    return (value->elem && declared->elem_type && value->elem != declared->elem_type) ||
           is_wrong_shape(value->shape, declared->shape);
}

static bool is_wrong_info(const struct baryon_value *value, const struct by_value_info *info)
{
    const struct by_type *type = info ? info->type : NULL;
    return value->info != info || (type && type->tensor && is_wrong_type(value, type->tensor));
}

/* The second ones of a value: without the first they would be taken for it. */
static void drop_repeated_infos(struct baryon_graph *graph)
{
    for (size_t i = 0; i < graph->value_info.count; i++) {
        const struct by_value_info *info = graph->value_info.at[i];
        const struct baryon_value *value = info ? by_graph_value(graph, info->name) : NULL;
        if (!value || value->graph != graph || value->info_slot == BY_NO_SLOT ||
            value->info_slot == i)
            continue;
        graph->value_info.at[i] = NULL;
        graph->loose_infos--;
        graph->unsettled = true;
    }
}

static int drop_wrong_infos(void *context, struct baryon_graph *graph, unsigned depth,
                            struct baryon_error *err)
{
    (void)context;
    (void)depth;
    (void)err;
    drop_repeated_infos(graph);
    for (size_t i = 0; i < graph->all_values.count; i++) {
        struct baryon_value *value = graph->all_values.at[i];
        if (value && value->info_slot != BY_NO_SLOT &&
            is_wrong_info(value, graph->value_info.at[value->info_slot])) {
            by_value_drop_own_info(value);
            by_value_find_info(value);
        }
    }
    return 0;
}

void by_model_drop_wrong_infos(struct baryon_model *model)
{
    (void)by_model_each_graph(model, drop_wrong_infos, NULL, NULL);
}
