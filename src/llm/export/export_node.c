/* Nodes and small constants of an exported decoder. */
#include "llm/export/export_internal.h"

#include "array/elem.h"
#include "ir/tensor.h"

#include <string.h>

struct baryon_value *by_export_node(struct by_export *e, const char *op_type, const char *domain,
                                    const char *name, struct baryon_value *const *inputs,
                                    size_t count, struct baryon_error *err)
{
    struct baryon_node *node =
        by_graph_add_node(e->graph, op_type, domain, name, inputs, count, &name, 1, err);
    return node ? by_node_out(node, 0) : NULL;
}

struct baryon_value *by_export_unary(struct by_export *e, const char *op_type, const char *name,
                                     struct baryon_value *in, struct baryon_error *err)
{
    return in ? by_export_node(e, op_type, NULL, name, &in, 1, err) : NULL;
}

struct baryon_value *by_export_binary(struct by_export *e, const char *op_type, const char *name,
                                      struct baryon_value *a, struct baryon_value *b,
                                      struct baryon_error *err)
{
    struct baryon_value *const inputs[] = {a, b};
    return a && b ? by_export_node(e, op_type, NULL, name, inputs, 2, err) : NULL;
}

struct baryon_value *by_export_constant(struct by_export *e, const char *name, int64_t elem,
                                        const int64_t *dims, size_t rank, struct baryon_error *err)
{
    struct baryon_tensor *tensor = by_tensor_new(e->model, name, elem, dims, rank, NULL, 0, err);
    return tensor ? by_graph_add_initializer(e->graph, tensor, err) : NULL;
}

struct baryon_value *by_export_ints(struct by_export *e, const char *name, const int64_t *values,
                                    size_t count, struct baryon_error *err)
{
    const int64_t dims[] = {(int64_t)count};
    struct baryon_value *value = by_export_constant(e, name, BY_ELEM_INT64, dims, 1, err);
    if (value)
        memcpy(by_export_room(value), values, count * sizeof *values);
    return value;
}

struct baryon_value *by_export_number(struct by_export *e, const char *name, double value,
                                      struct baryon_error *err)
{
    const float number = (float)value;
    struct baryon_value *made = by_export_constant(e, name, BY_ELEM_FLOAT, NULL, 0, err);
    if (made)
        memcpy(by_export_room(made), &number, sizeof number);
    return made;
}
