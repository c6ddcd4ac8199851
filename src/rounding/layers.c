/* Lists the layers of a plan whose weights can be reconstructed. */
#include "rounding/layers.h"

#include "adjust/bias_correct.h"
#include "quant/floats.h"
#include "stats/layers.h"

#include <math.h>

static bool set_conv(struct by_rounding_layer *layer, const struct by_ints *dims)
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
static bool set_transposed(struct by_rounding_layer *layer, const struct by_ints *dims)
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
static bool set_matrix(struct by_rounding_layer *layer, const struct by_ints *dims)
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

static bool set_strides(struct by_rounding_layer *layer, const struct by_ints *dims)
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
static bool is_open(const struct by_quant_plan *plan, const struct by_rounding_layer *layer)
{
    const struct baryon_value *value = by_node_in(layer->node, 1);
    if (!value || !value->initializer || value->name != layer->rows.weight ||
        value->initializer->data_type != BY_ELEM_FLOAT || layer->weight == BY_NO_ROW)
        return false;
    const struct by_quant_row *row = &plan->rows.at[layer->weight];
    return row->role == BY_ROLE_WEIGHT && !row->rounded && !row->solved &&
           (!row->keep_float || row->spec.format) && row->value == value && row->readers.count == 1;
}

/* --- The activation after --- */

static float constant_or(const struct baryon_node *node, size_t slot, float other)
{
    const struct baryon_value *value = by_node_in(node, slot);
    double found;
    bool is_one;
    if (!value || value->is_input ||
        by_tensor_number(value->initializer, &is_one, &found, NULL) < 0 || !is_one)
        return other;
    return (float)found;
}

void by_rounding_seen(const struct baryon_node *node, float *low, float *high)
{
    const struct baryon_value *out = by_node_out(node, 0);
    *low = -INFINITY;
    *high = INFINITY;
    if (out->use_count != 1 || !out->uses[0].node)
        return;
    const struct baryon_node *next = out->uses[0].node;
    if (by_node_is(next, "Relu"))
        *low = 0;
    if (by_node_is(next, "HardSwish"))
        *low = -3;
    if (by_node_is(next, "Clip") && out->uses[0].slot == 0) {
        *low = constant_or(next, 1, by_node_float(next, "min", -INFINITY));
        *high = constant_or(next, 2, by_node_float(next, "max", INFINITY));
    }
}

/* --- Nodes --- */

bool by_rounding_layer_of(const struct by_quant_plan *plan, struct baryon_node *node,
                          struct by_rounding_layer *layer)
{
    *layer = (struct by_rounding_layer){.node = node};
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
    by_rounding_seen(node, &layer->low, &layer->high);
    return true;
}

int by_rounding_layers(const struct by_quant_plan *plan, struct by_rounding_layer **layers,
                       size_t *count, struct baryon_error *err)
{
    *count = 0;
    *layers = by_alloc(plan->node_count, sizeof **layers, err);
    if (!*layers)
        return -1;
    for (size_t i = 0; i < plan->node_count; i++)
        if (plan->nodes[i].state == BY_NODE_QUANTIZED &&
            by_rounding_layer_of(plan, plan->nodes[i].node, &(*layers)[*count]))
            ++*count;
    return 0;
}

/* --- What can be solved of them --- */

bool by_rounding_has_steps(const struct by_quant_plan *plan, const struct by_rounding_layer *layer)
{
    return plan->rows.at[layer->weight].spec.format != NULL;
}

/* Far from a weight steps are others. */
static bool steps_can(const struct by_quant_plan *plan)
{
    return plan->recipe->rounding != BY_ROUNDING_GPTQ && !plan->recipe->rounding_free;
}

/* The axis of the weight that its outputs lie along. */
static int out_axis(const struct by_rounding_layer *layer)
{
    switch (layer->rows.kind) {
    case BY_LAYER_CONV:
        return 0;
    case BY_LAYER_CONV_TRANSPOSE:
        return 1;
    default:
        return by_node_int(layer->node, "transB", 0) ? 0 : 1;
    }
}

/* Groups of the columns with a scale each. */
static bool has_group_axis(const struct by_rounding_layer *layer, const struct by_params *params)
{
    return layer->rows.kind == BY_LAYER_MATMUL && params->group_axis == 1 - out_axis(layer);
}

bool by_rounding_can(const struct by_quant_plan *plan, const struct by_rounding_layer *layer)
{
    if (by_rounding_has_steps(plan, layer))
        return steps_can(plan);
    const struct by_params *params = by_quant_params(plan, layer->weight);
    const size_t outs = layer->groups * layer->outs;
    if (!params->count || !params->scales)
        return false;
    if (params->groups > 1 && !has_group_axis(layer, params))
        return false;
    if (params->axis < 0)
        return params->groups <= 1 ? params->count == 1 : params->count == params->groups;
    return params->axis == out_axis(layer) && (params->count == outs * params->groups ||
                                               params->count == layer->outs * params->groups);
}

/* NaN and infinity have no neighbours. */
int by_rounding_is_finite(const struct by_quant_plan *plan, const struct by_rounding_layer *layer,
                          bool *finite, struct baryon_error *err)
{
    *finite = true;
    return by_rounding_has_steps(plan, layer)
               ? by_floats_look_finite(plan->rows.at[layer->weight].value->initializer, finite, err)
               : 0;
}

bool by_rounding_may_move(const struct by_quant_row *row)
{
    return !row->has_params &&
           (row->spec.scale == BY_SCALE_FLOAT32 || row->spec.scale == BY_SCALE_POW2);
}

bool by_rounding_may_scale(const struct by_quant_plan *plan, const struct by_rounding_layer *layer)
{
    if (!by_rounding_may_move(&plan->rows.at[layer->weight]) ||
        by_quant_owner(plan, layer->weight) != layer->weight)
        return false;
    for (size_t i = 0; i < plan->rows.count; i++)
        if (plan->rows.at[i].shares == layer->weight)
            return false;
    return true;
}
