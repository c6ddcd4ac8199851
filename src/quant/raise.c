/* Reads the Q/DQ pairs of a quantized model back into a plan. */
#include "quant/raise.h"

#include "ir/opinfo.h"
#include "ir/shape.h"
#include "ir/tensor.h"
#include "quant/form.h"

#include <string.h>

#define MOST_SCALES (1u << 24)

/* --- Parameters --- */

static const struct baryon_tensor *constant(const struct baryon_node *node, size_t slot)
{
    const struct baryon_value *value = by_node_in(node, slot);
    return value ? value->initializer : NULL;
}

static int read_scales(struct by_quant_plan *plan, const struct baryon_tensor *tensor,
                       struct by_params *params, struct baryon_error *err)
{
    struct by_span bytes;
    if (by_tensor_count(tensor, &params->count, err) < 0 ||
        by_tensor_bytes(tensor, &plan->arena, &bytes, err) < 0)
        return -1;
    params->scales = by_arena_alloc(&plan->arena, params->count, sizeof(float), err);
    params->zeros = by_arena_alloc(&plan->arena, params->count, sizeof(int64_t), err);
    if (!params->scales || !params->zeros)
        return -1;
    memset(params->zeros, 0, params->count * sizeof *params->zeros);
    return by_elem_to_floats(tensor->data_type, bytes.data, 0, params->count, params->scales, err);
}

static int read_zeros(struct by_quant_plan *plan, const struct baryon_tensor *tensor,
                      struct by_params *params, struct baryon_error *err)
{
    int64_t *zeros;
    size_t count;
    const struct by_elem_info *info = by_elem_info(tensor->data_type);
    if (!info || info->class != BY_CLASS_INT)
        return 0;
    if (by_tensor_ints(tensor, &plan->arena, MOST_SCALES, &zeros, &count, err) < 0)
        return -1;
    if (count == params->count)
        params->zeros = zeros;
    return 0;
}

static int64_t type_of(const struct baryon_node *node)
{
    const struct baryon_tensor *zeros = constant(node, 2), *values = constant(node, 0);
    if (zeros || values)
        return zeros ? zeros->data_type : values->data_type;
    const struct baryon_value *input = by_node_in(node, 0);
    return by_form_dequantizes(node) && input && input->elem ? input->elem : BY_ELEM_UINT8;
}

/* Counted from the front. */
static int axis_of(const struct baryon_node *node)
{
    const struct baryon_tensor *values = constant(node, 0);
    const struct baryon_value *input = by_node_in(node, 0);
    const int64_t axis = by_node_int(node, "axis", 1);
    const int64_t rank = values                  ? (int64_t)values->dims.count
                         : input && input->shape ? (int64_t)input->shape->rank
                                                 : 0;
    return (int)(axis < 0 && axis + rank >= 0 ? axis + rank : axis);
}

int by_raise_params(struct by_quant_plan *plan, const struct baryon_node *node,
                    struct by_params *params, struct baryon_error *err)
{
    const struct baryon_tensor *zeros = constant(node, 2);
    *params = (struct by_params){.axis = -1, .group_axis = -1, .groups = 1};
    if (!constant(node, 1))
        return 0;
    if (read_scales(plan, constant(node, 1), params, err) < 0)
        return -1;
    params->axis = params->count > 1 ? axis_of(node) : -1;
    return zeros ? read_zeros(plan, zeros, params, err) : 0;
}

/* --- Rows --- */

static enum by_role role_of(const struct baryon_node *dequantize)
{
    const struct baryon_value *out = by_node_out(dequantize, 0);
    if (!constant(dequantize, 0))
        return BY_ROLE_ACTIVATION;
    for (size_t i = 0; i < out->use_count; i++) {
        const struct by_opinfo *info = out->uses[i].node ? by_node_opinfo(out->uses[i].node) : NULL;
        if (info && info->bias != BY_SLOT_NONE && out->uses[i].slot == (size_t)info->bias)
            return BY_ROLE_BIAS;
    }
    return BY_ROLE_WEIGHT;
}

static int add_readers(struct by_quant_plan *plan, size_t row, const struct baryon_value *value,
                       struct baryon_error *err)
{
    for (size_t i = 0; i < value->use_count; i++) {
        const struct by_use *use = &value->uses[i];
        if (by_quant_add_reader(plan, row, use->node, use->graph, use->slot, err) < 0)
            return -1;
    }
    return 0;
}

bool by_params_equal(const struct by_params *one, const struct by_params *other)
{
    if (one->count != other->count || one->axis != other->axis)
        return false;
    for (size_t i = 0; i < one->count; i++)
        if (one->scales[i] != other->scales[i] || one->zeros[i] != other->zeros[i])
            return false;
    return true;
}

/* The row of a value, by what dequantizes it; a second pair after a first, or beside it, that
 * means other numbers has a row of its own. */
static size_t put_dequantized_row(struct by_quant_plan *plan, struct baryon_value *value,
                                  enum by_role role, int64_t elem, const struct by_params *params,
                                  struct baryon_error *err)
{
    const struct by_tensor_spec spec = {.elem = elem};
    const size_t old = by_quant_find(plan, value);
    if (old != BY_NO_ROW && plan->rows.at[old].spec.elem == elem &&
        by_params_equal(&plan->rows.at[old].params, params))
        return old;
    const size_t row = by_quant_add(plan, value, role, &spec, "present in the model", err);
    if (row == BY_NO_ROW || (old != BY_NO_ROW && by_quant_alias(plan, old, value, err) < 0))
        return BY_NO_ROW;
    plan->rows.at[row].params = *params;
    return row;
}

static int add_dequantized_row(struct by_quant_plan *plan, const struct baryon_node *dequantize,
                               struct baryon_error *err)
{
    struct baryon_value *out = by_node_out(dequantize, 0), *in = by_node_in(dequantize, 0);
    struct by_params params;
    if (!constant(dequantize, 1) || !out || !in)
        return 0;
    if (by_raise_params(plan, dequantize, &params, err) < 0)
        return -1;
    const bool paired =
        in->producer && by_form_quantizes(in->producer) && by_node_in(in->producer, 0);
    struct baryon_value *value = paired ? by_node_in(in->producer, 0) : out;
    const size_t row =
        put_dequantized_row(plan, value, role_of(dequantize), type_of(dequantize), &params, err);
    if (row == BY_NO_ROW || (value != out && by_quant_alias(plan, row, out, err) < 0))
        return -1;
    return add_readers(plan, row, out, err);
}

/* --- Nodes --- */

static bool touches_row(const struct by_quant_plan *plan, const struct baryon_node *node)
{
    for (size_t i = 0; i < node->input.count; i++)
        if (by_quant_find(plan, by_node_in(node, i)) != BY_NO_ROW)
            return true;
    return false;
}

static int add_nodes(struct by_quant_plan *plan, struct baryon_error *err)
{
    const struct by_ptrs *list = &plan->model->graph->node;
    size_t count = 0;
    struct by_quant_node *nodes = by_arena_alloc(&plan->arena, list->count, sizeof *nodes, err);
    if (!nodes)
        return -1;
    for (size_t i = 0; i < list->count; i++) {
        struct baryon_node *node = list->at[i];
        if (!node || by_form_quantizes(node) || by_form_dequantizes(node))
            continue;
        const bool quantized = touches_row(plan, node);
        nodes[count++] = (struct by_quant_node){
            .node = node,
            .state = quantized ? BY_NODE_QUANTIZED : BY_NODE_OTHER,
            .why = quantized ? "its inputs are dequantized" : "its inputs are not dequantized",
        };
    }
    return by_quant_set_nodes(plan, nodes, count, err);
}

int by_raise(struct by_quant_plan *plan, struct baryon_error *err)
{
    const struct by_ptrs *list = &plan->model->graph->node;
    for (size_t i = 0; i < list->count; i++) {
        const struct baryon_node *node = list->at[i];
        if (node && by_form_dequantizes(node) && add_dequantized_row(plan, node, err) < 0)
            return -1;
    }
    return add_nodes(plan, err);
}
