/* What lies between two sets of nodes, before one or after one. */
#include "quant/exclude_internal.h"

#include <string.h>

/* Of a node of the main graph, or the one that it is nested in. */
static bool is_marked(const struct by_exclusion *exclusion, size_t user)
{
    const struct baryon_node *node = exclusion->nodes[user];
    while (node->graph != exclusion->model->graph)
        node = node->graph->owner;
    return exclusion->marks[node->index];
}

static void mark_marked(struct by_exclusion *exclusion, const char *why)
{
    for (size_t i = 0; i < exclusion->count; i++)
        if (is_marked(exclusion, i))
            by_exclude_mark(exclusion, i, why);
}

static int all_nodes(const struct by_exclusion *exclusion, struct baryon_node ***nodes,
                     struct baryon_error *err)
{
    const struct by_ptrs *list = &exclusion->model->graph->node;
    *nodes = by_alloc(list->count, sizeof **nodes, err);
    for (size_t i = 0; *nodes && i < list->count; i++)
        (*nodes)[i] = list->at[i];
    return *nodes ? 0 : -1;
}

/* --- Spans --- */

struct ends {
    struct baryon_node **at;
    size_t count;
};

static int find_ends(struct by_exclusion *exclusion, const char **names, size_t count,
                     const char *origin, struct ends *ends, struct baryon_error *err)
{
    struct by_pattern *patterns = by_alloc(count, sizeof *patterns, err);
    for (size_t i = 0; patterns && i < count; i++)
        patterns[i] = (struct by_pattern){names[i], origin};
    const int failed =
        patterns ? by_exclude_find(exclusion, patterns, count, false, &ends->at, &ends->count, err)
                 : -1;
    by_free(patterns);
    return failed;
}

/* Backwards from the ends, not beyond starts; true when a graph input is met. */
static bool walk_back(const struct by_exclusion *exclusion, size_t *stack, size_t depth, bool *seen,
                      const char **input)
{
    const struct baryon_graph *graph = exclusion->model->graph;
    while (depth) {
        const struct baryon_node *node = graph->node.at[stack[--depth]];
        for (size_t i = 0; i < node->input.count; i++) {
            const struct baryon_value *value = by_node_in(node, i);
            if (!value || value->initializer)
                continue;
            if (!value->producer) {
                *input = value->name;
                return true;
            }
            if (value->producer->graph == graph && !seen[value->producer->index]) {
                seen[value->producer->index] = true;
                stack[depth++] = value->producer->index;
            }
        }
    }
    return false;
}

static int warn_of_inputs(struct by_exclusion *exclusion, const struct by_span_rule *rule,
                          const struct ends *starts, const struct ends *ends,
                          struct baryon_error *err)
{
    const size_t count = exclusion->model->graph->node.count;
    bool *seen = by_alloc_zero(count, sizeof *seen, err);
    size_t *stack = by_alloc(count, sizeof *stack, err), depth = 0;
    const char *input = NULL;
    if (seen && stack) {
        for (size_t i = 0; i < starts->count; i++)
            seen[starts->at[i]->index] = true;
        for (size_t i = 0; i < ends->count; i++)
            if (!seen[ends->at[i]->index]) {
                seen[ends->at[i]->index] = true;
                stack[depth++] = ends->at[i]->index;
            }
        if (walk_back(exclusion, stack, depth, seen, &input))
            by_log(exclusion->log, BY_LOG_WARNING,
                   "%s: the span that ends at '%s' can be reached from input '%s' without its "
                   "starts; only nodes on a path from a start stay float",
                   rule->origin ? rule->origin : "exclude", rule->ends[0], input);
    }
    const int failed = seen && stack ? 0 : -1;
    by_free(seen);
    by_free(stack);
    return failed;
}

static int no_way(const struct by_span_rule *rule, struct baryon_error *err)
{
    char start[BY_QUOTE_MAX], end[BY_QUOTE_MAX];
    by_fail(err, BARYON_ERR_USAGE, "%s: no path leads from %s to %s",
            rule->origin ? rule->origin : "exclude", by_quote(start, rule->starts[0]),
            by_quote(end, rule->ends[0]));
    return by_err_hint(err, "a span is the nodes on all paths from its starts to its ends");
}

/* Marks what lies on the ways. */
static int mark_between(struct by_exclusion *exclusion, const struct by_span_rule *rule,
                        const struct ends *starts, const struct ends *ends,
                        struct baryon_error *err)
{
    struct baryon_graph *graph = exclusion->model->graph;
    bool any = false;
    if (by_graph_between(graph, starts->at, starts->count, ends->at, ends->count, exclusion->marks,
                         err))
        return -1;
    for (size_t i = 0; i < graph->node.count; i++)
        any = any || exclusion->marks[i];
    return any ? 0 : no_way(rule, err);
}

typedef int use_marks(struct by_exclusion *exclusion, const struct by_span_rule *rule,
                      const struct ends *starts, const struct ends *ends, struct baryon_error *err);

static int exclude_marked(struct by_exclusion *exclusion, const struct by_span_rule *rule,
                          const struct ends *starts, const struct ends *ends,
                          struct baryon_error *err)
{
    const char *why = by_exclude_text(exclusion, err, "excluded between '%s' and '%s'",
                                      rule->starts[0], rule->ends[0]);
    if (!why)
        return -1;
    mark_marked(exclusion, why);
    return warn_of_inputs(exclusion, rule, starts, ends, err);
}

static int find_span(struct by_exclusion *exclusion, const struct by_span_rule *rule,
                     use_marks *use, struct baryon_error *err)
{
    struct ends starts = {0}, ends = {0};
    if (!rule->start_count || !rule->end_count)
        return by_fail(err, BARYON_ERR_USAGE, "%s: a span requires a start and an end",
                       rule->origin ? rule->origin : "exclude");
    const int failed =
        find_ends(exclusion, rule->starts, rule->start_count, rule->origin, &starts, err) ||
        find_ends(exclusion, rule->ends, rule->end_count, rule->origin, &ends, err) ||
        mark_between(exclusion, rule, &starts, &ends, err) ||
        (use && use(exclusion, rule, &starts, &ends, err));
    by_free(starts.at);
    by_free(ends.at);
    return failed ? -1 : 0;
}

int by_exclude_rules(struct by_exclusion *exclusion, struct baryon_error *err)
{
    unsigned bit = 0;
    for (size_t i = 0; i < exclusion->recipe->rules.count; i++) {
        const struct by_span_rule *span = exclusion->recipe->rules.at[i].span;
        if (!span)
            continue;
        if (find_span(exclusion, span, NULL, err))
            return -1;
        for (size_t k = 0; k < exclusion->count; k++)
            exclusion->users[k].spans |= (uint64_t)is_marked(exclusion, k) << bit;
        bit++;
    }
    return 0;
}

int by_exclude_spans(struct by_exclusion *exclusion, struct baryon_error *err)
{
    for (size_t i = 0; i < exclusion->recipe->exclude_spans.count; i++)
        if (find_span(exclusion, &exclusion->recipe->exclude_spans.at[i], exclude_marked, err))
            return -1;
    return 0;
}

/* --- Before the first nodes and after the last ones --- */

/* Of the marks of both ways, what one way reaches and the other does not: a node between two of
 * the named ones is neither before nor after. */
static int exclude_side(struct by_exclusion *exclusion, const struct by_patterns *patterns,
                        bool before, struct baryon_error *err)
{
    struct baryon_graph *graph = exclusion->model->graph;
    struct ends named = {0}, all = {NULL, graph->node.count};
    bool *away = NULL, *toward = NULL;
    int failed = by_exclude_find(exclusion, patterns->at, patterns->count, true, &named.at,
                                 &named.count, err) ||
                 all_nodes(exclusion, &all.at, err) ||
                 !(away = by_alloc_zero(all.count, sizeof *away, err)) ||
                 !(toward = by_alloc_zero(all.count, sizeof *toward, err)) ||
                 by_graph_between(graph, all.at, all.count, named.at, named.count, toward, err) ||
                 by_graph_between(graph, named.at, named.count, all.at, all.count, away, err);
    for (size_t i = 0; !failed && i < all.count; i++)
        exclusion->marks[i] = before ? toward[i] && !away[i] : away[i] && !toward[i];
    if (!failed)
        mark_marked(exclusion,
                    before ? "it is before the input nodes" : "it is after the output nodes");
    by_free(named.at);
    by_free(all.at);
    by_free(away);
    by_free(toward);
    return failed ? -1 : 0;
}

int by_exclude_ends(struct by_exclusion *exclusion, struct baryon_error *err)
{
    const struct by_recipe *recipe = exclusion->recipe;
    if (recipe->input_nodes.count && exclude_side(exclusion, &recipe->input_nodes, true, err))
        return -1;
    return recipe->output_nodes.count ? exclude_side(exclusion, &recipe->output_nodes, false, err)
                                      : 0;
}
