/* The public interface: going through graphs. */
#include "api/need.h"
#include "ir/graph.h"
#include "ir/shape.h"

#include <string.h>

static const char *text_or_empty(const char *text)
{
    return text ? text : "";
}

/* --- graphs --- */

const char *baryon_graph_name(const struct baryon_graph *graph)
{
    return graph ? text_or_empty(graph->name) : "";
}

struct baryon_node *baryon_graph_owner(const struct baryon_graph *graph)
{
    return graph ? graph->owner : NULL;
}

size_t baryon_graph_node_count(const struct baryon_graph *graph)
{
    return graph ? graph->node.count : 0;
}

struct baryon_node *baryon_graph_node(const struct baryon_graph *graph, size_t place)
{
    return graph && place < graph->node.count ? graph->node.at[place] : NULL;
}

size_t baryon_graph_value_count(const struct baryon_graph *graph)
{
    return graph ? graph->all_values.count : 0;
}

struct baryon_value *baryon_graph_value(const struct baryon_graph *graph, size_t place)
{
    return graph && place < graph->all_values.count ? graph->all_values.at[place] : NULL;
}

size_t baryon_graph_input_count(const struct baryon_graph *graph)
{
    return graph ? graph->input.count : 0;
}

struct baryon_value *baryon_graph_input(const struct baryon_graph *graph, size_t place)
{
    if (!graph)
        return NULL;
    const struct by_value_info *info = place < graph->input.count ? graph->input.at[place] : NULL;
    return info ? by_map_get(&graph->values, info->name) : NULL;
}

size_t baryon_graph_output_count(const struct baryon_graph *graph)
{
    return graph ? graph->output.count : 0;
}

struct baryon_value *baryon_graph_output(const struct baryon_graph *graph, size_t place)
{
    return graph ? by_graph_out(graph, place) : NULL;
}

struct baryon_value *baryon_graph_find_value(const struct baryon_graph *graph, const char *name)
{
    return graph && name ? by_graph_value(graph, name) : NULL;
}

struct baryon_node *baryon_graph_find_node(const struct baryon_graph *graph, const char *name)
{
    if (!graph || !name)
        return NULL;
    for (size_t i = 0; i < graph->node.count; i++) {
        struct baryon_node *node = graph->node.at[i];
        if (node && node->name && strcmp(node->name, name) == 0)
            return node;
    }
    return NULL;
}

int baryon_graph_between(struct baryon_graph *graph, struct baryon_node *const *starts,
                         size_t start_count, struct baryon_node *const *ends, size_t end_count,
                         bool *marks, struct baryon_error *err)
{
    if (BY_NEED(graph, err) || BY_NEED_EACH(starts, start_count, err) ||
        BY_NEED_EACH(ends, end_count, err) || BY_NEED(marks, err))
        return -1;
    return by_graph_between(graph, starts, start_count, ends, end_count, marks, err);
}

/* --- nodes --- */

const char *baryon_node_op_type(const struct baryon_node *node)
{
    return node ? text_or_empty(node->op_type) : "";
}

const char *baryon_node_domain(const struct baryon_node *node)
{
    return node ? by_domain(node->domain) : "";
}

const char *baryon_node_name(const struct baryon_node *node)
{
    return node ? text_or_empty(node->name) : "";
}

struct baryon_graph *baryon_node_graph(const struct baryon_node *node)
{
    return node ? node->graph : NULL;
}

size_t baryon_node_place(const struct baryon_node *node)
{
    return node ? node->index : 0;
}

size_t baryon_node_input_count(const struct baryon_node *node)
{
    return node ? node->input.count : 0;
}

struct baryon_value *baryon_node_input(const struct baryon_node *node, size_t slot)
{
    return node ? by_node_in(node, slot) : NULL;
}

size_t baryon_node_output_count(const struct baryon_node *node)
{
    return node ? node->output.count : 0;
}

struct baryon_value *baryon_node_output(const struct baryon_node *node, size_t slot)
{
    return node ? by_node_out(node, slot) : NULL;
}

size_t baryon_node_attribute_count(const struct baryon_node *node)
{
    return node ? node->attribute.count : 0;
}

struct baryon_attribute *baryon_node_attribute(const struct baryon_node *node, size_t place)
{
    return node && place < node->attribute.count ? node->attribute.at[place] : NULL;
}

struct baryon_attribute *baryon_node_find_attribute(const struct baryon_node *node,
                                                    const char *name)
{
    return node && name ? by_node_attr(node, name) : NULL;
}

/* --- values --- */

const char *baryon_value_name(const struct baryon_value *value)
{
    return value ? value->name : "";
}

struct baryon_graph *baryon_value_graph(const struct baryon_value *value)
{
    return value ? value->graph : NULL;
}

struct baryon_node *baryon_value_producer(const struct baryon_value *value, size_t *slot)
{
    if (!value)
        return NULL;
    if (value->producer && slot)
        *slot = value->slot;
    return value->producer;
}

bool baryon_value_is_input(const struct baryon_value *value)
{
    return value && value->is_input;
}

bool baryon_value_is_output(const struct baryon_value *value)
{
    return value && by_value_is_output(value);
}

struct baryon_tensor *baryon_value_tensor(const struct baryon_value *value)
{
    return value ? value->initializer : NULL;
}

size_t baryon_value_use_count(const struct baryon_value *value)
{
    return value ? value->use_count : 0;
}

struct baryon_node *baryon_value_use(const struct baryon_value *value, size_t place, size_t *slot)
{
    if (!value || place >= value->use_count)
        return NULL;
    if (slot)
        *slot = value->uses[place].slot;
    return value->uses[place].node;
}

static const struct by_tensor_type *declared(const struct baryon_value *value)
{
    const struct by_type *type = value->info ? value->info->type : NULL;
    if (!type)
        return NULL;
    return type->tensor ? type->tensor : type->sparse_tensor;
}

int baryon_value_type(const struct baryon_value *value)
{
    if (!value)
        return 0;
    const struct by_tensor_type *type = declared(value);
    if (value->elem)
        return (int)value->elem;
    if (value->initializer)
        return (int)value->initializer->data_type;
    return type ? (int)type->elem_type : 0;
}

int baryon_value_rank(const struct baryon_value *value)
{
    if (!value)
        return -1;
    const struct by_tensor_type *type = declared(value);
    if (value->initializer)
        return (int)value->initializer->dims.count;
    if (value->shape)
        return (int)value->shape->rank;
    return type && type->shape ? (int)type->shape->dims.count : -1;
}

static struct by_extent declared_extent(const struct by_tensor_type *type, size_t axis)
{
    const struct by_dim *dim = type->shape->dims.at[axis];
    if (by_dim_is_number(dim))
        return (struct by_extent){.size = dim->value};
    return (struct by_extent){.size = -1, .symbol = dim->param};
}

int64_t baryon_value_dim(const struct baryon_value *value, int axis, const char **symbol)
{
    struct by_extent extent = {.size = -1};
    if (axis >= 0 && axis < baryon_value_rank(value)) {
        if (value->initializer)
            extent.size = value->initializer->dims.at[axis];
        else if (value->shape)
            extent = value->shape->dims[axis];
        else
            extent = declared_extent(declared(value), (size_t)axis);
    }
    if (symbol)
        *symbol = extent.size < 0 && extent.symbol && *extent.symbol ? extent.symbol : NULL;
    return extent.size;
}
