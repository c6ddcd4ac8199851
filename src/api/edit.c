/* The public interface: edits. */
#include "api/need.h"
#include "ir/graph.h"
#include "ir/shape.h"
#include "ir/tensor.h"

/* --- the model --- */

const char *baryon_model_fresh_name(struct baryon_model *model, const char *stem,
                                    struct baryon_error *err)
{
    if (BY_NEED(model, err) || BY_NEED(stem, err))
        return NULL;
    return by_model_fresh_name(model, stem, err);
}

int baryon_model_set_opset(struct baryon_model *model, const char *domain, int64_t version,
                           struct baryon_error *err)
{
    if (BY_NEED(model, err))
        return -1;
    if (version < 1)
        return by_fail(err, BARYON_ERR_USAGE, "opset version %lld, they begin at 1",
                       (long long)version);
    return by_model_set_opset(model, domain, version, err);
}

int baryon_model_set_metadata(struct baryon_model *model, const char *key, const char *value,
                              struct baryon_error *err)
{
    if (BY_NEED(model, err) || BY_NEED(key, err))
        return -1;
    return by_model_set_metadata(model, key, value, err);
}

int baryon_model_prune(struct baryon_model *model, size_t *removed, struct baryon_error *err)
{
    if (BY_NEED(model, err))
        return -1;
    return by_graph_prune(model->graph, removed, err);
}

int baryon_model_settle(struct baryon_model *model, bool all, struct baryon_error *err)
{
    if (BY_NEED(model, err))
        return -1;
    return all ? by_model_sort(model, err) : by_model_settle(model, err);
}

/* --- nodes --- */

struct baryon_node *baryon_graph_add_node(struct baryon_graph *graph, const char *op_type,
                                          const char *domain, const char *name,
                                          struct baryon_value *const *inputs, size_t input_count,
                                          const char *const *output_names, size_t output_count,
                                          struct baryon_error *err)
{
    if (BY_NEED(graph, err) || BY_NEED(op_type, err) || BY_NEED_LIST(inputs, input_count, err) ||
        BY_NEED_LIST(output_names, output_count, err))
        return NULL;
    return by_graph_add_node(graph, op_type, domain, name, inputs, input_count, output_names,
                             output_count, err);
}

struct baryon_node *baryon_graph_insert_on_edge(struct baryon_node *reader, size_t slot,
                                                const char *op_type, const char *domain,
                                                struct baryon_value *const *more_inputs,
                                                size_t more_count, struct baryon_error *err)
{
    if (BY_NEED(reader, err) || BY_NEED(op_type, err) || BY_NEED_LIST(more_inputs, more_count, err))
        return NULL;
    return by_graph_insert_on_edge(reader, slot, op_type, domain, more_inputs, more_count, err);
}

struct baryon_node *baryon_graph_insert_before_output(struct baryon_graph *graph, size_t place,
                                                      const char *op_type, const char *domain,
                                                      struct baryon_value *const *more_inputs,
                                                      size_t more_count, struct baryon_error *err)
{
    if (BY_NEED(graph, err) || BY_NEED(op_type, err) || BY_NEED_LIST(more_inputs, more_count, err))
        return NULL;
    return by_graph_insert_before_output(graph, place, op_type, domain, more_inputs, more_count,
                                         err);
}

int baryon_node_remove(struct baryon_node *node, struct baryon_error *err)
{
    if (BY_NEED(node, err))
        return -1;
    return by_graph_remove_node(node, err);
}

int baryon_node_set_input(struct baryon_node *node, size_t slot, struct baryon_value *value,
                          struct baryon_error *err)
{
    if (BY_NEED(node, err))
        return -1;
    return by_node_set_input(node, slot, value, err);
}

/* --- attributes --- */

int baryon_node_set_int(struct baryon_node *node, const char *name, int64_t value,
                        struct baryon_error *err)
{
    if (BY_NEED(node, err) || BY_NEED(name, err))
        return -1;
    return by_node_set_int(node, name, value, err);
}

int baryon_node_set_float(struct baryon_node *node, const char *name, float value,
                          struct baryon_error *err)
{
    if (BY_NEED(node, err) || BY_NEED(name, err))
        return -1;
    return by_node_set_float(node, name, value, err);
}

int baryon_node_set_text(struct baryon_node *node, const char *name, const char *value,
                         struct baryon_error *err)
{
    if (BY_NEED(node, err) || BY_NEED(name, err) || BY_NEED(value, err))
        return -1;
    return by_node_set_text(node, name, value, err);
}

int baryon_node_set_ints(struct baryon_node *node, const char *name, const int64_t *values,
                         size_t count, struct baryon_error *err)
{
    if (BY_NEED(node, err) || BY_NEED(name, err) || BY_NEED_LIST(values, count, err))
        return -1;
    return by_node_set_ints(node, name, values, count, err);
}

int baryon_node_set_floats(struct baryon_node *node, const char *name, const float *values,
                           size_t count, struct baryon_error *err)
{
    if (BY_NEED(node, err) || BY_NEED(name, err) || BY_NEED_LIST(values, count, err))
        return -1;
    return by_node_set_floats(node, name, values, count, err);
}

int baryon_node_set_tensor(struct baryon_node *node, const char *name, struct baryon_tensor *tensor,
                           struct baryon_error *err)
{
    if (BY_NEED(node, err) || BY_NEED(name, err) || BY_NEED(tensor, err))
        return -1;
    return by_node_set_tensor(node, name, tensor, err);
}

bool baryon_node_remove_attribute(struct baryon_node *node, const char *name)
{
    return node && name && by_node_remove_attr(node, name);
}

/* --- values --- */

int baryon_value_replace_uses(struct baryon_value *old, struct baryon_value *new_value,
                              const struct baryon_node *except, struct baryon_error *err)
{
    if (BY_NEED(old, err) || BY_NEED(new_value, err))
        return -1;
    return by_value_replace_uses(old, new_value, except, err);
}

int baryon_value_rename(struct baryon_value *value, const char *name, struct baryon_error *err)
{
    if (BY_NEED(value, err) || BY_NEED(name, err))
        return -1;
    return by_value_rename(value, name, err);
}

struct baryon_value *baryon_graph_add_initializer(struct baryon_graph *graph,
                                                  struct baryon_tensor *tensor,
                                                  struct baryon_error *err)
{
    if (BY_NEED(graph, err) || BY_NEED(tensor, err))
        return NULL;
    return by_graph_add_initializer(graph, tensor, err);
}

struct baryon_value *baryon_value_duplicate_initializer(struct baryon_value *value,
                                                        struct baryon_error *err)
{
    if (BY_NEED(value, err))
        return NULL;
    return by_graph_duplicate_initializer(value, err);
}

int baryon_value_remove_initializer(struct baryon_value *value, struct baryon_error *err)
{
    if (BY_NEED(value, err))
        return -1;
    return by_graph_remove_initializer(value, err);
}

/* --- inputs and outputs --- */

static struct by_type *new_type(struct baryon_model *model, int type, const int64_t *dims,
                                const char *const *symbols, int rank, struct baryon_error *err)
{
    struct by_shape *shape = NULL;
    if (rank != -1 && by_need_dims(dims, rank, err))
        return NULL;
    if (type && !by_elem_info(type)) {
        by_fail(err, BARYON_ERR_USAGE, "%d is no element type", type);
        return NULL;
    }
    if (rank >= 0 && !(shape = by_shape_new(&model->arena, (size_t)rank, err)))
        return NULL;
    for (int i = 0; i < rank; i++)
        shape->dims[i] = (struct by_extent){
            .size = dims[i] < 0 ? -1 : dims[i],
            .symbol = dims[i] < 0 && symbols ? symbols[i] : NULL,
        };
    return by_type_tensor(model, type, shape, err);
}

struct baryon_value *baryon_graph_add_input(struct baryon_graph *graph, const char *name, int type,
                                            const int64_t *dims, const char *const *symbols,
                                            int rank, struct baryon_error *err)
{
    if (BY_NEED(graph, err) || BY_NEED(name, err))
        return NULL;
    struct by_type *made = new_type(graph->model, type, dims, symbols, rank, err);
    return made ? by_graph_add_input(graph, name, made, err) : NULL;
}

int baryon_value_make_output(struct baryon_value *value, int type, const int64_t *dims,
                             const char *const *symbols, int rank, struct baryon_error *err)
{
    if (BY_NEED(value, err))
        return -1;
    if (!value->graph)
        return by_graph_add_output(value, NULL, err);
    struct by_type *made = new_type(value->graph->model, type, dims, symbols, rank, err);
    return made ? by_graph_add_output(value, made, err) : -1;
}
