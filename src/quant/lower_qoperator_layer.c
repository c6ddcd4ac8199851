/* Layers: sums of products of 32 bits, with biases of the product's scale. */
#include "quant/lower_qoperator.h"

#include <math.h>

/* How far a bias's scale may be from the product: rounding of floats. */
#define SCALE_ERROR 1e-5

/* Types that the operators have kernels for, and one zero point. */
static bool fits(const struct by_qop_params *input, const struct by_qop_params *weight)
{
    for (size_t i = 1; i < weight->count; i++)
        if (weight->zeros[i] != weight->zeros[0])
            return false;
    return weight->elem == BY_ELEM_INT8 ||
           (weight->elem == BY_ELEM_UINT8 && input->elem == BY_ELEM_UINT8);
}

/* The integers are sums of products already: their scale is the product times the factor. */
static bool is_product(const struct by_qop_params *bias, const struct by_qop_params *input,
                       const struct by_qop_params *weight, double factor)
{
    if (bias->elem != BY_ELEM_INT32 || (bias->count == 1 && weight->count > 1))
        return false;
    if (weight->count > 1 && bias->count != weight->count)
        return false;
    for (size_t i = 0; i < bias->count; i++) {
        const double scale = (double)weight->scales[weight->count > 1 ? i : 0];
        const double product = (double)input->scales[0] * scale * factor;
        if (bias->zeros[i] || !(fabs((double)bias->scales[i] - product) <= SCALE_ERROR * product))
            return false;
    }
    return true;
}

struct layer {
    struct by_qop_input input, weight, bias;
    bool has_bias;
};

static bool find_layer_inputs(struct by_qop *qop, const struct baryon_node *node, int axis,
                              double factor, struct layer *layer)
{
    const struct baryon_value *bias = by_node_in(node, 2);
    const struct by_qop_params *weight = &layer->weight.params;
    layer->has_bias = bias != NULL;
    return by_qop_tensor(qop, by_node_in(node, 0), &layer->input) &&
           by_qop_input(qop, by_node_in(node, 1), &layer->weight) &&
           (weight->count == 1 || weight->axis == axis) && fits(&layer->input.params, weight) &&
           (!bias || (by_qop_input(qop, bias, &layer->bias) &&
                      is_product(&layer->bias.params, &layer->input.params, weight, factor)));
}

/* Products of uint8 with int8 overflow 16 bits in processors without VNNI, so weights that stand
 * beside uint8 are stored as uint8. */
static bool draft_layer(struct by_qop *qop, struct baryon_node *node, struct layer *layer,
                        struct by_qop_draft *draft)
{
    if (!by_qop_draft(qop, node, 9, 1, draft) ||
        !by_qop_output(qop, by_node_out(node, 0), &draft->outputs[0]) ||
        draft->outputs[0].params.elem != layer->input.params.elem)
        return false;
    if (layer->weight.params.elem != layer->input.params.elem && layer->weight.levels->initializer)
        by_qop_change_sign(qop, &layer->weight);
    by_qop_add_input(draft, &layer->input);
    by_qop_add_input(draft, &layer->weight);
    return !qop->failed;
}

static void add_bias(struct by_qop_draft *draft, const struct layer *layer)
{
    if (layer->has_bias)
        by_qop_add(draft, layer->bias.levels);
}

bool by_qop_conv(struct by_qop *qop, struct baryon_node *node, struct by_qop_draft *draft)
{
    struct layer layer;
    if (!find_layer_inputs(qop, node, 0, 1, &layer) || !draft_layer(qop, node, &layer, draft))
        return false;
    by_qop_add_params(draft, &draft->outputs[0].params);
    add_bias(draft, &layer);
    return true;
}

static bool has_two_axes(const struct baryon_value *value)
{
    return value && value->initializer && value->initializer->dims.count == 2;
}

bool by_qop_matmul(struct by_qop *qop, struct baryon_node *node, struct by_qop_draft *draft)
{
    struct layer layer;
    if (!find_layer_inputs(qop, node, 1, 1, &layer) ||
        (layer.weight.params.count > 1 && !has_two_axes(layer.weight.levels)) ||
        !draft_layer(qop, node, &layer, draft))
        return false;
    by_qop_add_params(draft, &draft->outputs[0].params);
    return true;
}

/* alpha (A B) + beta C: the integers of C are added to those of A B. */
bool by_qop_gemm(struct by_qop *qop, struct baryon_node *node, struct by_qop_draft *draft)
{
    struct layer layer;
    const double alpha = (double)by_node_float(node, "alpha", 1);
    const double beta = (double)by_node_float(node, "beta", 1);
    const int axis = by_node_int(node, "transB", 0) ? 0 : 1;
    if (!(alpha > 0) || !(beta > 0) || !find_layer_inputs(qop, node, axis, alpha / beta, &layer) ||
        !draft_layer(qop, node, &layer, draft))
        return false;
    by_qop_add(draft, layer.has_bias ? layer.bias.levels : NULL);
    by_qop_add_params(draft, &draft->outputs[0].params);
    return true;
}
