#include "solve/round_layer.h"

#include "adjust/bias_correct.h"
#include "solve/round_behind.h"
#include "stats/layers.h"

static bool set_conv(struct by_round_layer *layer, const struct by_ints *dims)
{
    const size_t first = (size_t)dims->at[0];
    layer->inside = 1;
    for (size_t i = 2; i < dims->count; i++)
        layer->inside *= (size_t)dims->at[i];
    layer->outs = first / layer->groups;
    layer->column_stride = layer->inside;
    layer->out_stride = (size_t)dims->at[1] * layer->inside;
    layer->group_stride = layer->outs * layer->out_stride;
    return first % layer->groups == 0;
}

/* [in][out of a group][kernel] */
static bool set_transposed(struct by_round_layer *layer, const struct by_ints *dims)
{
    layer->inside = 1;
    for (size_t i = 2; i < dims->count; i++)
        layer->inside *= (size_t)dims->at[i];
    layer->outs = (size_t)dims->at[1];
    layer->out_stride = layer->inside;
    layer->column_stride = layer->outs * layer->inside;
    layer->group_stride = (size_t)dims->at[0] / layer->groups * layer->column_stride;
    return (size_t)dims->at[0] % layer->groups == 0;
}

/* Data on the left, and nothing that scales the product. */
static bool set_matrix(struct by_round_layer *layer, const struct by_ints *dims)
{
    const struct baryon_node *node = layer->node;
    const bool turned = by_node_int(node, "transB", 0) != 0;
    if (dims->count != 2 || layer->rows.transposed || by_node_float(node, "alpha", 1) != 1 ||
        by_node_float(node, "beta", 1) != 1)
        return false;
    layer->inside = 1;
    layer->outs = (size_t)dims->at[turned ? 0 : 1];
    layer->out_stride = turned ? layer->columns : 1;
    layer->column_stride = turned ? 1 : layer->outs;
    return true;
}

static bool set_strides(struct by_round_layer *layer, const struct by_ints *dims)
{
    switch (layer->rows.kind) {
    case BY_LAYER_CONV:
        return set_conv(layer, dims);
    case BY_LAYER_CONV_TRANSPOSE:
        return set_transposed(layer, dims);
    case BY_LAYER_MATMUL:
        return set_matrix(layer, dims);
    default:
        return false;
    }
}

/* Its weights are the plan's, with integers that nobody has chosen. */
static bool is_open(const struct by_quant_plan *plan, const struct by_round_layer *layer)
{
    const struct baryon_value *value = by_node_in(layer->node, 1);
    if (!value || !value->initializer || value->name != layer->rows.weight ||
        value->initializer->data_type != BY_ELEM_FLOAT || layer->weight == BY_NO_ROW)
        return false;
    const struct by_quant_row *row = &plan->rows.at[layer->weight];
    return row->role == BY_ROLE_WEIGHT && !row->rounded && !row->solved &&
           (!row->keep_float || row->spec.format) && row->value == value && row->readers.count == 1;
}

bool by_round_layer_of(const struct by_quant_plan *plan, struct baryon_node *node,
                       struct by_round_layer *layer)
{
    *layer = (struct by_round_layer){.node = node};
    if (!by_layer_of_node(plan->model->graph, node, &layer->rows))
        return false;
    layer->weight = by_quant_find(plan, by_node_in(node, 1));
    if (!is_open(plan, layer))
        return false;
    layer->groups = (size_t)layer->rows.groups;
    layer->columns = (size_t)layer->rows.columns;
    if (!set_strides(layer, &by_node_in(node, 1)->initializer->dims) || !layer->outs)
        return false;
    struct baryon_value *bias = by_node_in(node, 2);
    if (bias && !by_bias_is_own(bias, layer->groups * layer->outs))
        return false;
    layer->bias = bias;
    by_round_seen(node, &layer->low, &layer->high);
    return true;
}

int by_round_layers(const struct by_quant_plan *plan, struct by_round_layer **layers, size_t *count,
                    struct baryon_error *err)
{
    *count = 0;
    *layers = by_alloc(plan->node_count, sizeof **layers, err);
    if (!*layers)
        return -1;
    for (size_t i = 0; i < plan->node_count; i++)
        if (plan->nodes[i].state == BY_NODE_QUANTIZED &&
            by_round_layer_of(plan, plan->nodes[i].node, &(*layers)[*count]))
            ++*count;
    return 0;
}
