/* Follows the condition of a Loop back to counters, or to values of floats. */
#include "engine/loop_end.h"

#include "array/elem.h"

/* Values of the body that the condition is computed from. */
struct search {
    const struct baryon_graph *body;
    bool *seen; /* by their index */
    const struct baryon_value **left;
    size_t left_count;
};

static void note_value(struct search *search, const struct baryon_value *value)
{
    if (!value || value->graph != search->body || search->seen[value->index])
        return;
    search->seen[value->index] = true;
    search->left[search->left_count++] = value;
}

/* Inputs are the count, the condition, and states, which the body gives after the condition. */
static void note_inputs(struct search *search, const struct baryon_value *value)
{
    const struct baryon_node *node = value->producer;
    if (value->is_input && value->slot >= 2)
        note_value(search, by_graph_out(search->body, value->slot - 1));
    for (size_t i = 0; node && i < node->input.count; i++)
        note_value(search, by_node_in(node, i));
}

static bool reaches_floats(struct search *search)
{
    note_value(search, by_graph_out(search->body, 0));
    while (search->left_count) {
        const struct baryon_value *value = search->left[--search->left_count];
        if (by_elem_is_floats(value->elem) && !by_value_constant(value))
            return true;
        note_inputs(search, value);
    }
    return false;
}

int by_loop_ends_by_values(const struct baryon_node *loop, bool *ends, struct baryon_error *err)
{
    struct by_nested at = {0};
    struct search search = {.body = by_node_nested(loop, &at)};
    *ends = false;
    if (!search.body)
        return 0;
    const size_t count = search.body->all_values.count;
    search.seen = by_alloc_zero(count, sizeof *search.seen, err);
    search.left = search.seen ? by_alloc(count, sizeof *search.left, err) : NULL;
    if (search.left)
        *ends = reaches_floats(&search);
    const int status = search.left ? 0 : -1;
    by_free((void *)search.left);
    by_free(search.seen);
    return status;
}
