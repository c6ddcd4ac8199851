/*
 * Reshape to sizes of which one alone is computed: what is left over is that size, so that
 * nothing has to be computed. A tensor without elements could have been given any; what has none
 * is not what models are made for.
 */
#include "pass/make.h"
#include "pass/passes.h"

/* The sizes with -1 for the one that is not constant. */
static bool find_sizes(struct by_matcher *match, const struct baryon_node *concat, int64_t *sizes,
                       size_t *count)
{
    bool computed = false;
    *count = 0;
    for (size_t i = 0; i < concat->input.count; i++) {
        size_t more;
        const struct baryon_value *value = by_node_in(concat, i);
        const int64_t *given = by_match_ints(match, value, BY_RANK_MAX - *count, &more);
        if (given) {
            for (size_t k = 0; k < more; k++)
                sizes[(*count)++] = given[k];
            continue;
        }
        if (computed || by_pass_rank(value) != 1 || by_match_size(value, 0) != 1 ||
            by_match_is_constant(value) || *count == BY_RANK_MAX)
            return false;
        computed = true;
        sizes[(*count)++] = -1;
    }
    return computed;
}

static bool leaves_one_open(const struct baryon_node *reshape, const int64_t *sizes, size_t count)
{
    size_t open = 0;
    const bool zero_is_zero = by_node_int(reshape, "allowzero", 0);
    for (size_t i = 0; i < count; i++) {
        open += sizes[i] < 0;
        if (sizes[i] == 0 && zero_is_zero)
            return false;
    }
    return open == 1;
}

static int visit(struct by_matcher *match, struct baryon_node *node)
{
    char stem[BY_STEM_MAX];
    int64_t sizes[BY_RANK_MAX];
    size_t count;
    const struct baryon_node *concat =
        by_node_is(node, "Reshape") ? by_match_producer(node, 1, "Concat") : NULL;
    if (!concat || !by_node_out(node, 0) || !find_sizes(match, concat, sizes, &count) ||
        !leaves_one_open(node, sizes, count))
        return 0;
    struct baryon_value *old = by_node_in(node, 1);
    const int64_t dims[] = {(int64_t)count};
    by_make_stem(stem, by_node_out(node, 0)->name, "_shape");
    struct baryon_value *made = by_pass_add_ints(node->graph, stem, dims, 1, sizes, match->err);
    if (!made || by_node_set_input(node, 1, made, match->err))
        return -1;
    match->context->changes++;
    return by_make_drop(match, old);
}

static int run(struct by_pass_context *context, struct baryon_error *err)
{
    return by_match_each(context, visit, err);
}

const struct by_pass by_pass_fold_reshape = {
    .name = "fold-reshape",
    .help = "Reshape to sizes of which one is computed takes what is left over for it",
    .exact = true,
    .shapes = true,
    .again = true,
    .run = run,
};
