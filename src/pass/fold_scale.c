/* Add, Sub, Mul and Div of a constant for each channel become part of the layer before. */
#include "pass/layer.h"
#include "pass/passes.h"

#include <math.h>

/* The constant as one number a channel; NULL in *row when it is another shape. */
static int row_of(const struct baryon_value *value, const struct by_pass_layer *layer,
                  struct by_arena *scratch, double **row, struct baryon_error *err)
{
    const struct baryon_tensor *tensor = by_pass_tensor(value);
    double *values;
    size_t count;
    *row = NULL;
    if (!tensor || tensor->dims.count > layer->rank)
        return 0;
    for (size_t i = 0; i < tensor->dims.count; i++) {
        const size_t axis = layer->rank - tensor->dims.count + i;
        if (tensor->dims.at[i] != 1 && (axis != 1 || (size_t)tensor->dims.at[i] != layer->channels))
            return 0;
    }
    if (by_pass_doubles(value, scratch, &values, &count, err))
        return -1;
    if (!values)
        return 0;
    if (!(*row = by_arena_alloc(scratch, layer->channels, sizeof **row, err)))
        return -1;
    for (size_t i = 0; i < layer->channels; i++)
        (*row)[i] = values[count == 1 ? 0 : i];
    return 0;
}

/* channel * scale + shift; false when the operator is none of the four. */
static bool affine(const struct baryon_node *node, size_t layer_slot, size_t channels,
                   const double *row, double *scale, double *shift)
{
    const bool behind = layer_slot == 0; /* layer OP row */
    for (size_t i = 0; i < channels; i++) {
        scale[i] = 1;
        shift[i] = 0;
        if (by_node_is(node, "Mul")) {
            scale[i] = row[i];
        } else if (by_node_is(node, "Div") && behind) {
            scale[i] = 1 / row[i];
        } else if (by_node_is(node, "Add")) {
            shift[i] = row[i];
        } else if (by_node_is(node, "Sub")) {
            scale[i] = behind ? 1 : -1;
            shift[i] = behind ? -row[i] : row[i];
        } else {
            return false;
        }
        if (!isfinite(scale[i]) || !isfinite(shift[i]))
            return false;
    }
    return true;
}

static int fold_with(struct by_pass_context *context, struct baryon_node *node, size_t slot,
                     struct by_pass_layer *layer, struct by_arena *scratch,
                     struct baryon_error *err)
{
    struct by_layer_change change;
    double *row, *scale, *shift;
    bool fits;
    if (row_of(by_node_in(node, 1 - slot), layer, scratch, &row, err))
        return -1;
    if (!row)
        return 0;
    scale = by_arena_alloc(scratch, layer->channels, sizeof *scale, err);
    shift = by_arena_alloc(scratch, layer->channels, sizeof *shift, err);
    if (!scale || !shift)
        return -1;
    if (!affine(node, slot, layer->channels, row, scale, shift))
        return 0;
    if (by_layer_scale(layer, scale, shift, scratch, &change, &fits, err))
        return -1;
    if (!fits)
        return 0;
    context->changes++;
    return by_layer_apply(layer, &change, err) || by_pass_take_over(layer->last, node, err) ? -1
                                                                                            : 0;
}

static bool is_elementwise(const struct by_pass_context *context, const struct baryon_node *node)
{
    return node->input.count == 2 &&
           (by_pass_is(context, node, "Add") || by_pass_is(context, node, "Sub") ||
            by_pass_is(context, node, "Mul") || by_pass_is(context, node, "Div"));
}

static int fold_scale(struct by_pass_context *context, struct baryon_node *node,
                      struct baryon_error *err)
{
    if (!is_elementwise(context, node))
        return 0;
    for (size_t slot = 0; slot < 2; slot++) {
        struct baryon_node *producer = by_pass_only_producer(node, slot);
        struct by_pass_layer layer;
        /* A MatMul with a constant after it is left to be what it is: no bias, no Gemm. */
        if (!producer || !by_layer_of(context, producer, &layer) ||
            by_node_is(layer.node, "MatMul") || !by_pass_can_take_over(layer.last, node))
            continue;
        struct by_arena scratch;
        by_arena_init(&scratch, 0);
        int failed = fold_with(context, node, slot, &layer, &scratch, err);
        by_arena_release(&scratch);
        return failed;
    }
    return 0;
}

static int run_fold_scale(struct by_pass_context *context, struct baryon_error *err)
{
    return by_pass_each_node(context, fold_scale, err);
}

const struct by_pass by_pass_fold_scale = {
    .name = "fold-scale",
    .help = "Fold Add, Sub, Mul and Div of constants per channel into the preceding Conv, "
            "ConvTranspose or Gemm",
    .exact = true,
    .again = true,
    .run = run_fold_scale,
};
