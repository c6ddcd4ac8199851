/* A Transpose after a Transpose, a Reshape after a Reshape: one does both. */
#include "pass/edit.h"
#include "pass/passes.h"

/* The permutation that numpy would call perm; false when it is left out or damaged. */
static bool read_perm(const struct baryon_node *node, const int64_t **perm, size_t *count)
{
    const struct baryon_attribute *attr = by_node_attr(node, "perm");
    if (!attr || attr->ints.count > BY_RANK_MAX)
        return false;
    *perm = attr->ints.at;
    *count = attr->ints.count;
    for (size_t i = 0; i < *count; i++)
        if ((*perm)[i] < 0 || (*perm)[i] >= (int64_t)*count)
            return false;
    return true;
}

/* The second reads what the first read; the first goes with its last reader. */
static int merge_transposes(struct baryon_node *first, struct baryon_node *second, bool *done,
                            struct baryon_error *err)
{
    const int64_t *inner, *outer;
    int64_t both[BY_RANK_MAX];
    size_t count, other;
    if (!read_perm(first, &inner, &count) || !read_perm(second, &outer, &other) || count != other)
        return 0;
    for (size_t i = 0; i < count; i++)
        both[i] = inner[outer[i]];
    *done = true;
    return by_node_set_ints(second, "perm", both, count, err) ||
                   by_node_set_input(second, 0, by_node_in(first, 0), err)
               ? -1
               : 0;
}

/* A 0 in the shape stands for a size of what the first made, and would for another one. */
static int merge_reshapes(struct baryon_node *first, struct baryon_node *second, bool *done,
                          struct baryon_error *err)
{
    struct by_arena scratch;
    int64_t *shape;
    size_t count;
    by_arena_init(&scratch, 0);
    int failed = by_pass_ints(by_node_in(second, 1), BY_RANK_MAX, &scratch, &shape, &count, err);
    bool plain = !failed && shape && !by_node_int(second, "allowzero", 0);
    for (size_t i = 0; plain && i < count; i++)
        plain = shape[i] != 0;
    by_arena_release(&scratch);
    if (failed || !plain)
        return failed;
    *done = true;
    return by_node_set_input(second, 0, by_node_in(first, 0), err);
}

static int merge(struct by_pass_context *context, struct baryon_node *node,
                 struct baryon_error *err)
{
    struct baryon_node *first = by_pass_only_producer(node, 0);
    bool done = false;
    int failed = 0;
    if (!first || !by_node_in(first, 0))
        return 0;
    if (by_pass_is(context, node, "Transpose") && by_pass_is(context, first, "Transpose"))
        failed = merge_transposes(first, node, &done, err);
    else if (by_pass_is(context, node, "Reshape") && by_node_in(node, 0) != by_node_in(node, 1) &&
             (by_pass_is(context, first, "Reshape") || by_pass_is(context, first, "Flatten") ||
              by_pass_is(context, first, "Squeeze") || by_pass_is(context, first, "Unsqueeze")))
        failed = merge_reshapes(first, node, &done, err);
    if (!failed && done)
        failed = by_graph_remove_node(first, err);
    context->changes += done;
    return failed;
}

static int run_merge_moves(struct by_pass_context *context, struct baryon_error *err)
{
    return by_pass_each_node(context, merge, err);
}

const struct by_pass by_pass_merge_moves = {
    .name = "merge-moves",
    .help = "Merge consecutive Transpose nodes, and consecutive Reshape nodes",
    .exact = true,
    .again = true,
    .run = run_merge_moves,
};
