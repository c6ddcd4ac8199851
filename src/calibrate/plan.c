/* Chooses what a calibration records and divides Gram matrices into passes that fit in memory. */
#include "calibrate/plan.h"

#include "base/map.h"
#include "ir/shape.h"
#include "stats/layers.h"

#include <string.h>

#define SKETCH_BYTES  (UINT64_C(36) << 10) /* of usual values: some 30 powers of two, both signs */
#define CHANNEL_BYTES 9
#define VOTED         4 /* positions that samples vote for, usually */
#define FOLD_BYTES    16
#define COUNT_BYTES   8

static bool is_counted(const struct by_moments_layer *layer)
{
    return layer->kind == BY_LAYER_GATHER;
}

static uint64_t channels_of(const struct baryon_graph *graph, const struct by_target *target)
{
    const struct baryon_value *value = by_graph_value(graph, target->name);
    if (target->channel_axis < 0 || !value || !value->shape)
        return 0;
    const int64_t size = value->shape->dims[target->channel_axis].size;
    return size > 0 ? (uint64_t)size : 0;
}

static int number_tiles(struct by_calibrate_plan *plan, struct baryon_error *err)
{
    plan->first_tile = by_alloc(plan->layer_count + 1, sizeof *plan->first_tile, err);
    if (!plan->first_tile)
        return -1;
    plan->first_tile[0] = 0;
    for (size_t i = 0; i < plan->layer_count; i++)
        plan->first_tile[i + 1] = plan->first_tile[i] + by_moments_tiles(&plan->layers[i]);
    return 0;
}

/* Keeps the targets that the caller names, in the graph's order. */
static int keep_named(struct by_calibrate_plan *plan, const struct by_calibrate_options *options,
                      struct baryon_error *err)
{
    struct by_map named;
    size_t kept = 0;
    int status = 0;
    by_map_init(&named);
    for (size_t i = 0; status == 0 && i < options->name_count; i++)
        status = by_map_put(&named, options->names[i], &named, err);
    for (size_t i = 0; status == 0 && i < plan->target_count; i++)
        if (by_map_get(&named, plan->targets[i].name))
            plan->targets[kept++] = plan->targets[i];
    plan->target_count = kept;
    by_map_release(&named);
    return status;
}

static int find_targets(struct by_calibrate_plan *plan, const struct baryon_graph *graph,
                        const struct by_calibrate_options *options, struct baryon_error *err)
{
    const enum by_target_choice choice = options->names ? BY_TARGETS_ALL : options->targets;
    if (by_targets_find(graph, choice, &plan->targets, &plan->target_count, err) < 0)
        return -1;
    return options->names ? keep_named(plan, options, err) : 0;
}

/* Samples that judge have matrices of their own, after those of the others. */
static int find_layers(struct by_calibrate_plan *plan, const struct baryon_graph *graph,
                       struct baryon_error *err)
{
    size_t count;
    struct by_moments_layer *found;
    if (by_layers_find(graph, &found, &count, err) < 0)
        return -1;
    plan->layers = by_alloc(2 * count, sizeof *plan->layers, err);
    for (size_t i = 0; plan->layers && i < count; i++) {
        const bool counted = is_counted(&found[i]);
        found[i].share = counted ? BY_SHARE_ALL : BY_SHARE_SOLVES;
        plan->layers[plan->layer_count++] = found[i];
        found[i].share = BY_SHARE_JUDGES;
        if (!counted)
            plan->layers[plan->layer_count++] = found[i];
    }
    by_free(found);
    return plan->layers ? 0 : -1;
}

int by_calibrate_plan_make(struct by_calibrate_plan *plan, const struct baryon_graph *graph,
                           const struct by_calibrate_options *options, struct baryon_error *err)
{
    *plan = (struct by_calibrate_plan){.per_channel = options->per_channel,
                                       .votes = options->votes,
                                       .vote_count = options->vote_count};
    if (find_targets(plan, graph, options, err) < 0 ||
        (options->moments && find_layers(plan, graph, err) < 0) || number_tiles(plan, err) < 0)
        return -1;
    for (size_t i = 0; !options->means && i < plan->target_count; i++)
        plan->targets[i].feeds = false;
    plan->sketch_bytes =
        plan->target_count * (SKETCH_BYTES + plan->vote_count * VOTED * sizeof(struct by_vote));
    for (size_t i = 0; i < plan->target_count; i++)
        if (plan->targets[i].feeds)
            plan->sketch_bytes += 2 * sizeof(int64_t) * channels_of(graph, &plan->targets[i]);
    for (size_t i = 0; plan->per_channel && i < plan->target_count; i++)
        plan->sketch_bytes += CHANNEL_BYTES * channels_of(graph, &plan->targets[i]);
    return 0;
}

void by_calibrate_plan_release(struct by_calibrate_plan *plan)
{
    by_free(plan->targets);
    by_free(plan->layers);
    by_free(plan->first_tile);
    by_free(plan->passes);
    *plan = (struct by_calibrate_plan){0};
}

size_t by_calibrate_plan_tiles(const struct by_calibrate_plan *plan)
{
    return plan->first_tile[plan->layer_count];
}

static size_t layer_of(const struct by_calibrate_plan *plan, size_t tile)
{
    size_t layer = 0;
    while (plan->first_tile[layer + 1] <= tile)
        layer++;
    return layer;
}

static uint64_t tile_bytes(const struct by_calibrate_plan *plan, size_t number)
{
    struct by_moments_tile tile;
    const size_t layer = layer_of(plan, number);
    const struct by_moments_layer *of = &plan->layers[layer];
    by_moments_tile_at(of, number - plan->first_tile[layer], &tile);
    uint64_t bytes = by_moments_tile_bytes(&tile);
    if (number == plan->first_tile[layer])
        bytes += (uint64_t)of->groups * (uint64_t)of->columns * FOLD_BYTES;
    return bytes;
}

/* What is in the first pass whatever its tiles are. */
static uint64_t first_bytes(const struct by_calibrate_plan *plan)
{
    uint64_t bytes = plan->sketch_bytes;
    for (size_t i = 0; i < plan->layer_count; i++)
        if (is_counted(&plan->layers[i]))
            bytes += (uint64_t)plan->layers[i].columns * COUNT_BYTES;
    return bytes;
}

uint64_t by_calibrate_plan_bytes(const struct by_calibrate_plan *plan, size_t pass)
{
    uint64_t bytes = pass == 0 ? first_bytes(plan) : 0;
    for (size_t i = plan->passes[pass].begin; i < plan->passes[pass].end; i++)
        bytes += tile_bytes(plan, i);
    return bytes;
}

int by_calibrate_plan_add_pass(struct by_calibrate_plan *plan, size_t end, struct baryon_error *err)
{
    struct by_calibrate_pass *grown =
        by_realloc(plan->passes, plan->pass_count + 1, sizeof *plan->passes, err);
    if (!grown)
        return -1;
    plan->passes = grown;
    grown[plan->pass_count] = (struct by_calibrate_pass){
        .begin = plan->pass_count ? grown[plan->pass_count - 1].end : 0, .end = end};
    plan->pass_count++;
    return 0;
}

int by_calibrate_plan_divide(struct by_calibrate_plan *plan, size_t fixed, uint64_t memory,
                             struct baryon_error *err)
{
    plan->pass_count = fixed;
    size_t tile = fixed ? plan->passes[fixed - 1].end : 0;
    do {
        uint64_t bytes = plan->pass_count == 0 ? first_bytes(plan) : 0;
        const size_t begin = tile;
        while (tile < by_calibrate_plan_tiles(plan)) {
            const uint64_t more = tile_bytes(plan, tile);
            if (bytes + more > memory && (tile > begin || plan->pass_count == 0))
                break;
            bytes += more;
            tile++;
        }
        if ((tile > begin || plan->pass_count == 0) &&
            by_calibrate_plan_add_pass(plan, tile, err) < 0)
            return -1;
    } while (tile < by_calibrate_plan_tiles(plan));
    return 0;
}

bool by_calibrate_plan_part(const struct by_calibrate_plan *plan, size_t pass, size_t layer,
                            size_t *first, size_t *end)
{
    const struct by_calibrate_pass *of = &plan->passes[pass];
    const size_t begin = plan->first_tile[layer], behind = plan->first_tile[layer + 1];
    if (is_counted(&plan->layers[layer])) {
        *first = 0;
        *end = behind - begin;
        return pass == 0;
    }
    *first = of->begin > begin ? of->begin - begin : 0;
    *end = of->end < behind ? (of->end > begin ? of->end - begin : 0) : behind - begin;
    return *first < *end;
}
