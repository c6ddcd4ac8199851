/* Formats the declared types and graphs of a model. */
#include "base/text.h"
#include "cli/inspect.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const struct by_shape_msg *by_type_shape(const struct by_type *type)
{
    if (!type)
        return NULL;
    const struct by_tensor_type *tensor = type->tensor ? type->tensor : type->sparse_tensor;
    return tensor ? tensor->shape : NULL;
}

const char *by_type_text(const struct by_type *type, char *buf, size_t size)
{
    char inner[128];
    if (!type)
        snprintf(buf, size, "?");
    else if (type->tensor)
        snprintf(buf, size, "%s", by_elem_name(type->tensor->elem_type));
    else if (type->sparse_tensor)
        snprintf(buf, size, "sparse %s", by_elem_name(type->sparse_tensor->elem_type));
    else if (type->sequence)
        snprintf(buf, size, "sequence of %s",
                 by_type_text(type->sequence->elem_type, inner, sizeof inner));
    else if (type->optional)
        snprintf(buf, size, "optional %s",
                 by_type_text(type->optional->elem_type, inner, sizeof inner));
    else if (type->map)
        snprintf(buf, size, "map from %s to %s", by_elem_name(type->map->key_type),
                 by_type_text(type->map->value_type, inner, sizeof inner));
    else
        snprintf(buf, size, type->opaque ? "opaque" : "?");
    return buf;
}

/* Exporters write whole formulas as symbols; --json has them in full. */
#define SYMBOL_SHOWN 24

static void add_symbol(struct by_text *text, const char *symbol)
{
    if (strlen(symbol) <= SYMBOL_SHOWN)
        by_text_add(text, "%s", symbol);
    else
        by_text_add(text, "%.*s...", SYMBOL_SHOWN - 3, symbol);
}

const char *by_dims_text(const struct by_type *type, char *buf, size_t size)
{
    const struct by_shape_msg *shape = by_type_shape(type);
    struct by_text text;
    by_text_init(&text, buf, size);
    by_text_add(&text, "%s", shape ? "[" : "");
    for (size_t i = 0; shape && i < shape->dims.count; i++) {
        const struct by_dim *dim = shape->dims.at[i];
        by_text_add(&text, "%s", i ? "," : "");
        if (by_dim_is_number(dim) && dim->value >= 0)
            by_text_add(&text, "%" PRId64, dim->value);
        else
            add_symbol(&text, dim->param && *dim->param ? dim->param : "?");
    }
    by_text_add(&text, "%s", shape ? "]" : "");
    return buf;
}

bool by_is_port(const struct baryon_model *model, const struct by_value_info *info)
{
    if (!info || !info->name)
        return false;
    const struct baryon_value *value = by_graph_value(model->graph, info->name);
    return !value || !value->is_input || !(value->initializer || value->sparse);
}

static const char *attribute_of(const struct baryon_graph *graph)
{
    const struct baryon_node *node = graph->owner;
    for (size_t i = 0; i < node->attribute.count; i++) {
        const struct baryon_attribute *attr = node->attribute.at[i];
        if (!attr)
            continue;
        if (attr->g == graph)
            return attr->name;
        for (size_t k = 0; k < attr->graphs.count; k++)
            if (attr->graphs.at[k] == graph)
                return attr->name;
    }
    return NULL;
}

const char *by_graph_path(const struct baryon_graph *graph, char *buf, size_t size)
{
    if (!graph->owner || !graph->owner->graph) {
        snprintf(buf, size, "%s", graph->name ? graph->name : "");
        return buf;
    }
    const struct baryon_node *node = graph->owner;
    const char *attribute = attribute_of(graph);
    by_graph_path(node->graph, buf, size);
    size_t used = strlen(buf);
    if (node->name && *node->name)
        snprintf(buf + used, size - used, ".%s.%s", node->name, attribute ? attribute : "?");
    else
        snprintf(buf + used, size - used, ".node[%zu].%s", node->index,
                 attribute ? attribute : "?");
    return buf;
}
