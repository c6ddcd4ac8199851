/* Which tensors layers with constant weights read by channels, and who else reads them. */
#include "adjust/smooth_internal.h"
#include "ir/tensor.h"

#include <string.h>

static bool is_microsoft(const struct baryon_node *node, const char *op_type)
{
    return !strcmp(node->op_type, op_type) && !strcmp(by_domain(node->domain), "com.microsoft");
}

static size_t dim(const struct baryon_value *value, size_t axis)
{
    return (size_t)value->initializer->dims.at[axis];
}

static size_t rank_of(const struct baryon_value *value)
{
    return value && value->initializer ? value->initializer->dims.count : 0;
}

/* [ins][outs], or the other way round. */
static bool matrix_of(struct by_smooth_layer *layer, bool turned)
{
    if (rank_of(layer->weight) != 2)
        return false;
    layer->ins = dim(layer->weight, turned ? 1 : 0);
    layer->outs = dim(layer->weight, turned ? 0 : 1);
    layer->inner = turned ? 1 : layer->outs;
    layer->ins_first = !turned;
    return true;
}

static bool kernel_of(struct by_smooth_layer *layer)
{
    const size_t rank = rank_of(layer->weight);
    if (rank < 3 || by_node_int(layer->node, "group", 1) != 1)
        return false;
    layer->outs = dim(layer->weight, 0);
    layer->ins = dim(layer->weight, 1);
    layer->inner = 1;
    for (size_t axis = 2; axis < rank; axis++)
        layer->inner *= dim(layer->weight, axis);
    return true;
}

static bool is_matrix(const struct baryon_node *node)
{
    return by_node_is(node, "MatMul") || by_node_is(node, "Gemm") ||
           is_microsoft(node, "FusedMatMul") || is_microsoft(node, "Attention");
}

bool by_smooth_layer_of(struct baryon_node *node, struct by_smooth_layer *layer)
{
    *layer = (struct by_smooth_layer){.node = node, .weight = by_node_in(node, 1)};
    if (!layer->weight || !layer->weight->initializer || !by_node_in(node, 0))
        return false;
    if (by_node_is(node, "Conv"))
        return kernel_of(layer);
    if (!is_matrix(node) || by_node_int(node, "transA", 0) || by_node_int(node, "transBatchA", 0) ||
        by_node_int(node, "transBatchB", 0))
        return false;
    return matrix_of(layer, by_node_int(node, "transB", 0) != 0);
}

/* --- Groups --- */

static struct by_smooth_group *group_of(struct by_smooth *smooth, const struct baryon_value *tensor)
{
    for (size_t i = smooth->groups.count; i-- > 0;)
        if (smooth->groups.at[i].tensor == tensor)
            return &smooth->groups.at[i];
    return NULL;
}

static int add_group(struct by_smooth *smooth, struct baryon_value *tensor,
                     const struct by_smooth_layer *layer, struct baryon_error *err)
{
    struct by_smooth_group group = {.tensor = tensor, .channels = layer->ins, .axis = 1};
    if (is_matrix(layer->node))
        group.axis = tensor->shape && tensor->shape->rank ? tensor->shape->rank - 1 : 0;
    if (!tensor->shape || group.axis >= tensor->shape->rank)
        group.why = "its rank is not known";
    if (by_list_reserve(&smooth->arena, &smooth->groups, 1, sizeof group, err) < 0)
        return -1;
    smooth->groups.at[smooth->groups.count++] = group;
    return 0;
}

static bool same_channels(const struct by_smooth_group *group, const struct by_smooth_layer *layer)
{
    return layer->ins == group->channels &&
           (is_matrix(layer->node) ? group->axis + 1 == group->tensor->shape->rank
                                   : group->axis == 1);
}

static int refuse_weight(struct by_smooth *smooth, struct by_smooth_group *group,
                         const struct baryon_value *weight, struct baryon_error *err)
{
    bool fits;
    const char *why = by_smooth_refuses(weight);
    if (!why)
        return 0;
    if (by_smooth_refuse(smooth, &fits, err, "weight '%s' %s", weight->name, why) < 0)
        return -1;
    group->why = smooth->refusal;
    return 0;
}

static int take_layer(struct by_smooth *smooth, const struct by_smooth_layer *layer,
                      struct baryon_error *err)
{
    struct baryon_value *tensor = by_node_in(layer->node, 0);
    struct by_smooth_group *group = group_of(smooth, tensor);
    if (!group) {
        if (add_group(smooth, tensor, layer, err) < 0)
            return -1;
        group = &smooth->groups.at[smooth->groups.count - 1];
    }
    if (!group->why && !same_channels(group, layer))
        group->why = "layers read it along different axes";
    if (!group->why && refuse_weight(smooth, group, layer->weight, err) < 0)
        return -1;
    if (by_list_reserve(&smooth->arena, &group->layers, 1, sizeof *layer, err) < 0)
        return -1;
    group->layers.at[group->layers.count++] = *layer;
    return 0;
}

/* Tensors that quantized layers read. */
int by_smooth_find(struct by_smooth *smooth, struct baryon_error *err)
{
    struct by_quant_plan *plan = smooth->plan;
    smooth->graph = plan->model->graph;
    for (size_t i = 0; i < plan->node_count; i++) {
        struct by_smooth_layer layer;
        const struct by_quant_node *row = &plan->nodes[i];
        if (row->node->graph != smooth->graph || row->state != BY_NODE_QUANTIZED ||
            !by_smooth_layer_of(row->node, &layer) ||
            by_quant_find(plan, by_node_in(row->node, 0)) == BY_NO_ROW)
            continue;
        if (take_layer(smooth, &layer, err) < 0)
            return -1;
    }
    return 0;
}
