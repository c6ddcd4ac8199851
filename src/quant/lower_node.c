/* Creates, replaces and removes the nodes of the graph that is emitted. */
#include "quant/lower_node.h"

#include "base/str.h"

#include <string.h>

static const char *name_of(struct baryon_model *model, const char *stem, const char *suffix,
                           struct baryon_error *err)
{
    struct by_str name;
    const char *fresh = NULL;
    by_str_init(&name);
    by_str_printf(&name, "%s_%s", stem, suffix);
    if (by_str_error(&name, err) == 0)
        fresh = by_model_fresh_name(model, by_str_text(&name), err);
    by_str_release(&name);
    return fresh;
}

struct baryon_node *by_lower_replace(struct baryon_node *old, const char *op_type,
                                     const char *domain, const char *name,
                                     struct baryon_value *const *inputs, size_t count,
                                     struct baryon_error *err)
{
    struct baryon_graph *graph = old->graph;
    struct baryon_value *before = by_node_out(old, 0), *after;
    const char *kept = before->name;
    const char *fresh = by_model_fresh_name(graph->model, kept, err);
    struct baryon_node *made =
        fresh ? by_graph_add_node(graph, op_type, domain, name, inputs, count, &fresh, 1, err)
              : NULL;
    if (!made || !(after = by_node_out(made, 0)))
        return NULL;
    after->elem = before->elem;
    after->shape = before->shape;
    if (by_value_replace_uses(before, after, NULL, err) || by_graph_remove_node(old, err))
        return NULL;
    if (after->name != kept && by_value_rename(after, kept, err))
        return NULL;
    return made;
}

struct baryon_value *by_lower_step(struct baryon_graph *graph, const char *op_type,
                                   const char *stem, const char *suffix,
                                   struct baryon_value *const *inputs, size_t count,
                                   struct baryon_error *err)
{
    const char *name = name_of(graph->model, stem, suffix, err);
    struct baryon_node *made =
        name ? by_graph_add_node(graph, op_type, NULL, name, inputs, count, &name, 1, err) : NULL;
    return made ? by_node_out(made, 0) : NULL;
}

struct baryon_value *by_lower_new(struct baryon_graph *graph, const char *stem, const char *suffix,
                                  int64_t elem, const int64_t *dims, size_t rank, const void *bytes,
                                  size_t size, struct baryon_error *err)
{
    const char *name = name_of(graph->model, stem, suffix, err);
    struct baryon_tensor *tensor =
        name ? by_tensor_new(graph->model, name, elem, dims, rank, bytes, size, err) : NULL;
    return tensor ? by_graph_add_initializer(graph, tensor, err) : NULL;
}

int by_lower_drop(struct baryon_value *constant, struct baryon_error *err)
{
    return constant->use_count || constant->is_input || constant->pinned
               ? 0
               : by_graph_remove_initializer(constant, err);
}

int by_lower_import_microsoft(struct baryon_model *model, struct baryon_error *err)
{
    return by_model_opset(model, BY_MICROSOFT) ? 0
                                               : by_model_set_opset(model, BY_MICROSOFT, 1, err);
}

int by_lower_copy_attributes(const struct baryon_node *from, struct baryon_node *to,
                             struct baryon_error *err)
{
    for (size_t i = 0; i < from->attribute.count; i++) {
        const struct baryon_attribute *attr = from->attribute.at[i];
        int failed = 0;
        if (!attr)
            continue;
        if (attr->type == BY_ATTR_INT)
            failed = by_node_set_int(to, attr->name, attr->i, err);
        else if (attr->type == BY_ATTR_FLOAT)
            failed = by_node_set_float(to, attr->name, attr->f, err);
        else if (attr->type == BY_ATTR_INTS)
            failed = by_node_set_ints(to, attr->name, attr->ints.at, attr->ints.count, err);
        else if (attr->type == BY_ATTR_FLOATS)
            failed = by_node_set_floats(to, attr->name, attr->floats.at, attr->floats.count, err);
        else if (attr->type == BY_ATTR_STRING) {
            char text[64];
            const size_t size = attr->s.size < sizeof text ? attr->s.size : sizeof text - 1;
            memcpy(text, attr->s.data, size);
            text[size] = '\0';
            failed = by_node_set_text(to, attr->name, text, err);
        }
        if (failed)
            return -1;
    }
    return 0;
}
