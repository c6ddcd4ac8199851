/* Which layers can be equalized with which. */
#include "adjust/cle_internal.h"
#include "ir/shape.h"

#include <math.h>

/* The way from a layer to the next one. */
struct way {
    struct baryon_node *to;
    struct baryon_value *between; /* what `to` reads */
    struct baryon_node *clip;
    size_t inside; /* places of a channel that a Flatten put side by side */
};

/* --- Operators between two layers --- */

static bool constant_is(const struct baryon_value *value, float wanted)
{
    struct by_span bytes;
    size_t count;
    float found;
    if (!value || !value->initializer || value->initializer->data_type != BY_ELEM_FLOAT ||
        by_tensor_count(value->initializer, &count, NULL) < 0 || count != 1)
        return false;
    struct by_arena arena;
    by_arena_init(&arena, 1 << 16);
    const bool read = by_tensor_bytes(value->initializer, &arena, &bytes, NULL) == 0 &&
                      by_elem_to_floats(BY_ELEM_FLOAT, bytes.data, 0, 1, &found, NULL) == 0;
    by_arena_release(&arena);
    return read && fabsf(found - wanted) < 1e-6f;
}

/* Clip from 0 to 6, given as inputs or as attributes. */
static bool is_relu6(const struct baryon_node *node)
{
    if (!by_node_is(node, "Clip"))
        return false;
    if (node->input.count >= 3)
        return constant_is(by_node_in(node, 1), 0) && constant_is(by_node_in(node, 2), 6);
    return node->input.count == 1 && fabsf(by_node_float(node, "min", -1)) < 1e-6f &&
           fabsf(by_node_float(node, "max", -1) - 6) < 1e-6f;
}

/* Pads of the batch and channel axes are none, and what is put in scales with the rest. */
static bool pad_fits(const struct baryon_node *node, struct by_arena *arena)
{
    const struct baryon_value *pads = by_node_in(node, 1), *fill = by_node_in(node, 2);
    int64_t *sizes;
    size_t count;
    if (!pads || !pads->initializer || by_node_in(node, 3) || (fill && !constant_is(fill, 0)) ||
        by_tensor_ints(pads->initializer, arena, 2 * BY_RANK_MAX, &sizes, &count, NULL) < 0 ||
        count < 6)
        return false;
    return !sizes[0] && !sizes[1] && !sizes[count / 2] && !sizes[count / 2 + 1];
}

static int64_t places(const struct baryon_value *value)
{
    int64_t count = 1;
    if (!value->shape || value->shape->rank < 2)
        return 0;
    for (size_t axis = 2; axis < value->shape->rank; axis++) {
        if (value->shape->dims[axis].size <= 0)
            return 0;
        count *= value->shape->dims[axis].size;
    }
    return count;
}

/* [N, C, ...] becomes [N, C * ...]. */
static bool flattens(const struct baryon_node *node)
{
    const struct baryon_value *in = by_node_in(node, 0), *out = by_node_out(node, 0);
    const int64_t count = places(in);
    if (by_node_is(node, "Flatten"))
        return by_node_int(node, "axis", 1) == 1 && count > 0;
    if (!by_node_is(node, "Reshape") && !by_node_is(node, "Squeeze"))
        return false;
    return count > 0 && out && out->shape && out->shape->rank == 2 && in->shape->dims[1].size > 0 &&
           out->shape->dims[1].size == in->shape->dims[1].size * count;
}

bool by_cle_scales_along(const struct baryon_node *node, struct by_arena *arena)
{
    static const char *const names[] = {"Relu",        "LeakyRelu",         "MaxPool",
                                        "AveragePool", "GlobalAveragePool", "GlobalMaxPool",
                                        "Identity",    "Dropout",           NULL};
    return by_node_is_one_of(node, names) || (by_node_is(node, "Pad") && pad_fits(node, arena));
}

/* The only reader of a value that is no output; NULL: several, none, or in a nested graph. */
static struct baryon_node *only_reader(const struct baryon_value *value)
{
    if (!value || value->use_count != 1 || value->output_count || value->pinned)
        return NULL;
    struct baryon_node *reader = value->uses[0].node;
    return reader->graph == value->graph && value->uses[0].slot == 0 ? reader : NULL;
}

static bool is_layer(const struct baryon_node *node)
{
    return by_node_is(node, "Conv") || by_node_is(node, "ConvTranspose") ||
           by_node_is(node, "Gemm");
}

static bool find_way(struct by_cle *cle, const struct baryon_node *from, bool through_clips,
                     struct way *way)
{
    *way = (struct way){.between = by_node_out(from, 0), .inside = 1};
    for (struct baryon_node *node; (node = only_reader(way->between));) {
        if (is_layer(node)) {
            way->to = node;
            return true;
        }
        if (is_relu6(node) && through_clips && !way->clip)
            way->clip = node;
        else if (flattens(node) && way->inside == 1)
            way->inside = (size_t)places(way->between);
        else if (!by_cle_scales_along(node, &cle->arena) || way->inside != 1)
            return false;
        way->between = by_node_out(node, 0);
    }
    return false;
}

/* --- Layers and links --- */

/* inside 0: whatever it was opened with, or 1. What does not fit is BY_CLE_NONE. */
static int layer_of(struct by_cle *cle, struct baryon_node *node, size_t inside, size_t *at,
                    struct baryon_error *err)
{
    struct by_cle_layer layer;
    bool fits;
    *at = cle->layer_at[node->index];
    if (*at != BY_CLE_NONE) {
        if (inside && by_node_is(node, "Gemm") && inside != cle->layers.at[*at].inside)
            *at = BY_CLE_NONE;
        return 0;
    }
    if (by_cle_layer_open(cle, node, inside ? inside : 1, &layer, &fits, err) < 0)
        return -1;
    if (!fits)
        return 0;
    if (by_list_reserve(&cle->arena, &cle->layers, 1, sizeof *cle->layers.at, err) < 0)
        return -1;
    *at = cle->layer_at[node->index] = cle->layers.count;
    cle->layers.at[cle->layers.count++] = layer;
    return 0;
}

static double *ones(struct by_cle *cle, size_t count, double value, struct baryon_error *err)
{
    double *list = by_arena_alloc(&cle->arena, count, sizeof *list, err);
    for (size_t i = 0; list && i < count; i++)
        list[i] = value;
    return list;
}

static int add_link(struct by_cle *cle, struct baryon_node *node, const struct way *way,
                    struct baryon_error *err)
{
    struct by_cle_link link = {.between = way->between, .clip = way->clip};
    if (layer_of(cle, way->to, way->inside, &link.to, err) < 0 || link.to == BY_CLE_NONE)
        return link.to == BY_CLE_NONE ? 0 : -1;
    if (layer_of(cle, node, 0, &link.from, err) < 0 || link.from == BY_CLE_NONE)
        return link.from == BY_CLE_NONE ? 0 : -1;
    struct by_cle_layer *from = &cle->layers.at[link.from], *to = &cle->layers.at[link.to];
    link.channels = from->outs;
    if (to->group_ins * to->groups != link.channels || from->out_scale || to->in_scale)
        return 0;
    if (by_list_reserve(&cle->arena, &cle->links, 1, sizeof *cle->links.at, err) < 0 ||
        !(link.scale = ones(cle, link.channels, 1, err)) ||
        !(link.low = ones(cle, link.channels, 0, err)))
        return -1;
    from->out_scale = to->in_scale = link.scale;
    from->behind = to->before = cle->links.count;
    cle->links.at[cle->links.count++] = link;
    return 0;
}

int by_cle_find(struct by_cle *cle, struct by_quant_plan *plan, bool through_clips,
                struct baryon_error *err)
{
    const size_t nodes = plan->model->graph->node.count;
    cle->graph = plan->model->graph;
    cle->layer_at = by_arena_alloc(&cle->arena, nodes ? nodes : 1, sizeof *cle->layer_at, err);
    if (!cle->layer_at)
        return -1;
    for (size_t i = 0; i < nodes; i++)
        cle->layer_at[i] = BY_CLE_NONE;
    for (size_t i = 0; i < plan->node_count; i++) {
        const struct by_quant_node *row = &plan->nodes[i];
        struct way way;
        if (row->state != BY_NODE_QUANTIZED || row->node->graph != cle->graph ||
            !is_layer(row->node) || !find_way(cle, row->node, through_clips, &way) ||
            (cle->only_quantized && by_quant_node_of(plan, way.to)->state != BY_NODE_QUANTIZED))
            continue;
        if (add_link(cle, row->node, &way, err) < 0)
            return -1;
    }
    return 0;
}
