/* Where a layer's columns come from, past nodes that only hand on or pad: passes fold these away.
 */
#include "ir/infer_window.h"
#include "ir/tensor.h"
#include "stats/layers.h"

#include <string.h>

#define STEPS_MOST 8

static bool is_zero(const struct baryon_value *value)
{
    double number;
    bool is_one;
    return !value || (by_tensor_number(by_layer_constant(value), &is_one, &number, NULL) == 0 &&
                      is_one && number == 0);
}

/* Zeros around pictures: as many before and after each axis of the window; false: something else.
 */
static bool add_pads(const int64_t *pads, size_t count, struct by_moments_layer *layer)
{
    const size_t rank = layer->spatial + 2;
    if (count != 2 * rank)
        return false;
    for (size_t i = 0; i < count; i++)
        if (pads[i] < 0 || pads[i] > INT32_MAX || (i % rank < 2 && pads[i]))
            return false;
    for (size_t i = 0; i < layer->spatial; i++) {
        layer->pad_begin[i] += pads[2 + i];
        layer->pad_end[i] += pads[rank + 2 + i];
    }
    return true;
}

static bool take_pads(const struct baryon_node *node, struct by_moments_layer *layer)
{
    const struct baryon_attribute *pads = by_node_attr(node, "pads");
    const struct baryon_tensor *given = by_layer_constant(by_node_in(node, 1));
    struct by_arena arena;
    int64_t *values;
    size_t count;
    if (pads)
        return by_node_float(node, "value", 0) == 0 &&
               add_pads(pads->ints.at, pads->ints.count, layer);
    if (!given || by_node_in(node, 3) || !is_zero(by_node_in(node, 2)))
        return false;
    by_arena_init(&arena, 0);
    const bool good =
        by_tensor_ints(given, &arena, 2 * (layer->spatial + 2), &values, &count, NULL) == 0 &&
        add_pads(values, count, layer);
    by_arena_release(&arena);
    return good;
}

static bool pads_with_zeros(const struct baryon_node *node, const struct by_moments_layer *layer)
{
    return by_node_is(node, "Pad") && layer->kind == BY_LAYER_CONV &&
           layer->auto_pad == BY_PADS_GIVEN &&
           (!by_node_attr(node, "mode") || by_attr_text_is(node, "mode", "constant"));
}

static bool step_back(const struct baryon_node *node, struct by_moments_layer *layer)
{
    struct by_moments_layer before = *layer;
    const struct baryon_value *input = by_node_in(node, 0);
    if (!input || by_layer_constant(input))
        return false;
    if (!by_node_is(node, "Identity") &&
        !(pads_with_zeros(node, layer) && take_pads(node, &before)))
        return false;
    *layer = before;
    layer->input = input->name;
    return true;
}

void by_layer_to_source(const struct baryon_graph *graph, struct by_moments_layer *layer)
{
    if (layer->auto_pad == BY_PADS_VALID) {
        layer->auto_pad = BY_PADS_GIVEN;
        memset(layer->pad_begin, 0, sizeof layer->pad_begin);
        memset(layer->pad_end, 0, sizeof layer->pad_end);
    }
    for (int i = 0; i < STEPS_MOST; i++) {
        const struct baryon_value *value = by_graph_value(graph, layer->input);
        if (!value || !value->producer || value->producer->graph != graph ||
            !step_back(value->producer, layer))
            return;
    }
}
