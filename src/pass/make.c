/* Replaces a pattern by one node and removes the nodes that nothing reads any more. */
#include "pass/make.h"

#include <stdio.h>

const char *by_make_stem(char text[BY_STEM_MAX], const char *name, const char *suffix)
{
    snprintf(text, BY_STEM_MAX, "%s%s", name, suffix);
    return text;
}

/* --- What nobody reads any more --- */

struct values {
    struct baryon_value **at;
    size_t count, cap;
};

static int push_made_value(struct by_matcher *match, struct values *list,
                           struct baryon_value *value)
{
    if (!value)
        return 0;
    if (by_list_reserve(&match->arena, list, 1, sizeof *list->at, match->err))
        return -1;
    list->at[list->count++] = value;
    return 0;
}

static int push_inputs(struct by_matcher *match, struct values *list,
                       const struct baryon_node *node)
{
    for (size_t i = 0; i < node->input.count; i++)
        if (push_made_value(match, list, by_node_in(node, i)))
            return -1;
    return 0;
}

static bool is_dead(const struct baryon_value *value)
{
    return value->graph && !value->use_count && !by_value_is_kept(value);
}

/* A node none of whose outputs is needed, and that has no graph inside, which may do anything. */
static bool is_dead_node(const struct baryon_node *node)
{
    if (by_node_nested(node, &(struct by_nested){0}))
        return false;
    for (size_t i = 0; i < node->output.count; i++)
        if (by_node_out(node, i) && !is_dead(by_node_out(node, i)))
            return false;
    return true;
}

static int drop_one(struct by_matcher *match, struct values *list, struct baryon_value *value)
{
    struct baryon_node *node = value->producer;
    if (!is_dead(value))
        return 0;
    if (!node && !value->is_input && value->init_slot != BY_NO_SLOT)
        return by_graph_remove_initializer(value, match->err);
    if (!node || !is_dead_node(node))
        return 0;
    return push_inputs(match, list, node) || by_graph_remove_node(node, match->err) ? -1 : 0;
}

static int drop_all(struct by_matcher *match, struct values *list)
{
    while (list->count)
        if (drop_one(match, list, list->at[--list->count]))
            return -1;
    return 0;
}

int by_make_drop(struct by_matcher *match, struct baryon_value *value)
{
    struct values list = {0};
    return push_made_value(match, &list, value) ? -1 : drop_all(match, &list);
}

int by_make_become(struct by_matcher *match, struct baryon_node *node, const char *op_type,
                   struct baryon_value *const *inputs, size_t count)
{
    struct values old = {0};
    if (push_inputs(match, &old, node) ||
        by_node_become(node, op_type, NULL, inputs, count, match->err))
        return -1;
    return drop_all(match, &old);
}
