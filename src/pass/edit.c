/* Edits that passes are made of. */
#include "pass/edit.h"

#include "pass/origins.h"

#include <stdio.h>

/* --- walking --- */

int by_pass_each_node(struct by_pass_context *context, by_pass_node_fn *visit,
                      struct baryon_error *err)
{
    struct baryon_node **nodes;
    size_t count;
    int failed = by_all_nodes(context->model, &nodes, &count, err);
    for (size_t i = 0; i < count && !failed; i++) {
        if (nodes[i]->graph && nodes[i]->graph->linked)
            failed = visit(context, nodes[i], err);
    }
    by_free(nodes);
    return failed;
}

bool by_pass_is_excluded(const struct by_pass_context *context, const struct baryon_node *node)
{
    return context->origins && by_origins_excluded(context->origins, node);
}

bool by_pass_is(const struct by_pass_context *context, const struct baryon_node *node,
                const char *op_type)
{
    return by_node_is(node, op_type) && !by_pass_is_excluded(context, node);
}

bool by_pass_may_join(const struct by_pass_context *context, const struct baryon_node *one,
                      const struct baryon_node *other)
{
    return by_pass_is_excluded(context, one) == by_pass_is_excluded(context, other);
}

/* --- who reads --- */

struct baryon_node *by_pass_only_reader(const struct baryon_value *value)
{
    if (value->use_count != 1 || value->output_count || by_value_is_kept(value))
        return NULL;
    const struct by_use *use = &value->uses[0];
    return use->graph == value->graph ? use->node : NULL;
}

struct baryon_value *by_pass_sole_output(const struct baryon_node *node)
{
    struct baryon_value *value = by_node_out(node, 0);
    for (size_t i = 1; i < node->output.count; i++)
        if (node->outs[i])
            return NULL;
    return value;
}

struct baryon_node *by_pass_only_producer(const struct baryon_node *reader, size_t slot)
{
    const struct baryon_value *value = by_node_in(reader, slot);
    if (!value || !value->producer || by_pass_only_reader(value) != reader)
        return NULL;
    return by_pass_sole_output(value->producer) == value ? value->producer : NULL;
}

int by_pass_rank(const struct baryon_value *value)
{
    return value && value->shape ? (int)value->shape->rank : -1;
}

/* --- edits --- */

static bool has_two_outputs(const struct baryon_value *a, const struct baryon_value *b)
{
    return a->output_count && b->output_count;
}

/* An output has to be given by a node of its own graph, and once. */
static bool can_bypass(const struct baryon_value *out, const struct baryon_value *value)
{
    if (by_value_is_kept(out) || has_two_outputs(out, value))
        return false;
    if (!out->output_count)
        return true;
    return value->producer && value->graph == out->graph && !by_value_is_kept(value);
}

int by_pass_bypass(struct baryon_node *node, struct baryon_value *value, bool *done,
                   struct baryon_error *err)
{
    struct baryon_value *out = by_pass_sole_output(node);
    *done = out && can_bypass(out, value);
    if (!*done)
        return 0;
    if (by_value_replace_uses(out, value, NULL, err))
        return -1;
    return by_graph_remove_node(node, err);
}

/* `value` gets the readers of `last`'s output and its name; last goes. */
static int give_name(struct baryon_node *last, struct baryon_value *value, struct baryon_error *err)
{
    struct baryon_value *out = last->outs[0];
    const char *name = out->name;
    if (by_value_replace_uses(out, value, NULL, err) || by_graph_remove_node(last, err))
        return -1;
    return by_value_rename(value, name, err);
}

bool by_pass_can_take_over(const struct baryon_node *node, const struct baryon_node *last)
{
    const struct baryon_value *out = by_pass_sole_output(last);
    return out && node->graph == last->graph && by_pass_sole_output(node) &&
           !by_value_is_kept(out) && by_pass_only_reader(node->outs[0]) == last;
}

int by_pass_take_over(struct baryon_node *node, struct baryon_node *last, struct baryon_error *err)
{
    struct baryon_value *value = node->outs[0], *out = last->outs[0];
    value->elem = out->elem;
    value->shape = out->shape;
    return give_name(last, value, err);
}

int by_pass_replace(struct baryon_node *last, struct baryon_node *made, struct baryon_error *err)
{
    made->outs[0]->elem = last->outs[0]->elem;
    made->outs[0]->shape = last->outs[0]->shape;
    return give_name(last, made->outs[0], err);
}

struct baryon_node *by_pass_add_node(struct baryon_graph *graph, const char *op_type,
                                     const char *stem, struct baryon_value *const *inputs,
                                     size_t count, struct baryon_error *err)
{
    char text[BY_NAME_MAX + 1];
    const char *name = by_model_fresh_name(graph->model, stem, err);
    if (!name)
        return NULL;
    snprintf(text, sizeof text, "%s_output", name);
    const char *output = by_model_fresh_name(graph->model, text, err);
    return output ? by_graph_add_node(graph, op_type, "", name, inputs, count, &output, 1, err)
                  : NULL;
}
