/* Relu and Clip after each other: one is enough. */
#include "pass/edit.h"
#include "pass/passes.h"

#include <math.h>

struct range {
    double low, high;
};

static int read_bound(const struct baryon_node *node, size_t slot, const char *attr, double *bound,
                      bool *known, struct baryon_error *err)
{
    const struct baryon_attribute *found = by_node_attr(node, attr);
    bool is = true;
    if (found)
        *bound = (double)found->f;
    else if (by_node_in(node, slot) && by_pass_uniform(by_node_in(node, slot), &is, bound, err))
        return -1;
    *known = *known && is;
    return 0;
}

/* What the node cuts off; *is false when it is no such node or its bounds are not constant. */
static int read_range(const struct by_pass_context *context, const struct baryon_node *node,
                      struct range *range, bool *is, struct baryon_error *err)
{
    *range = (struct range){-INFINITY, INFINITY};
    *is = true;
    if (by_pass_is(context, node, "Relu")) {
        range->low = 0;
        return 0;
    }
    if (!by_pass_is(context, node, "Clip")) {
        *is = false;
        return 0;
    }
    return read_bound(node, 1, "min", &range->low, is, err) ||
                   read_bound(node, 2, "max", &range->high, is, err)
               ? -1
               : 0;
}

/* Every value of `inner` is one that `outer` lets through. */
static bool is_within(const struct range *inner, const struct range *outer)
{
    return inner->low >= outer->low && inner->high <= outer->high && inner->low <= inner->high;
}

/* What both cut off; *is false when one of them is another kind of node. */
static int read_ranges(const struct by_pass_context *context, const struct baryon_node *first,
                       const struct baryon_node *second, struct range *inner, struct range *outer,
                       bool *is, struct baryon_error *err)
{
    if (read_range(context, first, inner, is, err))
        return -1;
    return *is ? read_range(context, second, outer, is, err) : 0;
}

/* The second goes when nothing is left for it to cut off; the first, when the second cuts off
 * all that it does. */
static int merge(struct by_pass_context *context, struct baryon_node *node,
                 struct baryon_error *err)
{
    struct baryon_value *in = by_node_in(node, 0);
    struct baryon_node *first = in ? in->producer : NULL;
    struct range inner, outer;
    bool is, done = false;
    if (!first || !by_node_in(first, 0))
        return 0;
    if (read_ranges(context, first, node, &inner, &outer, &is, err))
        return -1;
    if (!is)
        return 0;
    if (is_within(&inner, &outer)) {
        if (by_pass_bypass(node, in, &done, err))
            return -1;
    } else if (is_within(&outer, &inner) && by_pass_only_reader(in) == node) {
        if (by_node_set_input(node, 0, by_node_in(first, 0), err) ||
            by_graph_remove_node(first, err))
            return -1;
        done = true;
    }
    context->changes += done;
    return 0;
}

static int run_merge_activations(struct by_pass_context *context, struct baryon_error *err)
{
    return by_pass_each_node(context, merge, err);
}

const struct by_pass by_pass_merge_activations = {
    .name = "merge-activations",
    .help = "Remove a redundant Relu or Clip before or after another one",
    .exact = true,
    .again = true,
    .run = run_merge_activations,
};
