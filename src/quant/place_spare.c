/*
 * Pairs that no layer reads. Integers gain speed where numbers are multiplied in layers; what
 * runs between them gains little and passes on the noise of every rounding. Without such pairs it
 * computes in float, and layers stay as they are. Samples decide (trial/choices.c).
 */
#include "quant/place_internal.h"

static const char not_a_layer[] = "no layer reads its integers";

static bool is_spare_layer(const struct baryon_node *node)
{
    static const char *const names[] = {"Conv", "ConvTranspose", "Einsum", "GRU", "Gemm",
                                        "LSTM", "MatMul",        "RNN",    NULL};
    return by_node_is_one_of(node, names);
}

/* ONNX Runtime computes these in integers only where their outputs are integers too. */
static bool gives_integers(const struct baryon_node *node)
{
    return by_node_is(node, "Conv") || by_node_is(node, "ConvTranspose");
}

/* No pair stands between a layer and its activation function: without the one after it the layer's
 * own output would be rounded instead. */
static bool finishes_layer(const struct by_placing *placing, const struct baryon_node *node)
{
    const struct baryon_value *value = by_node_in(node, 0);
    const struct baryon_node *layer = value ? value->producer : NULL;
    return layer && layer->graph == placing->graph && gives_integers(layer) &&
           by_place_is_activation(placing->recipe, node);
}

bool by_place_waits(const struct by_placing *placing, const struct baryon_node *node)
{
    const struct by_place_op *op = placing->ops[node->index];
    if (!placing->recipe->spares_pairs && !placing->recipe->keep_unquantized_chains)
        return false;
    return (op->flags & (BY_PLACE_BEHIND | BY_PLACE_JOINS)) ||
           (placing->recipe->spares_pairs && by_place_moves(placing, node));
}

static bool is_kept_float(const struct by_placing *placing, const struct baryon_node *node)
{
    const struct by_recipe *recipe = placing->recipe;
    for (size_t i = 0; i < recipe->rules.count; i++)
        if (recipe->rules.at[i].kind == BY_RULE_NODE && recipe->rules.at[i].keep_float &&
            by_place_rule_picks(placing, i, node))
            return true;
    return false;
}

/* Without any layer nothing would be left. Those that rules keep float one by one count: with the
 * last of them nothing between them begins to be rounded. */
static bool has_layer(const struct by_placing *placing)
{
    for (size_t i = 0; i < placing->node_count; i++) {
        const struct baryon_node *node = placing->graph->node.at[i];
        if (is_spare_layer(node) && (!placing->stays[i] || is_kept_float(placing, node)))
            return true;
    }
    return false;
}

/* The user names the operator, or the node; of a layer a rule about its weight asks for no pair
 * after it. */
static int is_asked_for(const struct by_placing *placing, const struct baryon_node *node,
                        bool *asked, struct baryon_error *err)
{
    const struct by_recipe *recipe = placing->recipe;
    *asked = false;
    for (size_t i = 0; i < recipe->rules.count && !*asked; i++)
        *asked = by_place_rule_picks(placing, i, node) &&
                 (!is_spare_layer(node) || recipe->rules.at[i].output.set);
    if (*asked)
        return 0;
    return by_place_any_picks(&recipe->extra_op_types, node->op_type, asked, err);
}

static bool is_idle(const struct by_placing *placing, const struct baryon_node *node)
{
    return placing->ops[node->index]->rule == BY_PLACE_PLAIN && !by_place_waits(placing, node) &&
           !finishes_layer(placing, node);
}

int by_place_spare(struct by_placing *placing, struct baryon_error *err)
{
    const struct by_recipe *recipe = placing->recipe;
    if (!recipe->spares_pairs || recipe->approach != BY_APPROACH_STATIC || recipe->op_types.count ||
        !has_layer(placing))
        return 0;
    for (size_t i = 0; i < placing->node_count; i++) {
        const struct baryon_node *node = placing->graph->node.at[i];
        bool asked;
        if (is_asked_for(placing, node, &asked, err))
            return -1;
        if (is_spare_layer(node))
            placing->mute[i] = placing->mute[i] || (!asked && !gives_integers(node));
        else if (!asked && is_idle(placing, node))
            by_place_keep(placing, node, not_a_layer);
    }
    return 0;
}

size_t by_place_spared(const struct by_quant_plan *plan)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->node_count; i++)
        count += plan->nodes[i].why == not_a_layer;
    return count;
}
