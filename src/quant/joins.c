/* Finds Concat nodes whose scale leaves little of some inputs, and what only scales them after it.
 */
#include "quant/joins.h"

#include "quant/own_sqnr.h"

#include <math.h>

#define POOR  20.0 /* dB: what an input has less than is lost in the joined tensor's scale */
#define GAINS 6.0  /* dB that a scale of its own has to gain it, one bit */

struct joining {
    const struct by_quant_plan *plan;
    struct by_stats *stats;
    const struct baryon_graph *graph;
    bool *in;                         /* by node->index: of the join at hand */
    const struct baryon_node **nodes; /* those, the Concat first */
    size_t count;
    bool *listed; /* by node->index: of any join */
};

/* Gives values of its first input, all or some. */
static bool only_moves(const struct baryon_node *node)
{
    static const char *const names[] = {"Flatten", "Identity",  "Reshape",   "Slice", "Split",
                                        "Squeeze", "Transpose", "Unsqueeze", NULL};
    return by_node_is_one_of(node, names);
}

static bool scales(const struct baryon_node *node)
{
    static const char *const names[] = {"Add", "BatchNormalization", "Div", "Mul", "Sub", NULL};
    return by_node_is_one_of(node, names);
}

static bool joins_or_moves(const struct baryon_node *node)
{
    return by_node_is(node, "Concat") || only_moves(node);
}

static bool takes_integers(const struct joining *joining, const struct baryon_node *node)
{
    const struct by_quant_node *planned = by_quant_node_of(joining->plan, node);
    return node->graph == joining->graph && planned && planned->state == BY_NODE_QUANTIZED;
}

static const struct by_tensor_stats *stats_of(const struct joining *joining,
                                              const struct baryon_value *value)
{
    return by_stats_find(joining->stats, value->name);
}

/* --- What is lost --- */

static bool has_own_range(const struct joining *joining, const struct baryon_value *value)
{
    const size_t row = by_quant_find(joining->plan, value);
    return row != BY_NO_ROW && (joining->plan->rows.at[row].range.low < 0 ||
                                joining->plan->rows.at[row].range.high > 0);
}

/* Of a range that nobody asked samples for, as that of Sigmoid, by the steps in it: values may fill
 * it, so that this is no more than what they have. */
static bool has_few_steps(const struct joining *joining, size_t joined,
                          const struct baryon_value *input)
{
    const size_t row = by_quant_find(joining->plan, input);
    const double step = (double)by_quant_params(joining->plan, joined)->scales[0];
    if (row == BY_NO_ROW)
        return false;
    const struct by_range *range = &joining->plan->rows.at[row].range;
    const double most = fmax(fabs(range->low), fabs(range->high));
    /* SQNR of a uniform distribution up to `most`, with noise of step^2 / 12. */
    return most > 0 && 20 * log10(2 * most / step) < POOR;
}

/* Values that are only moved have the statistics and the range of where they come from. */
static const struct baryon_value *known_source(const struct joining *joining,
                                               const struct baryon_value *value)
{
    while (value && !stats_of(joining, value) && !has_own_range(joining, value) &&
           value->producer && only_moves(value->producer))
        value = by_node_in(value->producer, 0);
    return value;
}

static int is_lost(const struct joining *joining, size_t joined, const struct baryon_value *given,
                   bool *lost, struct baryon_error *err)
{
    const struct baryon_value *input = known_source(joining, given);
    const struct by_tensor_stats *seen = input ? stats_of(joining, input) : NULL;
    double with, own;
    *lost = input && !seen && has_few_steps(joining, joined, input);
    if (!seen || !(by_sketch_rms(&seen->sketch) > 0))
        return 0;
    if (by_quant_sqnr_in(joining->plan, joined, &seen->sketch, &with, err) < 0 ||
        by_quant_sqnr_at_best(joining->plan, joined, &seen->sketch, &own, err) < 0)
        return -1;
    *lost = with < POOR && own > with + GAINS;
    return 0;
}

/* *lost: one of its inputs is. */
static int loses(const struct joining *joining, const struct baryon_node *concat, bool *lost,
                 struct baryon_error *err)
{
    const struct baryon_value *out = by_node_out(concat, 0);
    const size_t joined = out ? by_quant_find(joining->plan, out) : BY_NO_ROW;
    *lost = false;
    if (joined == BY_NO_ROW || joining->plan->rows.at[joined].spec.format ||
        by_quant_params(joining->plan, joined)->count != 1)
        return 0;
    for (size_t i = 0; i < concat->input.count && !*lost; i++)
        if (is_lost(joining, joined, by_node_in(concat, i), lost, err) < 0)
            return -1;
    return 0;
}

/* --- What stays float with it --- */

static void add_node(struct joining *joining, const struct baryon_node *node)
{
    if (joining->in[node->index])
        return;
    joining->in[node->index] = true;
    joining->nodes[joining->count++] = node;
}

static void follow_join(struct joining *joining, const struct baryon_node *concat)
{
    add_node(joining, concat);
    for (size_t at = 0; at < joining->count; at++)
        for (size_t k = 0; k < joining->nodes[at]->output.count; k++) {
            const struct baryon_value *out = by_node_out(joining->nodes[at], k);
            for (size_t i = 0; out && i < out->use_count; i++) {
                const struct baryon_node *user = out->uses[i].node;
                if (user && takes_integers(joining, user) && (joins_or_moves(user) || scales(user)))
                    add_node(joining, user);
            }
        }
}

/* Whether a node in it reads what the node gives, or none that takes integers does. */
static bool leads_on(const struct joining *joining, const struct baryon_node *node)
{
    bool read = false;
    for (size_t k = 0; k < node->output.count; k++) {
        const struct baryon_value *out = by_node_out(node, k);
        for (size_t i = 0; out && i < out->use_count; i++) {
            const struct baryon_node *user = out->uses[i].node;
            read = read || (user && takes_integers(joining, user));
            if (user && user->graph == joining->graph && joining->in[user->index])
                return true;
        }
    }
    return !read;
}

/* What only moves values before a layer may as well move integers. */
static void drop_last_moves(struct joining *joining)
{
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 1; i < joining->count; i++) {
            const struct baryon_node *node = joining->nodes[i];
            if (scales(node) || leads_on(joining, node))
                continue;
            joining->in[node->index] = false;
            joining->nodes[i--] = joining->nodes[--joining->count];
            again = true;
        }
    }
}

/* A row whose parameters come from elsewhere requires no statistics of its own. */
static bool has_source(const struct joining *joining, const struct baryon_value *value)
{
    const size_t at = by_quant_find(joining->plan, value);
    if (at == BY_NO_ROW || stats_of(joining, value))
        return true;
    const struct by_quant_row *row = &joining->plan->rows.at[at];
    const size_t owner = row->shares != BY_NO_ROW ? row->shares : row->range_of;
    if (row->has_range || row->has_params)
        return true;
    const struct baryon_node *from =
        owner != BY_NO_ROW ? joining->plan->rows.at[owner].value->producer : NULL;
    return owner != BY_NO_ROW &&
           !(from && from->graph == joining->graph && joining->in[from->index]);
}

/* Each tensor between floats and integers has a range of its own, which has to be known. */
static bool is_observed(const struct joining *joining)
{
    for (size_t i = 0; i < joining->count; i++) {
        const struct baryon_node *node = joining->nodes[i];
        for (size_t k = 0; k < node->input.count; k++) {
            const struct baryon_value *value = by_node_in(node, k);
            const struct baryon_node *from = value ? value->producer : NULL;
            if (from && takes_integers(joining, from) && !joining->in[from->index] &&
                !has_source(joining, value))
                return false;
        }
        for (size_t k = 0; k < node->output.count; k++) {
            const struct baryon_value *value = by_node_out(node, k);
            for (size_t u = 0; value && u < value->use_count; u++) {
                const struct baryon_node *user = value->uses[u].node;
                if (user && takes_integers(joining, user) && !joining->in[user->index] &&
                    !stats_of(joining, value))
                    return false;
            }
        }
    }
    return true;
}

/* --- All --- */

static int look_at(struct joining *joining, const struct baryon_node *concat,
                   struct baryon_error *err)
{
    bool lost;
    if (!by_node_is(concat, "Concat") || concat->graph != joining->graph)
        return 0;
    if (loses(joining, concat, &lost, err) < 0)
        return -1;
    if (!lost)
        return 0;
    follow_join(joining, concat);
    drop_last_moves(joining);
    const bool observed = is_observed(joining);
    for (size_t i = 0; i < joining->count; i++)
        joining->listed[joining->nodes[i]->index] |=
            observed && takes_integers(joining, joining->nodes[i]);
    for (size_t i = 0; i < joining->graph->node.count; i++)
        joining->in[i] = false;
    joining->count = 0;
    return 0;
}

static int list_all(struct joining *joining, const char **names, size_t *count,
                    struct baryon_error *err)
{
    const struct baryon_graph *graph = joining->graph;
    for (size_t i = 0; i < graph->node.count; i++)
        if (graph->node.at[i] && look_at(joining, graph->node.at[i], err) < 0)
            return -1;
    for (size_t i = 0; i < graph->node.count; i++)
        if (joining->listed[i])
            names[(*count)++] = by_node_out(graph->node.at[i], 0)->name;
    return 0;
}

int by_joins_list(const struct by_quant_plan *plan, struct by_stats *stats, const char ***names,
                  size_t *count, struct baryon_error *err)
{
    const size_t all = plan->model->graph->node.count + 1;
    struct joining joining = {.plan = plan, .stats = stats, .graph = plan->model->graph};
    *names = by_alloc(all, sizeof **names, err);
    *count = 0;
    joining.in = by_alloc_zero(all, sizeof *joining.in, err);
    joining.listed = by_alloc_zero(all, sizeof *joining.listed, err);
    joining.nodes = by_alloc(all, sizeof *joining.nodes, err);
    const int status = *names && joining.in && joining.listed && joining.nodes
                           ? list_all(&joining, *names, count, err)
                           : -1;
    by_free(joining.in);
    by_free(joining.listed);
    by_free((void *)joining.nodes);
    return status;
}
