/* Counts the multiply-adds of a model whose dimensions are open: by samples, or of a batch of 1. */
#include "quantize/sizes.h"

#include "ir/infer.h"
#include "quant/place.h"

#include <math.h>
#include <stdint.h>

#define OFTEN_EVEN 32

struct sizes {
    struct by_stats *stats;
    double samples; /* that were looked at */
    struct by_arena arena;
    struct by_map by_symbol; /* symbol -> size + 1, as a pointer */
    double values, taken;    /* of inputs: a sample's mean, and with sizes that were made up */
};

static bool is_open(const struct baryon_graph *graph)
{
    for (size_t i = 0; i < graph->all_values.count; i++) {
        const struct baryon_value *value = graph->all_values.at[i];
        if (value && value->is_input && !by_shape_is_static(value->shape))
            return true;
    }
    return false;
}

/* Where dimensions differ from sample to sample, the mean; of several, sides that multiply to it.
 */
static double mean_size(const struct sizes *sizes, const struct by_tensor_stats *tensor)
{
    double others = sizes->samples;
    size_t varying = 0;
    for (size_t i = 0; i < tensor->rank; i++)
        if (tensor->dims[i] == BY_DIM_VARIES)
            varying++;
        else
            others *= (double)tensor->dims[i];
    return others > 0 ? pow((double)tensor->sketch.count / others, 1 / (double)varying) : -1;
}

static int64_t size_at(const struct sizes *sizes, const struct by_tensor_stats *tensor, size_t axis)
{
    return tensor->dims[axis] == BY_DIM_VARIES ? (int64_t)(mean_size(sizes, tensor) + 0.5)
                                               : tensor->dims[axis];
}

static int learn_symbols(struct sizes *sizes, const struct by_tensor_stats *tensor,
                         const struct by_shape *shape, struct baryon_error *err)
{
    if (!shape || shape->rank != tensor->rank)
        return 0;
    for (size_t i = 0; i < shape->rank; i++) {
        const char *symbol = shape->dims[i].symbol;
        const int64_t size = size_at(sizes, tensor, i);
        if (symbol && size >= 0 && !by_map_get(&sizes->by_symbol, symbol) &&
            by_map_put(&sizes->by_symbol, symbol, (void *)(uintptr_t)(size + 1), err))
            return -1;
    }
    return 0;
}

static int learn(struct sizes *sizes, const struct baryon_graph *graph, struct baryon_error *err)
{
    for (size_t i = 0; i < graph->all_values.count; i++) {
        const struct baryon_value *value = graph->all_values.at[i];
        const struct by_tensor_stats *tensor =
            value ? by_stats_find(sizes->stats, value->name) : NULL;
        if (tensor && learn_symbols(sizes, tensor, value->shape, err))
            return -1;
    }
    return 0;
}

static int64_t size_of(const struct sizes *sizes, const struct by_tensor_stats *tensor,
                       struct by_extent extent, size_t axis)
{
    if (tensor)
        return size_at(sizes, tensor, axis);
    return extent.symbol ? (int64_t)(uintptr_t)by_map_get(&sizes->by_symbol, extent.symbol) - 1
                         : extent.size;
}

/* Its own looks know best; else what its symbols stand for. */
static const struct by_shape *seen(void *context, const struct baryon_value *value)
{
    struct sizes *sizes = context;
    const struct by_shape *shape = value->shape;
    const struct by_tensor_stats *tensor = by_stats_find(sizes->stats, value->name);
    if (!shape || by_shape_is_static(shape))
        return NULL;
    if (tensor && tensor->rank != shape->rank)
        tensor = NULL;
    struct by_shape *found = by_shape_copy(&sizes->arena, shape, NULL);
    for (size_t i = 0; found && i < found->rank; i++)
        if (!by_extent_is_number(found->dims[i]))
            found->dims[i] = by_extent_of(size_of(sizes, tensor, found->dims[i], i));
    return found;
}

/* Means of all tensors need not fit each other. Inputs of sizes that can be halved often enough do,
 * near the mean. */
static const struct by_shape *seen_of_inputs(void *context, const struct baryon_value *value)
{
    struct sizes *sizes = context;
    const struct by_tensor_stats *tensor =
        value->is_input ? by_stats_find(sizes->stats, value->name) : NULL;
    if (!tensor || !value->shape || tensor->rank != value->shape->rank)
        return NULL;
    struct by_shape *found = by_shape_copy(&sizes->arena, value->shape, NULL);
    double taken = 1;
    for (size_t i = 0; found && i < found->rank; i++) {
        int64_t size = tensor->dims[i];
        if (size == BY_DIM_VARIES)
            size = OFTEN_EVEN * (int64_t)fmax(1, round(mean_size(sizes, tensor) / OFTEN_EVEN));
        found->dims[i] = by_extent_of(size);
        taken *= (double)size;
    }
    sizes->values += (double)tensor->sketch.count / sizes->samples;
    sizes->taken += taken;
    return found;
}

/* Without samples, sizes other than the batch are not known. */
static const struct by_shape *single_batch(void *context, const struct baryon_value *value)
{
    struct sizes *sizes = context;
    const struct by_shape *shape = value->shape;
    if (!value->is_input || value->initializer || !shape || !shape->rank ||
        by_extent_is_number(shape->dims[0]))
        return NULL;
    struct by_shape *found = by_shape_copy(&sizes->arena, shape, NULL);
    if (found)
        found->dims[0] = by_extent_of(1);
    return found;
}

static void count_all(struct by_quant_plan *plan, double share)
{
    for (size_t i = 0; i < plan->node_count; i++) {
        struct by_quant_node *node = &plan->nodes[i];
        node->macs = by_place_macs(node->node, &node->open) * share;
    }
}

/* If that does not fit, figures stay as they were. */
static int count_single(struct by_quantization *q, struct sizes *sizes, struct baryon_error *err)
{
    if (by_model_infer_seen(q->model, single_batch, sizes, NULL) == 0)
        count_all(q->plan, 1);
    return by_model_infer(q->model, NULL, err);
}

/* If neither fits, figures stay as they were. */
static int count_seen(struct by_quantization *q, struct sizes *sizes, struct baryon_error *err)
{
    if (learn(sizes, q->model->graph, err))
        return -1;
    if (by_model_infer_seen(q->model, seen, sizes, NULL) == 0)
        count_all(q->plan, 1);
    else if (by_model_infer_seen(q->model, seen_of_inputs, sizes, NULL) == 0 && sizes->taken > 0)
        count_all(q->plan, sizes->values / sizes->taken);
    return by_model_infer(q->model, NULL, err);
}

int by_quantize_count_macs(struct by_quantization *q, struct baryon_error *err)
{
    struct sizes sizes = {.stats = q->stats};
    if (!is_open(q->model->graph))
        return 0;
    sizes.samples = q->stats ? (double)by_stats_seen(q->stats) : 0;
    by_arena_init(&sizes.arena, 0);
    by_map_init(&sizes.by_symbol);
    const int status = q->stats ? count_seen(q, &sizes, err) : count_single(q, &sizes, err);
    by_map_release(&sizes.by_symbol);
    by_arena_release(&sizes.arena);
    return status;
}
