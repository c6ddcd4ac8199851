/*
 * Reshape to computed sizes -> to constant ones: a size that the data has in the same place is
 * 0, which copies it, and one that is computed in another way is what is left over, -1. A tensor
 * without elements could have been given any; what has none is not what models are made for.
 */
#include "pass/make.h"
#include "pass/passes.h"

#define MOVES_MAX 8

struct sizes {
    const struct baryon_value *data;
    int64_t at[BY_RANK_MAX];
    size_t count;
    bool folds; /* one of them was computed */
};

/* --- Where a size comes from --- */

/* Through what only changes how one number is held. */
static const struct baryon_node *origin_of(const struct baryon_value *value)
{
    static const char *const holders[] = {"Unsqueeze", "Squeeze", "Cast", "Identity"};
    const struct baryon_node *node = value ? value->producer : NULL;
    for (unsigned moves = 0; node && moves < MOVES_MAX; moves++) {
        bool holds = false;
        for (size_t i = 0; i < sizeof holders / sizeof *holders; i++)
            holds |= by_node_is(node, holders[i]);
        if (!holds)
            return node;
        const struct baryon_value *input = by_node_in(node, 0);
        node = input ? input->producer : NULL;
    }
    return NULL;
}

/* The value whose whole shape it is; NULL when it is none. */
static const struct baryon_value *shape_of(const struct baryon_value *value)
{
    const struct baryon_node *node = origin_of(value);
    return node && by_node_is(node, "Shape") && !node->attribute.count ? by_node_in(node, 0) : NULL;
}

/* One size of a tensor, and of which: Gather(Shape(x), i) or Slice(Shape(x), i, i + 1). */
static const struct baryon_value *find_axis(struct by_matcher *match,
                                            const struct baryon_node *node, int64_t *axis)
{
    double first, second = 0, step = 1;
    const struct baryon_value *of = shape_of(by_node_in(node, 0));
    const int rank = by_pass_rank(of);
    const bool slice = by_node_is(node, "Slice");
    if (!of || rank < 0 || !(slice || by_node_is(node, "Gather")) ||
        !by_match_scalar(match, by_node_in(node, 1), &first))
        return NULL;
    if (slice &&
        (!by_match_scalar(match, by_node_in(node, 2), &second) || second != first + 1 ||
         (by_node_in(node, 4) && !by_match_scalar(match, by_node_in(node, 4), &step)) || step != 1))
        return NULL;
    *axis = (int64_t)first + (first < 0 ? rank : 0);
    return *axis >= 0 && *axis < rank ? of : NULL;
}

/* The data has that size in the same place, whatever it is. */
static bool is_copied(struct by_matcher *match, const struct sizes *sizes,
                      const struct baryon_value *value)
{
    int64_t axis;
    const struct baryon_node *node = origin_of(value);
    const struct baryon_value *of = node ? find_axis(match, node, &axis) : NULL;
    const int rank = by_pass_rank(sizes->data);
    if (!of || rank < 0 || sizes->count >= (size_t)rank)
        return false;
    return (of == sizes->data && (size_t)axis == sizes->count) ||
           by_extent_equal(of->shape->dims[axis], sizes->data->shape->dims[sizes->count]);
}

/* --- Sizes --- */

static bool add_part(struct by_matcher *match, struct sizes *sizes,
                     const struct baryon_value *value)
{
    size_t more;
    const int64_t *given = by_match_ints(match, value, BY_RANK_MAX - sizes->count, &more);
    if (given) {
        for (size_t i = 0; i < more; i++)
            sizes->at[sizes->count++] = given[i];
        return true;
    }
    if (by_pass_rank(value) != 1 || by_match_size(value, 0) != 1 || by_match_is_constant(value) ||
        sizes->count == BY_RANK_MAX)
        return false;
    sizes->folds = true;
    sizes->at[sizes->count] = is_copied(match, sizes, value) ? 0 : -1;
    sizes->count++;
    return true;
}

static bool find_sizes(struct by_matcher *match, const struct baryon_node *concat,
                       struct sizes *sizes)
{
    size_t open = 0;
    for (size_t i = 0; i < concat->input.count; i++)
        if (!add_part(match, sizes, by_node_in(concat, i)))
            return false;
    for (size_t i = 0; i < sizes->count; i++)
        open += sizes->at[i] < 0;
    return sizes->folds && open <= 1;
}

static int visit_reshape(struct by_matcher *match, struct baryon_node *node)
{
    char stem[BY_STEM_MAX];
    struct sizes sizes = {.data = by_node_in(node, 0)};
    const bool is = by_node_is(node, "Reshape") && !by_node_int(node, "allowzero", 0);
    const struct baryon_node *concat = is ? by_match_producer(node, 1, "Concat") : NULL;
    if (!concat || !by_node_out(node, 0) || !find_sizes(match, concat, &sizes))
        return 0;
    struct baryon_value *old = by_node_in(node, 1);
    const int64_t dims[] = {(int64_t)sizes.count};
    by_make_stem(stem, by_node_out(node, 0)->name, "_shape");
    struct baryon_value *made = by_pass_add_ints(node->graph, stem, dims, 1, sizes.at, match->err);
    if (!made || by_node_set_input(node, 1, made, match->err))
        return -1;
    match->context->changes++;
    return by_make_drop(match, old);
}

static int run_fold_reshape(struct by_pass_context *context, struct baryon_error *err)
{
    return by_match_each(context, visit_reshape, err);
}

const struct by_pass by_pass_fold_reshape = {
    .name = "fold-reshape",
    .help = "Replace computed sizes of Reshape: 0 copies a size of the input, -1 stands for the "
            "remaining size",
    .exact = true,
    .shapes = true,
    .again = true,
    .run = run_fold_reshape,
};
