/* Adds each observed tensor to the statistics while a sample runs. */
#include "calibrate/watch.h"

#include "base/map.h"
#include "calib/votes.h"
#include "engine/tap.h"

#include <string.h>

#define NO_TENSOR SIZE_MAX

/* A value with a tap, and all that wants to know it. */
struct watched {
    struct by_watch *watch;
    const char *name;
    size_t tensor;
    struct {
        size_t *at;
        size_t count, cap;
    } layers;
    /* Lanes may look at the same time, each at its sample. */
    pthread_mutex_t tensor_lock, layers_lock;
};

struct by_watch {
    struct by_arena arena;
    struct by_map by_name; /* name -> struct watched */
    const struct by_calibrate_plan *plan;
    size_t pass;
    struct by_ptrs values; /* struct watched */
    struct by_tapped *tapped;
    struct by_stats *stats;
};

/* What looks at one sample. */
struct by_watch_lane {
    struct by_watch *watch;
    struct by_tap_lane *taps;
    bool nonfinite;   /* it is the lowest sample so far with such values in some tensor */
    unsigned workers; /* that the scratches are for */
    struct by_sketch_scratch *sketch_scratch;
    struct by_moments_scratch *moments_scratch;
    float *sums; /* of channels, room for sum_count */
    size_t sum_count;
    struct by_sketch alone; /* of a tensor of this sample, where samples vote */
};

/* --- What a tap does --- */

static int ready_scratch(struct by_watch_lane *lane, const struct by_team *team,
                         struct baryon_error *err)
{
    const unsigned workers = team ? team->workers : 1;
    if (workers <= lane->workers)
        return 0;
    by_sketch_scratch_close(lane->sketch_scratch);
    by_moments_scratch_close(lane->moments_scratch);
    lane->sketch_scratch = NULL;
    lane->moments_scratch = NULL;
    lane->workers = 0;
    if (by_sketch_scratch_open(&lane->sketch_scratch, workers, err) < 0 ||
        (lane->watch->plan->layer_count &&
         by_moments_scratch_open(&lane->moments_scratch, workers, err) < 0))
        return -1;
    lane->workers = workers;
    return 0;
}

static size_t product(const int64_t *dims, size_t from, size_t to)
{
    size_t count = 1;
    for (size_t i = from; i < to; i++)
        count *= (size_t)dims[i];
    return count;
}

static struct by_channel_values by_channel(const struct by_array *values, size_t axis,
                                           const struct by_tap_look *look)
{
    return (struct by_channel_values){.at = values->data,
                                      .elem = values->elem,
                                      .outer = product(values->dims, 0, axis),
                                      .channels = (size_t)values->dims[axis],
                                      .inner = product(values->dims, axis + 1, values->rank),
                                      .blocks = look->blocks};
}

/* The shape of this sample is noted already. */
static int look_at_channels(struct by_tensor_stats *tensor, const struct by_array *values,
                            const struct by_tap_look *look, struct baryon_error *err)
{
    if (!by_tensor_stats_has_channels(tensor))
        return 0;
    const struct by_channel_values all = by_channel(values, (size_t)tensor->channel_axis, look);
    if (!tensor->channels.count && by_channels_init(&tensor->channels, all.channels, err) < 0)
        return -1;
    return by_channels_look(&tensor->channels, &all, look->team, err);
}

/* Whose means are wanted; 0: none. */
static size_t channels_in(const struct by_tensor_stats *tensor, const struct by_array *values,
                          uint64_t sample)
{
    const size_t axis = (size_t)tensor->channel_axis;
    const bool wanted = tensor->has_means && by_channel_means_of(sample) && axis < values->rank;
    return wanted ? (size_t)values->dims[axis] : 0;
}

/* Before the lock: this is most of the work. */
static int sum_channels(struct by_watch_lane *lane, const struct by_tensor_stats *tensor,
                        const struct by_array *values, const struct by_tap_look *look,
                        struct baryon_error *err)
{
    const size_t channels = channels_in(tensor, values, look->sample);
    if (!channels)
        return 0;
    const struct by_channel_values all = by_channel(values, (size_t)tensor->channel_axis, look);
    if (channels > lane->sum_count) {
        float *sums = by_realloc(lane->sums, channels, sizeof *sums, err);
        if (!sums)
            return -1;
        lane->sums = sums;
        lane->sum_count = channels;
    }
    return by_channel_sums(&all, look->team, lane->sums, err);
}

static int add_channels(const struct by_watch_lane *lane, struct by_tensor_stats *tensor,
                        const struct by_array *values, uint64_t sample, struct baryon_error *err)
{
    const size_t channels = channels_in(tensor, values, sample);
    if (!channels || !by_tensor_stats_has_channels(tensor))
        return 0;
    if (!tensor->means.sums.count && by_channel_means_init(&tensor->means, channels, err) < 0)
        return -1;
    by_channel_means_add(&tensor->means, lane->sums,
                         product(values->dims, 0, values->rank) / channels);
    return 0;
}

/* What does not come with the sketch itself. */
static int look_around(struct by_watch_lane *lane, struct by_tensor_stats *tensor,
                       const struct by_array *values, const struct by_tap_look *look,
                       struct baryon_error *err)
{
    lane->nonfinite |= tensor->sketch.nonfinite_sample == look->sample;
    by_tensor_stats_shape(tensor, values->dims, values->rank);
    if (add_channels(lane, tensor, values, look->sample, err) < 0)
        return -1;
    return lane->watch->plan->per_channel ? look_at_channels(tensor, values, look, err) : 0;
}

static int look_alone(struct by_watch_lane *lane, const struct by_sketch_values *all,
                      const struct by_tap_look *look, struct baryon_error *err)
{
    const struct by_calibrate_plan *plan = lane->watch->plan;
    struct by_sketch_values own = *all;
    own.lock = NULL;
    by_sketch_release(&lane->alone);
    return by_sketch_look_at(&lane->alone, lane->sketch_scratch, &own, look->sample, look->team,
                             err) < 0 ||
                   by_votes_cast(&lane->alone, plan->votes, plan->vote_count, err) < 0
               ? -1
               : 0;
}

/* A sketch of the sample alone is what it votes by; added, it is as good as the look itself. */
static int look_and_vote(struct by_sketch *sketch, struct by_watch_lane *lane,
                         const struct by_sketch_values *all, const struct by_tap_look *look,
                         struct baryon_error *err)
{
    if (look_alone(lane, all, look, err) < 0)
        return -1;
    pthread_mutex_lock(all->lock);
    const int status = by_sketch_merge(sketch, &lane->alone, err);
    pthread_mutex_unlock(all->lock);
    return status;
}

static int look_at_sketch(struct by_sketch *sketch, struct by_watch_lane *lane,
                          const struct by_sketch_values *all, const struct by_tap_look *look,
                          struct baryon_error *err)
{
    if (lane->watch->plan->vote_count)
        return look_and_vote(sketch, lane, all, look, err);
    return by_sketch_look_at(sketch, lane->sketch_scratch, all, look->sample, look->team, err);
}

static int look_at_tensor(struct watched *watched, struct by_watch_lane *lane,
                          const struct by_array *values, const struct by_tap_look *look,
                          struct baryon_error *err)
{
    struct by_tensor_stats *tensor = &watched->watch->stats->tensors[watched->tensor];
    const struct by_sketch_values all = {.at = values->data,
                                         .elem = values->elem,
                                         .count = product(values->dims, 0, values->rank),
                                         .blocks = look->blocks,
                                         .lock = &watched->tensor_lock};
    if (sum_channels(lane, tensor, values, look, err) < 0)
        return -1;
    if (look_at_sketch(&tensor->sketch, lane, &all, look, err) < 0)
        return -1;
    pthread_mutex_lock(&watched->tensor_lock);
    const int status = look_around(lane, tensor, values, look, err);
    pthread_mutex_unlock(&watched->tensor_lock);
    return status;
}

static int look_at_layers(const struct watched *watched, struct by_watch_lane *lane,
                          const struct by_array *values, const struct by_tap_look *look,
                          struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const struct by_watch *watch = watched->watch;
    for (size_t i = 0; i < watched->layers.count; i++) {
        const size_t number = watched->layers.at[i];
        struct by_layer_stats *layer = &watch->stats->layers[number];
        size_t first, end;
        if (!by_calibrate_plan_part(watch->plan, watch->pass, number, &first, &end))
            continue;
        if (by_moments_look(&layer->moments, &layer->layer, lane->moments_scratch, values,
                            look->sample, look->team, err) < 0)
            return by_err_in(err, "layer %s", by_quote(quoted, layer->layer.name));
    }
    return 0;
}

static int look_at_watched_part(struct watched *watched, struct by_watch_lane *lane,
                                const struct by_array *values, const struct by_tap_look *look,
                                struct baryon_error *err)
{
    if (ready_scratch(lane, look->team, err) < 0 ||
        (watched->tensor != NO_TENSOR && watched->watch->pass == 0 &&
         look_at_tensor(watched, lane, values, look, err) < 0))
        return -1;
    if (!watched->layers.count)
        return 0;
    pthread_mutex_lock(&watched->layers_lock);
    const int status = look_at_layers(watched, lane, values, look, err);
    pthread_mutex_unlock(&watched->layers_lock);
    return status;
}

static int look_at_watched(void *context, const struct by_tap_look *look, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    struct watched *watched = context;
    if (look_at_watched_part(watched, look->lane, &look->values[0], look, err) < 0)
        return by_err_in(err, "tensor %s", by_quote(quoted, watched->name));
    return 0;
}

/* --- Setting up --- */

static struct watched *watch_value(struct by_watch *watch, const char *name,
                                   struct baryon_error *err)
{
    struct watched *found = by_map_get(&watch->by_name, name);
    if (found)
        return found;
    if (!(found = BY_ARENA_NEW(&watch->arena, struct watched, err)) ||
        by_list_reserve(&watch->arena, &watch->values, 1, sizeof(void *), err) < 0 ||
        by_map_put(&watch->by_name, name, found, err) < 0)
        return NULL;
    *found = (struct watched){.watch = watch, .name = name, .tensor = NO_TENSOR};
    pthread_mutex_init(&found->tensor_lock, NULL);
    pthread_mutex_init(&found->layers_lock, NULL);
    watch->values.at[watch->values.count++] = found;
    return found;
}

static int watch_targets(struct by_watch *watch, struct baryon_error *err)
{
    for (size_t i = 0; i < watch->plan->target_count; i++) {
        struct watched *value = watch_value(watch, watch->plan->targets[i].name, err);
        if (!value)
            return -1;
        value->tensor = i;
    }
    return 0;
}

static int watch_layers(struct by_watch *watch, struct baryon_error *err)
{
    for (size_t i = 0; i < watch->plan->layer_count; i++) {
        struct watched *value = watch_value(watch, watch->plan->layers[i].input, err);
        if (!value ||
            by_list_reserve(&watch->arena, &value->layers, 1, sizeof *value->layers.at, err) < 0)
            return -1;
        value->layers.at[value->layers.count++] = i;
    }
    return 0;
}

/* Blocks are of axis 1. */
static bool takes_blocks(const struct by_watch *watch, const struct watched *value)
{
    const struct by_calibrate_plan *plan = watch->plan;
    const bool other = value->tensor != NO_TENSOR && plan->targets[value->tensor].channel_axis != 1;
    return !value->layers.count && !(plan->per_channel && other);
}

static int open_taps(struct by_watch *watch, struct baryon_model *model,
                     const struct by_session_options *options, struct baryon_error *err)
{
    struct by_tap *taps = by_alloc(watch->values.count, sizeof *taps, err);
    if (!taps)
        return -1;
    for (size_t i = 0; i < watch->values.count; i++) {
        struct watched *value = watch->values.at[i];
        taps[i] = (struct by_tap){.values = &value->name,
                                  .value_count = 1,
                                  .look = look_at_watched,
                                  .context = value,
                                  .any_layout = takes_blocks(watch, value)};
    }
    int status = by_tapped_open(&watch->tapped, model, taps, watch->values.count, options, err);
    by_free(taps);
    return status;
}

int by_watch_open(struct by_watch **out, struct baryon_model *model,
                  const struct by_calibrate_plan *plan, const struct by_session_options *options,
                  struct baryon_error *err)
{
    *out = NULL;
    struct by_watch *watch = by_alloc_zero(1, sizeof *watch, err);
    if (!watch)
        return -1;
    watch->plan = plan;
    by_arena_init(&watch->arena, 0);
    by_map_init(&watch->by_name);
    if (watch_targets(watch, err) < 0 || watch_layers(watch, err) < 0 ||
        open_taps(watch, model, options, err) < 0) {
        by_watch_close(watch);
        return -1;
    }
    *out = watch;
    return 0;
}

void by_watch_close(struct by_watch *watch)
{
    if (!watch)
        return;
    by_tapped_close(watch->tapped);
    for (size_t i = 0; i < watch->values.count; i++) {
        struct watched *value = watch->values.at[i];
        pthread_mutex_destroy(&value->tensor_lock);
        pthread_mutex_destroy(&value->layers_lock);
    }
    by_map_release(&watch->by_name);
    by_arena_release(&watch->arena);
    by_free(watch);
}

struct by_session *by_watch_session(const struct by_watch *watch)
{
    return by_tapped_session(watch->tapped);
}

void by_watch_into(struct by_watch *watch, struct by_stats *stats, size_t pass)
{
    watch->stats = stats;
    watch->pass = pass;
}

/* --- Lanes --- */

int by_watch_lane_open(struct by_watch_lane **out, struct by_watch *watch, struct baryon_error *err)
{
    struct by_watch_lane *lane = by_alloc_zero(1, sizeof *lane, err);
    *out = NULL;
    if (!lane)
        return -1;
    lane->watch = watch;
    by_sketch_init(&lane->alone);
    if (by_tap_lane_open(&lane->taps, watch->tapped, lane, err) < 0) {
        by_watch_lane_close(lane);
        return -1;
    }
    *out = lane;
    return 0;
}

void by_watch_lane_close(struct by_watch_lane *lane)
{
    if (!lane)
        return;
    by_tap_lane_close(lane->taps);
    by_sketch_scratch_close(lane->sketch_scratch);
    by_moments_scratch_close(lane->moments_scratch);
    by_sketch_release(&lane->alone);
    by_free(lane->sums);
    by_free(lane);
}

int by_watch_sample(struct by_watch_lane *lane, const struct by_array *inputs, size_t count,
                    uint64_t sample, bool *nonfinite, struct baryon_error *err)
{
    lane->nonfinite = false;
    const int status = by_tap_lane_run(lane->taps, inputs, count, sample, err);
    *nonfinite = lane->nonfinite;
    return status;
}

/* Lower samples may have come since. */
static int name_tensor(struct watched *watched, uint64_t sample, const char *name,
                       struct baryon_error *err)
{
    struct by_stats *stats = watched->watch->stats;
    struct by_tensor_stats *tensor = &stats->tensors[watched->tensor];
    pthread_mutex_lock(&watched->tensor_lock);
    const bool lowest = tensor->sketch.nonfinite_sample == sample;
    pthread_mutex_unlock(&watched->tensor_lock);
    if (!lowest)
        return 0;
    tensor->nonfinite_name = by_arena_text(&stats->arena, name, strlen(name), err);
    return tensor->nonfinite_name ? 0 : -1;
}

int by_watch_name(struct by_watch *watch, uint64_t sample, const char *name,
                  struct baryon_error *err)
{
    for (size_t i = 0; i < watch->values.count; i++) {
        struct watched *watched = watch->values.at[i];
        if (watched->tensor != NO_TENSOR && name_tensor(watched, sample, name, err) < 0)
            return -1;
    }
    return 0;
}
