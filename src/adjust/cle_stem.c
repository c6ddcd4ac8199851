/*
 * Stem equalization: the channels of a Conv that reads an input of the model are made alike, where
 * nothing but BatchNormalization (as a depthwise Conv, too) reads them: it takes the factors back
 * at no cost. The way there may part, and go through Concat.
 */
#include "adjust/cle_internal.h"
#include "ir/shape.h"
#include "quant/floats.h"

#include <math.h>

#define FACTOR_MAX 16
#define STEPS_MAX  4096 /* of one stem's ways; more are not worth it */

/* Who takes the factors back: its channels from `offset` on are the stem's. */
struct end {
    struct baryon_node *node;
    size_t offset;
};

struct stem {
    struct by_cle *cle;
    struct by_cle_layer layer;
    size_t steps;
    struct {
        struct end *at;
        size_t count, cap;
    } ends;
    double *factor; /* of each channel: weights are multiplied by it */
    double *most;   /* that keeps activations in range */
};

/* --- Where its channels go --- */

static bool is_norm(const struct baryon_node *node, size_t channels)
{
    if (!by_node_is(node, "BatchNormalization") || node->output.count != 1 ||
        by_node_int(node, "training_mode", 0) || by_node_int(node, "spatial", 1) != 1)
        return false;
    static const size_t slots[] = {1, 3};
    for (size_t i = 0; i < 2; i++) {
        size_t count;
        const struct baryon_value *value = by_node_in(node, slots[i]);
        if (!by_cle_is_constant(value) || by_tensor_count(value->initializer, &count, NULL) < 0 ||
            count < channels)
            return false;
    }
    return true;
}

static bool is_depthwise(const struct baryon_node *node, size_t channels)
{
    const struct baryon_value *weight = by_node_in(node, 1);
    if (!by_node_is(node, "Conv") || !by_cle_is_constant(weight) || weight->use_count != 1 ||
        weight->initializer->dims.count < 3 || weight->initializer->dims.at[1] != 1)
        return false;
    const int64_t groups = by_node_int(node, "group", 1);
    return groups > 1 && (size_t)groups >= channels &&
           weight->initializer->dims.at[0] % groups == 0;
}

static int add_end(struct stem *stem, struct baryon_node *node, size_t offset,
                   struct baryon_error *err)
{
    if (by_list_reserve(&stem->cle->arena, &stem->ends, 1, sizeof *stem->ends.at, err) < 0)
        return -1;
    stem->ends.at[stem->ends.count++] = (struct end){node, offset};
    return 0;
}

/* Channels that a Concat puts before those of its input `slot`. */
static bool concat_offset(const struct baryon_node *node, size_t slot, size_t *offset)
{
    const struct baryon_value *in = by_node_in(node, slot);
    if (!by_node_is(node, "Concat") || !in->shape || in->shape->rank < 2)
        return false;
    const int64_t axis = by_node_int(node, "axis", 1);
    if (axis != 1 && axis + (int64_t)in->shape->rank != 1)
        return false;
    for (size_t i = 0; i < slot; i++) {
        const struct baryon_value *before = by_node_in(node, i);
        if (!before || !before->shape || before->shape->rank < 2 ||
            before->shape->dims[1].size <= 0)
            return false;
        *offset += (size_t)before->shape->dims[1].size;
    }
    return true;
}

static int follow(struct stem *stem, const struct baryon_value *value, size_t offset, bool *fits,
                  struct baryon_error *err);

static int follow_use(struct stem *stem, const struct by_use *use, size_t offset, bool *fits,
                      struct baryon_error *err)
{
    struct baryon_node *node = use->node;
    const size_t channels = offset + stem->layer.outs;
    if (use->slot == 0 && (is_norm(node, channels) || is_depthwise(node, channels)))
        return add_end(stem, node, offset, err);
    if (concat_offset(node, use->slot, &offset) ||
        (use->slot == 0 && by_cle_scales_along(node, &stem->cle->arena)))
        return follow(stem, by_node_out(node, 0), offset, fits, err);
    *fits = false;
    return 0;
}

/* Ways are as deep as steps at most. */
static int follow(struct stem *stem, const struct baryon_value *value, size_t offset, bool *fits,
                  struct baryon_error *err)
{
    *fits = *fits && value && value->use_count && !value->output_count && !value->pinned &&
            ++stem->steps <= STEPS_MAX;
    for (size_t i = 0; *fits && i < value->use_count; i++) {
        const struct by_use *use = &value->uses[i];
        if (!use->node || use->node->graph != value->graph)
            *fits = false;
        else if (follow_use(stem, use, offset, fits, err) < 0)
            return -1;
    }
    return 0;
}

static bool begins(const struct by_cle *cle, const struct by_quant_node *row)
{
    const struct baryon_node *node = row->node;
    if (row->state != BY_NODE_QUANTIZED || node->graph != cle->graph || !by_node_is(node, "Conv") ||
        by_node_int(node, "group", 1) != 1)
        return false;
    const struct baryon_value *in = by_node_in(node, 0);
    const size_t at = cle->layer_at[node->index];
    return in && in->is_input && !in->initializer &&
           (at == BY_CLE_NONE || !cle->layers.at[at].out_scale);
}

static int find(struct stem *stem, struct baryon_node *node, bool *fits, struct baryon_error *err)
{
    if (by_cle_layer_open(stem->cle, node, 1, &stem->layer, fits, err) < 0)
        return -1;
    return *fits ? follow(stem, by_node_out(node, 0), 0, fits, err) : 0;
}

/* --- Factors --- */

/* Activations on the way, as far as somebody looked at them. */
static void bound(struct stem *stem, struct by_stats *stats, const struct baryon_value *value)
{
    const struct by_tensor_stats *tensor = by_stats_find(stats, value->name);
    double greatest = 0;
    if (tensor && tensor->channels.count == stem->layer.outs) {
        const struct by_channels *channels = &tensor->channels;
        for (size_t i = 0; i < channels->count; i++)
            greatest = fmax(greatest, by_cle_magnitude(channels, i));
        for (size_t i = 0; i < channels->count; i++)
            if (by_cle_magnitude(channels, i) > 0)
                stem->most[i] = fmin(stem->most[i], greatest / by_cle_magnitude(channels, i));
    }
    for (size_t i = 0; i < value->use_count; i++) {
        const struct baryon_node *node = value->uses[i].node;
        if (by_cle_scales_along(node, &stem->cle->arena))
            bound(stem, stats, by_node_out(node, 0));
    }
}

/* Depthwise layers lose what the stem gains: there both get half of it. */
static int meet_ends(struct stem *stem, double *share, struct baryon_error *err)
{
    for (size_t e = 0; e < stem->ends.count; e++) {
        struct by_cle_layer layer;
        bool fits;
        const struct end *end = &stem->ends.at[e];
        if (!by_node_is(end->node, "Conv"))
            continue;
        if (by_cle_layer_open(stem->cle, end->node, 1, &layer, &fits, err) < 0)
            return -1;
        double *peaks = by_arena_alloc(&stem->cle->arena, layer.groups, sizeof *peaks, err);
        if (!peaks)
            return -1;
        by_cle_in_peaks(&layer, peaks);
        for (size_t i = 0; i < stem->layer.outs; i++)
            share[i] = fmin(share[i], peaks[end->offset + i] / (double)layer.greatest);
    }
    return 0;
}

static int find_factors(struct stem *stem, struct by_stats *stats, struct baryon_error *err)
{
    const size_t channels = stem->layer.outs;
    double *lists = by_arena_alloc(&stem->cle->arena, 4 * channels, sizeof *lists, err);
    if (!lists)
        return -1;
    stem->factor = lists;
    stem->most = lists + channels;
    double *peaks = lists + 2 * channels, *share = lists + 3 * channels;
    for (size_t i = 0; i < channels; i++) {
        stem->most[i] = FACTOR_MAX;
        share[i] = INFINITY;
    }
    if (stats)
        bound(stem, stats, by_node_out(stem->layer.node, 0));
    if (meet_ends(stem, share, err) < 0)
        return -1;
    by_cle_out_peaks(&stem->layer, peaks);
    for (size_t i = 0; i < channels; i++) {
        const double wanted = (double)stem->layer.greatest / peaks[i];
        const bool dead = peaks[i] <= BY_CLE_DEAD * (double)stem->layer.greatest;
        const double factor = isinf(share[i]) ? wanted : sqrt(wanted * share[i]);
        stem->factor[i] = dead || !(factor > 1) ? 1 : fmin(factor, stem->most[i]);
    }
    return 0;
}

/* --- Writing --- */

static int scale_norm(struct stem *stem, const struct end *end, size_t slot, bool up,
                      struct baryon_error *err)
{
    struct baryon_value *value = by_node_in(end->node, slot);
    size_t count;
    if (value->use_count > 1) {
        value = by_graph_duplicate_initializer(value, err);
        if (!value || by_node_set_input(end->node, slot, value, err) < 0)
            return -1;
    }
    float *values = by_floats_copy(value->initializer, &count, err);
    if (!values)
        return -1;
    for (size_t i = 0; i < stem->layer.outs; i++) {
        float *at = &values[end->offset + i];
        *at = (float)(up ? *at * stem->factor[i] : *at / stem->factor[i]);
    }
    const int status =
        by_floats_write(stem->cle->graph->model, value->initializer, values, count, err);
    by_free(values);
    return status;
}

static int scale_depthwise(struct stem *stem, const struct end *end, struct baryon_error *err)
{
    struct by_cle_layer layer;
    bool fits;
    if (by_cle_layer_open(stem->cle, end->node, 1, &layer, &fits, err) < 0)
        return -1;
    layer.in_scale = by_arena_alloc(&stem->cle->arena, layer.groups, sizeof *layer.in_scale, err);
    if (!layer.in_scale)
        return -1;
    for (size_t i = 0; i < layer.groups; i++)
        layer.in_scale[i] = 1;
    for (size_t i = 0; i < stem->layer.outs; i++)
        layer.in_scale[end->offset + i] = 1 / stem->factor[i];
    return by_cle_layer_apply(stem->cle, &layer, err);
}

static int apply(struct stem *stem, struct baryon_error *err)
{
    const size_t channels = stem->layer.outs;
    stem->layer.out_scale =
        by_arena_alloc(&stem->cle->arena, channels, sizeof *stem->layer.out_scale, err);
    if (!stem->layer.out_scale)
        return -1;
    for (size_t i = 0; i < channels; i++)
        stem->layer.out_scale[i] = 1 / stem->factor[i];
    if (by_cle_layer_apply(stem->cle, &stem->layer, err) < 0)
        return -1;
    for (size_t i = 0; i < stem->ends.count; i++) {
        const struct end *end = &stem->ends.at[i];
        if (by_node_is(end->node, "Conv") ? scale_depthwise(stem, end, err) < 0
                                          : scale_norm(stem, end, 1, false, err) < 0 ||
                                                scale_norm(stem, end, 3, true, err) < 0)
            return -1;
    }
    return 0;
}

int by_cle_stems(struct by_cle *cle, const struct by_quant_plan *plan, struct by_stats *stats,
                 bool write, struct by_cle_report *report, struct baryon_error *err)
{
    for (size_t i = 0; i < plan->node_count; i++) {
        struct stem stem = {.cle = cle};
        bool fits = true;
        if (!begins(cle, &plan->nodes[i]))
            continue;
        if (find(&stem, plan->nodes[i].node, &fits, err) < 0)
            return -1;
        if (!fits || !stem.ends.count)
            continue;
        double *peaks = by_arena_alloc(&cle->arena, stem.layer.outs, sizeof *peaks, err);
        if (!peaks)
            return -1;
        by_cle_out_peaks(&stem.layer, peaks);
        report->stems++;
        report->stem_spread += by_cle_spread(peaks, stem.layer.outs);
        if (write && (find_factors(&stem, stats, err) < 0 || apply(&stem, err) < 0))
            return -1;
    }
    return 0;
}
