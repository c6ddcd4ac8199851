/* Describes a tensor or layer of statistics in a few words. */
#include "base/text.h"
#include "cli/stats_view.h"

#include <inttypes.h>

bool by_tensor_is_zero(const struct by_tensor_stats *tensor)
{
    uint64_t finite = by_sketch_finite(&tensor->sketch);
    return finite && tensor->sketch.zeros == finite;
}

bool by_tensor_is_constant(const struct by_tensor_stats *tensor)
{
    const struct by_sketch *sketch = &tensor->sketch;
    return by_sketch_finite(sketch) && sketch->min == sketch->max && sketch->top >= 0;
}

uint64_t by_tensor_nonfinite(const struct by_tensor_stats *tensor)
{
    return tensor->sketch.nans + tensor->sketch.infinities;
}

size_t by_tensor_memory(const struct by_tensor_stats *tensor)
{
    return by_sketch_bytes(&tensor->sketch) +
           tensor->channels.count * (2 * sizeof(float) + sizeof(bool)) +
           tensor->means.sums.count * 2 * sizeof(int64_t);
}

const char *by_tensor_shape(const struct by_tensor_stats *tensor, char *buf, size_t size)
{
    struct by_text text;
    by_text_init(&text, buf, size);
    if (tensor->rank == SIZE_MAX)
        return buf;
    by_text_add(&text, "[%s", tensor->rank_varies ? "..." : "");
    for (size_t i = 0; i < tensor->rank; i++)
        if (tensor->dims[i] == BY_DIM_VARIES)
            by_text_add(&text, "%s?", i ? "," : "");
        else
            by_text_add(&text, "%s%" PRId64, i ? "," : "", tensor->dims[i]);
    by_text_add(&text, "]");
    return buf;
}

static bool shape_varies(const struct by_tensor_stats *tensor)
{
    for (size_t i = 0; tensor->rank != SIZE_MAX && i < tensor->rank; i++)
        if (tensor->dims[i] == BY_DIM_VARIES)
            return true;
    return tensor->rank_varies;
}

static void note(struct by_str *notes, const char *text)
{
    by_str_puts(notes, notes->size ? ", " : "");
    by_str_puts(notes, text);
}

static void note_nonfinite(struct by_str *notes, const struct by_tensor_stats *tensor)
{
    const struct by_sketch *sketch = &tensor->sketch;
    if (!by_tensor_nonfinite(tensor))
        return;
    note(notes, "");
    if (sketch->nans)
        by_str_printf(notes, "%" PRIu64 " NaN", sketch->nans);
    if (sketch->infinities)
        by_str_printf(notes, "%s%" PRIu64 " infinite", sketch->nans ? " and " : "",
                      sketch->infinities);
    by_str_printf(notes, " (first in sample %" PRIu64, sketch->nonfinite_sample);
    if (tensor->nonfinite_name)
        by_str_printf(notes, ", %s", tensor->nonfinite_name);
    by_str_puts(notes, ")");
}

void by_tensor_notes(const struct by_tensor_stats *tensor, uint64_t samples, struct by_str *notes)
{
    const struct by_sketch *sketch = &tensor->sketch;
    if (!sketch->count)
        note(notes, "no values");
    else if (sketch->samples < samples) {
        note(notes, "in ");
        by_plural(notes, sketch->samples, "sample");
    }
    if (by_tensor_is_zero(tensor))
        note(notes, "all zero");
    if (by_tensor_is_constant(tensor))
        note(notes, "constant");
    if (shape_varies(tensor))
        note(notes, "shape varies");
    note_nonfinite(notes, tensor);
}

const char *by_layer_kind_name(enum by_layer_kind kind)
{
    static const char *const names[] = {
        [BY_LAYER_MATMUL] = "matmul",
        [BY_LAYER_CONV] = "conv",
        [BY_LAYER_CONV_TRANSPOSE] = "conv transpose",
        [BY_LAYER_GATHER] = "gather",
    };
    return names[kind];
}

size_t by_layer_tiles_there(const struct by_layer_stats *layer)
{
    size_t count = 0;
    for (size_t i = 0; i < layer->moments.tile_count; i++)
        count += by_layer_stats_has(layer, i);
    return count;
}

uint64_t by_layer_memory(const struct by_layer_stats *layer)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < layer->moments.tile_count; i++) {
        struct by_moments_tile tile;
        by_moments_tile_at(&layer->layer, i, &tile);
        bytes += by_moments_tile_bytes(&tile);
    }
    if (layer->layer.kind == BY_LAYER_GATHER)
        return (uint64_t)layer->layer.columns * sizeof(uint64_t);
    return bytes + 2 * sizeof(int64_t) * (uint64_t)(layer->layer.groups * layer->layer.columns);
}
