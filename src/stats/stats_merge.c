/* Merges statistics of other samples and joins those of another pass. */
#include "stats/store.h"

#include <inttypes.h>
#include <string.h>

/* --- Whether they belong together --- */

static int fail_layout(const char *what, size_t index, struct baryon_error *err)
{
    by_fail(err, BARYON_ERR_INPUT, "%s[%zu] differs, although the keys are the same", what, index);
    return by_err_hint(err, "calibrate both with the same version of Baryon");
}

static int check_tensors(const struct by_stats *a, const struct by_stats *b,
                         struct baryon_error *err)
{
    for (size_t i = 0; i < a->tensor_count && i < b->tensor_count; i++)
        if (strcmp(a->tensors[i].name, b->tensors[i].name) != 0 ||
            a->tensors[i].elem != b->tensors[i].elem ||
            a->tensors[i].channel_axis != b->tensors[i].channel_axis)
            return fail_layout("tensor", i, err);
    return 0;
}

static int check_layers(const struct by_stats *a, const struct by_stats *b,
                        struct baryon_error *err)
{
    struct by_str one, two;
    int status = 0;
    by_str_init(&one);
    by_str_init(&two);
    for (size_t i = 0; i < a->layer_count && i < b->layer_count && status == 0; i++) {
        by_str_clear(&one);
        by_str_clear(&two);
        by_store_put_layer(&one, &a->layers[i].layer);
        by_store_put_layer(&two, &b->layers[i].layer);
        if (by_str_error(&one, err) || by_str_error(&two, err))
            status = -1;
        else if (one.size != two.size || memcmp(one.text, two.text, one.size) != 0)
            status = fail_layout("layer", i, err);
    }
    by_str_release(&one);
    by_str_release(&two);
    return status;
}

static int check_layout(const struct by_stats *stats, const struct by_stats *other,
                        struct baryon_error *err)
{
    if (by_stats_check_key(&other->key, &stats->key, err))
        return -1;
    if (stats->total != other->total)
        return by_fail(err, BARYON_ERR_CHANGED,
                       "the statistics are of other data (%" PRIu64 " samples, not %" PRIu64 ")",
                       other->total, stats->total);
    return check_tensors(stats, other, err) || check_layers(stats, other, err) ? -1 : 0;
}

static int check_counts(const struct by_stats *stats, const struct by_stats *other,
                        struct baryon_error *err)
{
    if (stats->tensor_count != other->tensor_count)
        return fail_layout("tensor", other->tensor_count, err);
    if (stats->layer_count != other->layer_count)
        return fail_layout("layer", other->layer_count, err);
    return 0;
}

/* The samples from which and up to which both say something. */
static int fail_overlap(uint64_t begin, uint64_t end, struct baryon_error *err)
{
    if (end - begin == 1)
        by_fail(err, BARYON_ERR_INPUT, "sample %" PRIu64 " is covered twice", begin);
    else
        by_fail(err, BARYON_ERR_INPUT, "samples %" PRIu64 " to %" PRIu64 " are covered twice",
                begin, end - 1);
    return by_err_hint(err, "merge every part only once");
}

static int check_samples(const struct by_stats *a, const struct by_stats *b,
                         struct baryon_error *err)
{
    for (size_t i = 0, k = 0; i < a->covered.count && k < b->covered.count;) {
        struct by_sample_range x = a->covered.at[i], y = b->covered.at[k];
        uint64_t begin = x.begin > y.begin ? x.begin : y.begin;
        uint64_t end = x.end < y.end ? x.end : y.end;
        if (begin < end)
            return fail_overlap(begin, end, err);
        if (x.end < y.end)
            i++;
        else
            k++;
    }
    return 0;
}

static bool is_untouched(const struct by_layer_stats *layer)
{
    return !layer->moments.samples && by_layer_stats_empty(layer);
}

static bool same_parts(const struct by_layer_stats *a, const struct by_layer_stats *b)
{
    if (!a->moments.mean.count != !b->moments.mean.count ||
        !a->moments.counts != !b->moments.counts)
        return false;
    for (size_t i = 0; i < a->moments.tile_count; i++)
        if (by_layer_stats_has(a, i) != by_layer_stats_has(b, i))
            return false;
    return true;
}

static int check_parts(const struct by_stats *stats, const struct by_stats *other,
                       struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    for (size_t i = 0; i < stats->layer_count; i++) {
        const struct by_layer_stats *a = &stats->layers[i], *b = &other->layers[i];
        if (is_untouched(a) || is_untouched(b) || same_parts(a, b))
            continue;
        by_fail(err, BARYON_ERR_INPUT,
                "layer %s: the two files have different parts of its Gram matrix",
                by_quote(quoted, a->layer.name));
        return by_err_hint(err, "finish both calibrations first");
    }
    return 0;
}

/* --- Adding --- */

/* Of texts for people the lesser one, whatever order they come in. */
static int lesser_text(struct by_stats *stats, const char **text, const char *other,
                       struct baryon_error *err)
{
    if (strcmp(other, *text) >= 0)
        return 0;
    const char *copy = by_arena_text(&stats->arena, other, strlen(other), err);
    if (copy)
        *text = copy;
    return copy ? 0 : -1;
}

static int add_head(struct by_stats *stats, const struct by_stats *other, struct baryon_error *err)
{
    for (size_t i = 0; i < other->covered.count; i++)
        if (by_stats_cover(stats, other->covered.at[i].begin, other->covered.at[i].end, err))
            return -1;
    for (size_t i = 0; i < other->skipped.count; i++) {
        const struct by_skipped *skipped = &other->skipped.at[i];
        if (by_stats_skip(stats, skipped->sample, skipped->name, skipped->reason, err))
            return -1;
    }
    stats->content = by_hash128_sum(stats->content, other->content);
    return lesser_text(stats, &stats->model, other->model, err) ||
                   lesser_text(stats, &stats->data, other->data, err) ||
                   lesser_text(stats, &stats->settings, other->settings, err)
               ? -1
               : 0;
}

static void merge_shape(struct by_tensor_stats *tensor, const struct by_tensor_stats *other)
{
    if (other->rank == SIZE_MAX)
        return;
    if (other->rank_varies) {
        tensor->rank_varies = true;
        tensor->rank = 0;
        memset(tensor->dims, 0, sizeof tensor->dims);
    }
    by_tensor_stats_shape(tensor, other->dims, other->rank);
}

static int merge_means(struct by_tensor_stats *tensor, const struct by_tensor_stats *other,
                       bool fresh, struct baryon_error *err)
{
    struct by_channel_means *means = &tensor->means;
    if (fresh && by_channel_means_init(means, other->means.sums.count, err))
        return -1;
    if (means->sums.count != other->means.sums.count)
        by_channel_means_release(means);
    else
        by_channel_means_merge(means, &other->means);
    return 0;
}

/* Sizes that differ are a size that varies. */
static int merge_channels(struct by_tensor_stats *tensor, const struct by_tensor_stats *other,
                          bool fresh, struct baryon_error *err)
{
    struct by_channels *channels = &tensor->channels;
    if (fresh && other->channels.count && by_channels_init(channels, other->channels.count, err))
        return -1;
    if (fresh && other->channels.squares.count &&
        by_fold_init(&channels->squares, other->channels.squares.count, err) < 0)
        return -1;
    if (channels->count != other->channels.count)
        by_channels_release(channels);
    else if (channels->count)
        by_channels_merge(channels, &other->channels);
    return 0;
}

int by_tensor_stats_merge(struct by_stats *stats, struct by_tensor_stats *tensor,
                          const struct by_tensor_stats *other, struct baryon_error *err)
{
    bool fresh = tensor->rank == SIZE_MAX;
    if (other->sketch.nonfinite_sample < tensor->sketch.nonfinite_sample) {
        const char *name = other->nonfinite_name;
        tensor->nonfinite_name =
            name ? by_arena_text(&stats->arena, name, strlen(name), err) : NULL;
        if (name && !tensor->nonfinite_name)
            return -1;
    }
    merge_shape(tensor, other);
    if (other->rank != SIZE_MAX && /* it was looked at */
        (merge_channels(tensor, other, fresh, err) || merge_means(tensor, other, fresh, err)))
        return -1;
    return by_sketch_merge(&tensor->sketch, &other->sketch, err);
}

static int add_fold(struct by_fold *to, const struct by_fold *from, struct baryon_error *err)
{
    if (!from->count)
        return 0;
    if (!to->count && by_fold_init(to, from->count, err))
        return -1;
    by_fold_merge(to, from);
    return 0;
}

static int add_index_counts(struct by_layer_stats *to, const struct by_layer_stats *from,
                            struct baryon_error *err)
{
    size_t count = (size_t)from->layer.columns;
    if (!from->moments.counts)
        return 0;
    if (!to->moments.counts)
        to->moments.counts = by_alloc_zero(count, sizeof *to->moments.counts, err);
    if (!to->moments.counts)
        return -1;
    for (size_t i = 0; i < count; i++)
        to->moments.counts[i] += from->moments.counts[i];
    return 0;
}

static int add_tiles(struct by_stats *stats, struct by_layer_stats *to,
                     const struct by_layer_stats *from, struct baryon_error *err)
{
    if (from->stored && by_layer_stats_storable(stats, to, err))
        return -1;
    for (size_t i = 0; i < from->moments.tile_count; i++) {
        const struct by_stored_tile *stored = from->stored ? from->stored[i] : NULL;
        for (; stored; stored = stored->next)
            if (by_layer_stats_store(stats, to, i, stored, err))
                return -1;
        if (add_fold(&to->moments.tiles[i], &from->moments.tiles[i], err))
            return -1;
    }
    return 0;
}

static int add_layer(struct by_stats *stats, struct by_layer_stats *to,
                     const struct by_layer_stats *from, struct baryon_error *err)
{
    if (add_fold(&to->moments.mean, &from->moments.mean, err) || add_index_counts(to, from, err))
        return -1;
    return add_tiles(stats, to, from, err);
}

int by_stats_merge(struct by_stats *stats, const struct by_stats *other, struct baryon_error *err)
{
    if (check_layout(stats, other, err) || check_counts(stats, other, err) ||
        check_samples(stats, other, err) || check_parts(stats, other, err))
        return -1;
    if (add_head(stats, other, err))
        return -1;
    for (size_t i = 0; i < stats->tensor_count; i++)
        if (by_tensor_stats_merge(stats, &stats->tensors[i], &other->tensors[i], err))
            return -1;
    for (size_t i = 0; i < stats->layer_count; i++) {
        struct by_moments *to = &stats->layers[i].moments;
        const struct by_moments *from = &other->layers[i].moments;
        to->rows += from->rows;
        to->samples += from->samples;
        to->nonfinite_rows += from->nonfinite_rows;
        if (add_layer(stats, &stats->layers[i], &other->layers[i], err))
            return -1;
    }
    return 0;
}

/* --- Joining --- */

static int fail_join(const char *what, const char *name, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    return by_fail(err, BARYON_ERR_INTERNAL, "%s %s was collected by two passes", what,
                   by_quote(quoted, name));
}

static int check_same_samples(const struct by_stats *a, const struct by_stats *b,
                              struct baryon_error *err)
{
    bool same = a->covered.count == b->covered.count && a->skipped.count == b->skipped.count &&
                by_hash128_equal(a->content, b->content);
    for (size_t i = 0; same && i < a->covered.count; i++)
        same = a->covered.at[i].begin == b->covered.at[i].begin &&
               a->covered.at[i].end == b->covered.at[i].end;
    for (size_t i = 0; same && i < a->skipped.count; i++)
        same = a->skipped.at[i].sample == b->skipped.at[i].sample;
    if (same)
        return 0;
    by_fail(err, BARYON_ERR_CHANGED, "two passes over the samples read different data");
    return by_err_hint(err, "run again when no other program changes the samples");
}

static int check_disjoint(const struct by_layer_stats *a, const struct by_layer_stats *b,
                          struct baryon_error *err)
{
    const struct by_moments *x = &a->moments, *y = &b->moments;
    bool twice = (x->mean.count && y->mean.count) || (x->counts && y->counts);
    for (size_t i = 0; i < x->tile_count && !twice; i++)
        twice = by_layer_stats_has(a, i) && by_layer_stats_has(b, i);
    if (twice)
        return fail_join("layer", a->layer.name, err);
    if (x->rows == y->rows && x->samples == y->samples && x->nonfinite_rows == y->nonfinite_rows)
        return 0;
    char quoted[BY_QUOTE_MAX];
    return by_fail(err, BARYON_ERR_CHANGED,
                   "layer %s: two passes read %" PRIu64 " and %" PRIu64 " rows",
                   by_quote(quoted, a->layer.name), x->rows, y->rows);
}

static int join_layer(struct by_stats *stats, struct by_layer_stats *to,
                      const struct by_layer_stats *from, struct baryon_error *err)
{
    if (by_layer_stats_empty(from))
        return 0;
    if (by_layer_stats_empty(to)) {
        to->moments.rows = from->moments.rows;
        to->moments.samples = from->moments.samples;
        to->moments.nonfinite_rows = from->moments.nonfinite_rows;
    } else if (check_disjoint(to, from, err)) {
        return -1;
    }
    return add_layer(stats, to, from, err);
}

int by_stats_join(struct by_stats *stats, const struct by_stats *other, struct baryon_error *err)
{
    if (check_layout(stats, other, err) || check_same_samples(stats, other, err))
        return -1;
    if ((other->tensor_count && other->tensor_count != stats->tensor_count) ||
        (other->layer_count && other->layer_count != stats->layer_count))
        return check_counts(stats, other, err);
    for (size_t i = 0; i < other->tensor_count; i++) {
        struct by_tensor_stats *tensor = &stats->tensors[i];
        if (other->tensors[i].rank == SIZE_MAX)
            continue;
        if (tensor->rank != SIZE_MAX)
            return fail_join("tensor", tensor->name, err);
        if (by_tensor_stats_merge(stats, tensor, &other->tensors[i], err))
            return -1;
    }
    for (size_t i = 0; i < other->layer_count; i++)
        if (join_layer(stats, &stats->layers[i], &other->layers[i], err))
            return -1;
    return 0;
}
