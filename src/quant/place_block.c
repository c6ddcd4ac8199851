/*
 * The axis that blocks lie along: the one that a product sums over, so that elements which meet in
 * it share their exponents; of what Softmax reads the one it works along; else that of channels.
 */
#include "quant/place_internal.h"

static int rank_of(const struct baryon_value *value)
{
    if (value->initializer)
        return (int)value->initializer->dims.count;
    return value->shape ? (int)value->shape->rank : -1;
}

/* Of constants, whose rank is known, counted from the front. */
static int from_end(const struct baryon_value *value, int axis)
{
    return value->initializer && rank_of(value) >= -axis ? rank_of(value) + axis : axis;
}

static bool axis_of_reader(const struct baryon_node *node, size_t slot, int *axis)
{
    if (by_node_is(node, "MatMul") && slot < 2)
        *axis = from_end(by_node_in(node, slot), slot ? -2 : -1);
    else if (by_node_is(node, "Gemm") && slot < 2)
        *axis = (by_node_int(node, slot ? "transB" : "transA", 0) != 0) == (slot == 1);
    else if (by_node_is(node, "Softmax") && slot == 0)
        *axis = (int)by_node_int(node, "axis", -1);
    else
        return false;
    return true;
}

int by_place_block_axis(const struct baryon_node *node, size_t slot,
                        const struct by_tensor_spec *spec)
{
    int axis;
    if (rank_of(by_node_in(node, slot)) <= 1)
        return 0;
    return !spec->block.one_axis && axis_of_reader(node, slot, &axis) ? axis
                                                                      : (int)spec->block.axis;
}

static struct by_quant_row *row_at(const struct by_placing *placing, size_t at)
{
    struct by_quant_row *row = at != BY_NO_ROW ? &placing->plan->rows.at[at] : NULL;
    return row && row->role == BY_ROLE_ACTIVATION && !row->spec.block.one_axis ? row : NULL;
}

/* Of several readers the last one has its way, as with Quark. */
static void ask_node(const struct by_placing *placing, const struct baryon_node *node)
{
    struct by_quant_row *row = row_at(placing, by_quant_find(placing->plan, by_node_out(node, 0)));
    if (row && by_node_is(node, "MatMul")) /* lies as what the product read first */
        row->block_axis = -1;
    for (size_t i = 0; i < node->input.count; i++) {
        int axis;
        row = row_at(placing, by_quant_read(placing->plan, node, i));
        if (row && axis_of_reader(node, i, &axis))
            row->block_axis = axis;
    }
}

static int check_block_axis(const struct by_quant_row *row, struct baryon_error *err)
{
    char quote[BY_QUOTE_MAX];
    const int rank = rank_of(row->value);
    if (!by_spec_is_block(&row->spec) || rank <= 1 ||
        (row->block_axis >= -rank && row->block_axis < rank))
        return 0;
    by_fail(err, BARYON_ERR_USAGE,
            "tensor %s has %d axes, blocks of %s along axis %d are not possible",
            by_quote(quote, row->value->name), rank, row->spec.format->name, row->block_axis);
    return by_err_hint(err, "--block-axis 1 fits every tensor; --exclude keeps nodes float");
}

int by_place_blocks(struct by_placing *placing, struct baryon_error *err)
{
    struct by_quant_plan *plan = placing->plan;
    for (size_t i = 0; i < plan->rows.count; i++)
        if (plan->rows.at[i].role == BY_ROLE_ACTIVATION)
            plan->rows.at[i].block_axis = (int)plan->rows.at[i].spec.block.axis;
    for (size_t i = 0; i < placing->node_count; i++)
        ask_node(placing, placing->graph->node.at[i]);
    for (size_t i = 0; i < plan->rows.count; i++)
        if (check_block_axis(&plan->rows.at[i], err))
            return -1;
    return 0;
}
