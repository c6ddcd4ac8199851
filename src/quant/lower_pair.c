/* QuantizeLinear and DequantizeLinear for a row, and its readers. */
#include "quant/lower_format.h"
#include "quant/lower_node.h"

/* --- Readers --- */

/* A graph output keeps its name: what it is now has it, what it was gets another. */
static int give_output(struct by_lowering *lowering, struct baryon_value *was,
                       struct baryon_value *now, const struct baryon_value *first, const char *stem,
                       struct baryon_error *err)
{
    if (by_value_replace_uses(was, now, first ? first->producer : NULL, err))
        return -1;
    const char *name = by_lower_name(lowering, stem, "QuantizeLinear_Input", 0, err);
    return name ? by_value_rename(was, name, err) : -1;
}

static int rewire(struct by_lowering *lowering, const struct by_quant_row *row,
                  const struct by_quant_reader *reader, struct baryon_value *now,
                  const struct baryon_value *first, const char *stem, struct baryon_error *err)
{
    if (reader->node)
        return by_node_set_input(reader->node, reader->slot, now, err);
    if (by_graph_out(lowering->graph, reader->slot) != row->value)
        return 0; /* given with another output of the same value */
    return give_output(lowering, row->value, now, first, stem, err);
}

/* --- Activations, and constants that stay float --- */

struct pairs {
    const char *stem;
    bool each_pair, each_dequantize;
    struct baryon_value *first, *quantized, *value; /* first: of a Clip or Div before the pair */
    struct baryon_value *source;                    /* of a second pair; NULL: the row's value */
};

/* Blocks need no second node: what a reader gets is what the first one gave. */
static int add_nodes(struct by_lowering *lowering, size_t index, size_t number, struct pairs *pairs,
                     struct baryon_error *err)
{
    const struct by_quant_row *row = &lowering->plan->rows.at[index];
    struct baryon_value *from = pairs->first    ? pairs->first
                                : pairs->source ? pairs->source
                                                : row->value;
    const size_t first = pairs->each_pair ? number : 0;
    if (by_spec_is_block(&row->spec)) {
        if (!pairs->value || pairs->each_pair)
            pairs->value = pairs->quantized =
                by_lower_half(lowering, index, BY_WIDENS, from, pairs->stem, first, err);
        return pairs->value ? 0 : -1;
    }
    if (!pairs->quantized || pairs->each_pair)
        pairs->quantized =
            by_lower_half(lowering, index, BY_NARROWS, from, pairs->stem, first, err);
    if (pairs->quantized && (!pairs->value || pairs->each_dequantize))
        pairs->value = by_lower_half(lowering, index, BY_WIDENS, pairs->quantized, pairs->stem,
                                     pairs->each_dequantize ? number : 0, err);
    return pairs->quantized && pairs->value ? 0 : -1;
}

static int add_pair(struct by_lowering *lowering, size_t index, size_t reader, struct pairs *pairs,
                    struct baryon_error *err)
{
    const struct by_quant_row *row = &lowering->plan->rows.at[index];
    if (add_nodes(lowering, index, reader + 1, pairs, err))
        return -1;
    return rewire(lowering, row, &row->readers.at[reader], pairs->value,
                  pairs->first ? pairs->first : pairs->quantized, pairs->stem, err);
}

static bool is_clipped(const struct by_lowering *lowering, const struct by_quant_row *row)
{
    return lowering->recipe->float_clip && row->role == BY_ROLE_ACTIVATION && row->spec.format &&
           !by_spec_is_block(&row->spec) && !by_spec_is_scaled(&row->spec);
}

static int add_first(struct by_lowering *lowering, size_t index, struct pairs *pairs,
                     struct baryon_error *err)
{
    const struct by_quant_row *row = &lowering->plan->rows.at[index];
    if (is_clipped(lowering, row))
        pairs->first = by_lower_clip(lowering, index, pairs->stem, err);
    else if (by_lower_is_divided(lowering->recipe, row))
        pairs->first = by_lower_divide(lowering, index, pairs->stem, err);
    else
        return 0;
    return pairs->first ? 0 : -1;
}

static void note_pair(struct by_lowering *lowering, size_t index, const struct pairs *pairs)
{
    lowering->at[index].quantized = pairs->quantized;
    lowering->at[index].first = pairs->first ? pairs->first : pairs->quantized;
}

/* The first pair of a row that only second ones read. */
static int add_unread(struct by_lowering *lowering, size_t index, struct baryon_error *err)
{
    const struct by_quant_row *row = &lowering->plan->rows.at[index];
    const enum by_half half = by_spec_is_block(&row->spec) ? BY_WIDENS : BY_NARROWS;
    struct pairs pairs = {.stem = row->value->name};
    if (add_first(lowering, index, &pairs, err))
        return -1;
    pairs.quantized = by_lower_half(lowering, index, half, pairs.first ? pairs.first : row->value,
                                    pairs.stem, 0, err);
    note_pair(lowering, index, &pairs);
    return pairs.quantized ? 0 : -1;
}

/* A pair that reads what another one leaves of the value, through a node of its own: runtimes fuse
 * the two in the middle. */
static int add_second(struct by_lowering *lowering, size_t index, struct baryon_error *err)
{
    const struct by_quant_row *row = &lowering->plan->rows.at[index];
    const struct by_quant_row *from = &lowering->plan->rows.at[row->converts];
    struct by_lowered *made = &lowering->at[row->converts];
    const char *stem = by_lower_name(lowering, row->value->name, "convert", 0, err);
    const char *clone = stem ? by_lower_name(lowering, stem, "clone", 0, err) : NULL;
    if (!clone || !row->readers.count)
        return clone ? 0 : -1;
    if (!made->quantized && add_unread(lowering, row->converts, err))
        return -1;
    struct pairs pairs = {.stem = stem};
    pairs.source = by_spec_is_block(&from->spec) ? made->quantized
                                                 : by_lower_half(lowering, row->converts, BY_WIDENS,
                                                                 made->quantized, clone, 0, err);
    if (!pairs.source)
        return -1;
    for (size_t i = 0; i < row->readers.count; i++)
        if (add_nodes(lowering, index, 1, &pairs, err) ||
            rewire(lowering, row, &row->readers.at[i], pairs.value, made->first, row->value->name,
                   err))
            return -1;
    return 0;
}

/* An output takes all that read the value with it, so it goes first where each has its own. */
static int add_pairs(struct by_lowering *lowering, size_t index, struct baryon_error *err)
{
    const struct by_quant_row *row = &lowering->plan->rows.at[index];
    const bool each = row->dedicated || (lowering->recipe->dedicated_dq && row->readers.count > 1);
    struct pairs pairs = {
        .stem = row->value->name, .each_pair = row->dedicated, .each_dequantize = each};
    if (row->converts != BY_NO_ROW)
        return add_second(lowering, index, err);
    if (row->readers.count && add_first(lowering, index, &pairs, err))
        return -1;
    for (size_t i = 0; each && i < row->readers.count; i++)
        if (!row->readers.at[i].node && add_pair(lowering, index, i, &pairs, err))
            return -1;
    for (size_t i = 0; i < row->readers.count; i++)
        if ((!each || row->readers.at[i].node) && add_pair(lowering, index, i, &pairs, err))
            return -1;
    note_pair(lowering, index, &pairs);
    return 0;
}

/* --- Constants --- */

/* What the integers of a sum's bias mean takes the float one's name. */
static int take_name(struct by_lowering *lowering, struct baryon_value *was,
                     struct baryon_value *now, struct baryon_error *err)
{
    const char *stem = was->name;
    if (was->use_count || was->pinned || by_value_is_output(was))
        return 0;
    (void)lowering;
    return by_graph_remove_initializer(was, err) ? -1 : by_value_rename(now, stem, err);
}

/* What was stored as a matrix, with its own dims again. */
static struct baryon_value *stack(struct by_lowering *lowering, const struct by_quant_row *row,
                                  struct baryon_value *matrix, struct baryon_error *err)
{
    const struct by_ints *dims = &row->value->initializer->dims;
    const char *stem = row->value->name;
    const int64_t rank = (int64_t)dims->count;
    if (!matrix || !row->matrix.count)
        return matrix;
    struct baryon_value *inputs[] = {matrix, by_lower_new(lowering->graph, stem, "shape",
                                                          BY_ELEM_INT64, &rank, 1, dims->at,
                                                          dims->count * sizeof *dims->at, err)};
    return inputs[1] ? by_lower_step(lowering->graph, "Reshape", stem, "stack", inputs, 2, err)
                     : NULL;
}

static int drop_unused(struct baryon_value *value, struct baryon_error *err)
{
    if (value->graph && !value->use_count && !value->pinned && !by_value_is_output(value))
        return by_graph_remove_initializer(value, err);
    return 0;
}

static int add_constant(struct by_lowering *lowering, size_t index, struct baryon_error *err)
{
    const struct by_quant_row *row = &lowering->plan->rows.at[index];
    const bool each = lowering->recipe->dedicated_dq && row->readers.count > 1;
    const bool rounded = by_lower_is_rounded(lowering->recipe, row);
    struct baryon_value *value = rounded ? lowering->at[index].integers : NULL;
    for (size_t i = 0; i < row->readers.count; i++) {
        if (!value || (each && !rounded))
            value = stack(lowering, row,
                          by_lower_half(lowering, index, BY_WIDENS, lowering->at[index].integers,
                                        row->value->name, each ? i + 1 : 0, err),
                          err);
        if (!value ||
            rewire(lowering, row, &row->readers.at[i], value, NULL, row->value->name, err))
            return -1;
    }
    if (row->role == BY_ROLE_BIAS && row->input_row != BY_NO_ROW && value && !each)
        return take_name(lowering, row->value, value, err);
    return drop_unused(row->value, err);
}

int by_lower_pairs(struct by_lowering *lowering, size_t row, struct baryon_error *err)
{
    return lowering->at[row].integers ? add_constant(lowering, row, err)
                                      : add_pairs(lowering, row, err);
}
