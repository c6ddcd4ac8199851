/* Constant nodes become initializers, whatever attribute holds the value. */
#include "pass/edit.h"
#include "pass/passes.h"

#include <string.h>

static struct baryon_tensor *from_numbers(struct baryon_model *model,
                                          const struct baryon_attribute *attr,
                                          struct baryon_error *err)
{
    const int64_t ints = (int64_t)attr->ints.count, floats = (int64_t)attr->floats.count;
    if (strcmp(attr->name, "value_int") == 0)
        return by_tensor_new(model, "", BY_ELEM_INT64, NULL, 0, &attr->i, sizeof attr->i, err);
    if (strcmp(attr->name, "value_float") == 0)
        return by_tensor_new(model, "", BY_ELEM_FLOAT, NULL, 0, &attr->f, sizeof attr->f, err);
    if (strcmp(attr->name, "value_ints") == 0)
        return by_tensor_new(model, "", BY_ELEM_INT64, &ints, 1, attr->ints.at,
                             attr->ints.count * sizeof(int64_t), err);
    return by_tensor_new(model, "", BY_ELEM_FLOAT, &floats, 1, attr->floats.at,
                         attr->floats.count * sizeof(float), err);
}

/* NULL in *tensor: texts and sparse ones stay what they are. */
static int find_tensor(struct baryon_model *model, const struct baryon_node *node,
                       struct baryon_tensor **tensor, struct baryon_error *err)
{
    const char *const numbers[] = {"value_int", "value_float", "value_ints", "value_floats"};
    const struct baryon_attribute *attr = by_node_attr(node, "value");
    *tensor = NULL;
    if (attr && attr->t) {
        if (!(*tensor = BY_ARENA_NEW(&model->arena, struct baryon_tensor, err)))
            return -1;
        **tensor = *attr->t;
        return 0;
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if ((attr = by_node_attr(node, numbers[i])))
            return (*tensor = from_numbers(model, attr, err)) ? 0 : -1;
    return 0;
}

/* Its output takes part in what the graph gives. */
static bool is_needed_as_node(const struct baryon_value *out)
{
    return !out || out->output_count || by_value_is_kept(out);
}

static int lift(struct by_pass_context *context, struct baryon_node *node, struct baryon_error *err)
{
    struct baryon_value *out = by_node_out(node, 0);
    struct baryon_tensor *tensor;
    if (!by_node_is(node, "Constant") || is_needed_as_node(out))
        return 0;
    if (find_tensor(context->model, node, &tensor, err))
        return -1;
    if (!tensor)
        return 0;
    if (by_pass_become_constant(out, tensor, err) || by_graph_remove_node(node, err))
        return -1;
    context->changes++;
    return 0;
}

static int run_lift_constants(struct by_pass_context *context, struct baryon_error *err)
{
    return by_pass_each_node(context, lift, err);
}

const struct by_pass by_pass_lift_constants = {
    .name = "lift-constants",
    .help = "Convert Constant nodes to initializers",
    .exact = true,
    .run = run_lift_constants,
};
