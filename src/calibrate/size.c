/* Estimates how much memory the activations of one sample take. */
#include "calibrate/size.h"

#include "ir/opinfo.h"
#include "ir/shape.h"
#include "ir/tensor.h"

#define FOREVER SIZE_MAX

struct sizing {
    const struct baryon_graph *graph;
    uint64_t *bytes; /* of each value, by its index; 0: takes none, or is another's place */
    size_t *last;    /* the node that reads it last */
    uint64_t now, most;
    bool unknown;
};

static uint64_t size_of(struct sizing *sizing, const struct baryon_value *value)
{
    const struct by_elem_info *info = by_elem_info(value->elem);
    uint64_t count = 1;
    if (!info || !value->shape) {
        sizing->unknown = true;
        return 0;
    }
    for (size_t i = 0; i < value->shape->rank; i++) {
        const int64_t size = value->shape->dims[i].size;
        sizing->unknown |= size < 0 || count > UINT64_C(1) << 40;
        count = sizing->unknown ? 0 : count * (uint64_t)size;
    }
    return count * info->bits / 8;
}

static size_t last_reader(const struct baryon_value *value, const struct baryon_graph *graph)
{
    size_t last = value->producer->index;
    for (size_t i = 0; i < value->use_count; i++) {
        const struct baryon_node *reader = by_use_reader(&value->uses[i], graph);
        if (!reader)
            return FOREVER;
        last = reader->index > last ? reader->index : last;
    }
    return last;
}

/* Where each element is computed from the one at its place, the output takes the input's memory. */
static void take_place(struct sizing *sizing, const struct baryon_node *node, size_t out)
{
    const struct by_opinfo *info = by_node_opinfo(node);
    if (!info || !by_op_keeps_places(info))
        return;
    for (size_t i = 0; i < node->input.count; i++) {
        const struct baryon_value *in = by_node_in(node, i);
        if (!in || !in->producer || in->graph != sizing->graph ||
            sizing->last[in->index] != node->index ||
            sizing->bytes[in->index] != sizing->bytes[out])
            continue;
        sizing->now -= sizing->bytes[in->index];
        sizing->bytes[in->index] = 0;
        return;
    }
}

static void release_sized_value(struct sizing *sizing, const struct baryon_value *value,
                                size_t node)
{
    if (!value || value->graph != sizing->graph || sizing->last[value->index] != node)
        return;
    sizing->now -= sizing->bytes[value->index];
    sizing->bytes[value->index] = 0;
}

static void run_node(struct sizing *sizing, const struct baryon_node *node)
{
    for (size_t i = 0; i < node->output.count; i++) {
        const struct baryon_value *out = by_node_out(node, i);
        if (!out)
            continue;
        sizing->bytes[out->index] = size_of(sizing, out);
        sizing->last[out->index] = last_reader(out, sizing->graph);
        if (i == 0)
            take_place(sizing, node, out->index);
        sizing->now += sizing->bytes[out->index];
    }
    sizing->most = sizing->now > sizing->most ? sizing->now : sizing->most;
    for (size_t i = 0; i < node->input.count; i++)
        release_sized_value(sizing, by_node_in(node, i), node->index);
    for (size_t i = 0; i < node->output.count; i++)
        release_sized_value(sizing, by_node_out(node, i), node->index);
}

int by_activation_bytes(const struct baryon_graph *graph, uint64_t *bytes, struct baryon_error *err)
{
    const size_t count = graph->all_values.count;
    struct sizing sizing = {.graph = graph};
    sizing.bytes = by_alloc_zero(count, sizeof *sizing.bytes, err);
    sizing.last = sizing.bytes ? by_alloc_zero(count, sizeof *sizing.last, err) : NULL;
    for (size_t i = 0; sizing.last && i < graph->node.count; i++)
        if (graph->node.at[i])
            run_node(&sizing, graph->node.at[i]);
    const bool failed = !sizing.last;
    by_free(sizing.bytes);
    by_free(sizing.last);
    *bytes = sizing.unknown ? UINT64_MAX : sizing.most;
    return failed ? -1 : 0;
}
