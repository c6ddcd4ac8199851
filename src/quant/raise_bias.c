/* Finds the biases of a raised plan that count in units of input times weight. */
#include "quant/raise.h"

#include "ir/tensor.h"
#include "quant/refine_around.h"

#include <math.h>
#include <string.h>

/* Rounding of a product of float32, and of float16, which has its factors rounded as well. */
#define CLOSE      1e-5
#define CLOSE_HALF 4e-3

struct layer {
    struct baryon_node *node;
    size_t input, weight, bias;
};

static bool find_layer(struct by_quant_plan *plan, struct baryon_node *node, struct layer *layer)
{
    static const char *const types[] = {"Conv", "ConvTranspose", "Gemm", NULL};
    const struct by_refining at = {.plan = plan, .node = node};
    if (!by_node_is_one_of(node, types))
        return false;
    *layer = (struct layer){node, by_row_in(&at, 0), by_row_in(&at, 1), by_row_in(&at, 2)};
    return layer->input != BY_NO_ROW && layer->weight != BY_NO_ROW && layer->bias != BY_NO_ROW;
}

/* The weight's axis of what the layer gives. */
static int channels_of(const struct baryon_node *node)
{
    if (by_node_is(node, "Gemm"))
        return by_node_int(node, "transB", 0) ? 0 : 1;
    return by_node_is(node, "ConvTranspose") ? 1 : 0;
}

static size_t elements_of_bias(const struct by_quant_row *bias)
{
    const struct baryon_node *dequantize = bias->readers.count ? bias->value->producer : NULL;
    const struct baryon_value *integers = dequantize ? by_node_in(dequantize, 0) : NULL;
    size_t count = 0;
    if (integers && integers->initializer && integers->initializer->dims.count == 1)
        by_tensor_count(integers->initializer, &count, NULL);
    return count;
}

/* A scale for each of the bias' elements, or one for all, follows from the two others. */
static bool can_be_product(const struct by_quant_plan *plan, const struct layer *layer)
{
    const struct by_quant_row *rows = plan->rows.at, *bias = &rows[layer->bias];
    const struct by_params *input = &rows[layer->input].params,
                           *weight = &rows[layer->weight].params;
    return bias->role == BY_ROLE_BIAS && bias->readers.count == 1 && input->count == 1 &&
           by_elem_is_signed(bias->spec.elem) && !bias->has_params &&
           (weight->count == 1 ||
            (weight->axis == channels_of(layer->node) && weight->count == elements_of_bias(bias)));
}

static bool is_product(const struct by_quant_plan *plan, const struct layer *layer)
{
    const struct by_quant_row *rows = plan->rows.at, *bias = &rows[layer->bias];
    const struct by_params *input = &rows[layer->input].params,
                           *weight = &rows[layer->weight].params;
    const double close = bias->value->elem == BY_ELEM_FLOAT16 ? CLOSE_HALF : CLOSE;
    if (bias->params.count != weight->count)
        return false;
    for (size_t i = 0; i < weight->count; i++) {
        const double product = (double)input->scales[0] * (double)weight->scales[i];
        if (fabs((double)bias->params.scales[i] - product) > close * product ||
            bias->params.zeros[i] != 0)
            return false;
    }
    return true;
}

void by_raise_biases(struct by_quant_plan *plan, bool all, size_t *kept)
{
    size_t others = 0;
    for (size_t i = 0; i < plan->node_count; i++) {
        struct layer layer;
        if (!find_layer(plan, plan->nodes[i].node, &layer))
            continue;
        struct by_quant_row *bias = &plan->rows.at[layer.bias];
        const bool product = can_be_product(plan, &layer) && is_product(plan, &layer);
        const bool made = all && can_be_product(plan, &layer) && bias->spec.elem == BY_ELEM_INT32;
        if (product || made) {
            bias->input_row = layer.input;
            bias->weight_row = layer.weight;
        } else {
            others++;
        }
    }
    if (kept)
        *kept = others;
}
