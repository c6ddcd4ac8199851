/* Rows of activations in the order of the graph, and who reads the dequantized values. */
#include "quant/place_internal.h"

#include <stdlib.h>

/* --- Readers --- */

static bool reads_quantized(const struct by_placing *placing, const struct by_use *use)
{
    return use->node && use->graph == placing->graph && placing->quantized[use->node->index] &&
           by_place_slot(placing, use->node, use->slot) == BY_SLOT_DATA;
}

/* Nodes of the main graph in order, then nested ones, then graph outputs. */
static int compare_uses(const void *one, const void *other)
{
    const struct by_use *a = one, *b = other;
    const int rank_a = !a->node ? 2 : a->graph->owner != NULL;
    const int rank_b = !b->node ? 2 : b->graph->owner != NULL;
    if (rank_a != rank_b)
        return rank_a - rank_b;
    if (a->node && a->node->index != b->node->index)
        return a->node->index < b->node->index ? -1 : 1;
    return a->slot < b->slot ? -1 : a->slot > b->slot;
}

static size_t count_quantized(const struct by_placing *placing, const struct by_use *uses,
                              size_t count)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        found += reads_quantized(placing, &uses[i]);
    return found;
}

/* Who runs in float reads what a quantized producer gives as it is afterwards, else the float
 * value; the peer's rewires all, or with dedicated pairs none. */
static bool floats_read_too(const struct by_placing *placing, const struct baryon_value *value,
                            size_t quantized)
{
    const struct by_recipe *recipe = placing->recipe;
    if (recipe->compat)
        return !recipe->dedicated_pairs || quantized < 2;
    return by_place_runs_quantized(placing, value);
}

/* A nested graph's output cannot be another value without a node in that graph; an input of the
 * model cannot be given back under its own name with another value. */
static bool can_reread(const struct by_placing *placing, const struct by_use *use)
{
    return use->node ||
           (use->graph == placing->graph && !by_graph_out(use->graph, use->slot)->is_input);
}

static bool smooths(const struct by_use *use)
{
    return use->node && by_place_reads_floats(use->node);
}

static bool is_only_smoothed(const struct baryon_value *value)
{
    for (size_t i = 0; i < value->use_count; i++)
        if (!smooths(&value->uses[i]))
            return false;
    return true;
}

static int add_readers(struct by_placing *placing, size_t row, struct by_use *uses, size_t count,
                       struct baryon_error *err)
{
    struct by_quant_plan *plan = placing->plan;
    const size_t quantized = count_quantized(placing, uses, count);
    const bool floats_too = floats_read_too(placing, plan->rows.at[row].value, quantized);
    qsort(uses, count, sizeof *uses, compare_uses);
    for (size_t i = 0; i < count; i++)
        if ((reads_quantized(placing, &uses[i]) ||
             (floats_too && can_reread(placing, &uses[i]) && !smooths(&uses[i]))) &&
            by_quant_add_reader(plan, row, uses[i].node, uses[i].graph, uses[i].slot, err))
            return -1;
    plan->rows.at[row].dedicated =
        placing->recipe->dedicated_pairs && plan->rows.at[row].readers.count > 1;
    return 0;
}

/* --- Rows --- */

static const char *reason(struct by_placing *placing, const struct baryon_value *value,
                          const struct baryon_node *reader, struct baryon_error *err)
{
    char label[BY_QUOTE_MAX + 80];
    if (by_place_runs_quantized(placing, value))
        return by_place_text(placing, err, "output of %s",
                             by_node_label(value->producer, label, sizeof label));
    return by_place_text(placing, err, "input of %s", by_node_label(reader, label, sizeof label));
}

/* What a folded activation reads is no tensor of the quantized model. */
static bool is_folded_away(const struct by_placing *placing, const struct baryon_value *value)
{
    const struct by_use *use = value->use_count == 1 ? &value->uses[0] : NULL;
    return use && use->node && use->graph == placing->graph && placing->folded[use->node->index] &&
           use->slot == 0;
}

/* Compilers round what nodes give by themselves. */
static bool is_left_to_compiler(const struct by_placing *placing, const struct baryon_value *value,
                                const struct by_tensor_spec *spec)
{
    return placing->recipe->floats == BY_FLOATS_COMPILER && spec->format &&
           !by_spec_is_block(spec) && !value->is_input;
}

static int add_activation(struct by_placing *placing, struct baryon_value *value,
                          const struct baryon_node *reader, struct baryon_error *err)
{
    struct by_tensor_spec spec;
    if (!by_place_marked(placing, value) || by_quant_find(placing->plan, value) != BY_NO_ROW ||
        is_folded_away(placing, value) || is_only_smoothed(value))
        return 0;
    if (by_place_data_spec(placing, value, &spec, err))
        return -1;
    if (!spec.elem || by_place_fused(placing, value, &spec) ||
        is_left_to_compiler(placing, value, &spec))
        return 0;
    const char *why = reason(placing, value, reader, err);
    const size_t count = value->use_count;
    struct by_use *uses = by_alloc(count, sizeof *uses, err);
    for (size_t i = 0; uses && i < count; i++)
        uses[i] = value->uses[i];
    const size_t row = why && uses
                           ? by_quant_add(placing->plan, value, BY_ROLE_ACTIVATION, &spec, why, err)
                           : BY_NO_ROW;
    const int failed = row == BY_NO_ROW || add_readers(placing, row, uses, count, err) ||
                               by_place_second(placing, row, err)
                           ? -1
                           : 0;
    by_free(uses);
    return failed;
}

static int visit_input(struct by_placing *placing, struct baryon_node *node, size_t slot,
                       struct baryon_error *err)
{
    const enum by_slot_role role = by_place_slot(placing, node, slot);
    switch (role) {
    case BY_SLOT_FLOAT:
        return 0;
    case BY_SLOT_DATA:
        return add_activation(placing, by_node_in(node, slot), node, err);
    case BY_SLOT_BIAS:
        return by_place_bias(placing, node, slot, err);
    default:
        return by_place_constant(placing, node, slot, role, err);
    }
}

static int visit_placed_node(struct by_placing *placing, struct baryon_node *node,
                             struct baryon_error *err)
{
    for (size_t i = 0; i < node->input.count; i++)
        if (visit_input(placing, node, i, err))
            return -1;
    for (size_t i = 0; i < node->output.count; i++)
        if (by_place_gives(placing, node, i) &&
            add_activation(placing, by_node_out(node, i), NULL, err))
            return -1;
    return 0;
}

int by_place_rows(struct by_placing *placing, struct baryon_error *err)
{
    for (size_t i = 0; i < placing->node_count; i++)
        if (placing->quantized[i] && visit_placed_node(placing, placing->graph->node.at[i], err))
            return -1;
    return 0;
}
