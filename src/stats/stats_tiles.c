/* Tiles of moments that lie in files until somebody wants them. */
#include "stats/store.h"

#include <math.h>
#include <string.h>

int by_stats_use(struct by_stats *stats, struct by_stats_source *source, struct baryon_error *err)
{
    for (size_t i = 0; i < stats->sources.count; i++)
        if (stats->sources.at[i] == source)
            return 0;
    if (by_list_reserve(&stats->arena, &stats->sources, 1, sizeof(void *), err))
        return -1;
    stats->sources.at[stats->sources.count++] = source;
    source->uses++;
    return 0;
}

void by_stats_source_drop(struct by_stats_source *source)
{
    if (--source->uses)
        return;
    if (source->mapped.fd >= 0)
        by_mapped_close(&source->mapped);
    by_free(source->name);
    by_free(source);
}

void by_stats_source_done(const struct by_stats_source *source, size_t at, size_t size)
{
    if (source->mapped.fd >= 0)
        by_mapped_done(&source->mapped, at, size);
}

size_t by_layer_tile_entries(const struct by_moments_layer *layer, size_t tile)
{
    struct by_moments_tile place;
    by_moments_tile_at(layer, tile, &place);
    return place.entries;
}

bool by_layer_stats_has(const struct by_layer_stats *layer, size_t tile)
{
    return layer->moments.tiles[tile].count || (layer->stored && layer->stored[tile]);
}

bool by_layer_stats_complete(const struct by_layer_stats *layer)
{
    const struct by_moments *moments = &layer->moments;
    for (size_t i = 0; i < moments->tile_count; i++)
        if (!by_layer_stats_has(layer, i))
            return false;
    return layer->layer.kind == BY_LAYER_GATHER ? moments->counts != NULL : moments->mean.count > 0;
}

bool by_layer_stats_empty(const struct by_layer_stats *layer)
{
    const struct by_moments *moments = &layer->moments;
    for (size_t i = 0; i < moments->tile_count; i++)
        if (by_layer_stats_has(layer, i))
            return false;
    return !moments->counts && !moments->mean.count;
}

int by_layer_stats_storable(struct by_stats *stats, struct by_layer_stats *layer,
                            struct baryon_error *err)
{
    if (!layer->stored && layer->moments.tile_count)
        layer->stored =
            by_arena_alloc(&stats->arena, layer->moments.tile_count, sizeof *layer->stored, err);
    return layer->stored || !layer->moments.tile_count ? 0 : -1;
}

int by_layer_stats_store(struct by_stats *stats, struct by_layer_stats *layer, size_t tile,
                         const struct by_stored_tile *from, struct baryon_error *err)
{
    struct by_stored_tile *copy = BY_ARENA_NEW(&stats->arena, struct by_stored_tile, err);
    if (!copy || by_stats_use(stats, from->source, err))
        return -1;
    *copy = *from;
    copy->next = layer->stored[tile];
    layer->stored[tile] = copy;
    return 0;
}

static int decode_tile(const struct by_stored_tile *stored, struct by_fold *fold,
                       struct baryon_error *err)
{
    struct by_store_in in = {.file = stored->source->bytes,
                             .at = stored->at,
                             .end = stored->at + stored->size,
                             .err = err};
    by_store_take_fold(&in, fold);
    if (by_store_left(&in))
        by_store_fail(&in, "%zu extra bytes after the sums", by_store_left(&in));
    by_stats_source_done(stored->source, stored->at, stored->size);
    return in.failed ? by_err_file(err, stored->source->name) : 0;
}

static int add_stored(const struct by_stored_tile *stored, struct by_fold *fold,
                      struct baryon_error *err)
{
    struct by_fold part;
    if (by_fold_init(&part, fold->count, err))
        return -1;
    int status = decode_tile(stored, &part, err);
    if (status == 0)
        by_fold_merge(fold, &part);
    by_fold_release(&part);
    return status;
}

int by_stored_tile_add(const struct by_layer_stats *layer, size_t tile, struct by_fold *fold,
                       struct baryon_error *err)
{
    const struct by_stored_tile *stored = layer->stored ? layer->stored[tile] : NULL;
    char quoted[BY_QUOTE_MAX];
    int status = 0;
    if (!stored)
        return 0;
    bool fresh = !fold->count;
    if (fresh && by_fold_init(fold, by_layer_tile_entries(&layer->layer, tile), err))
        return -1;
    if (fresh) {
        status = decode_tile(stored, fold, err);
        stored = stored->next;
    }
    for (; stored && status == 0; stored = stored->next)
        status = add_stored(stored, fold, err);
    if (status)
        by_err_in(err, "layer %s.tile[%zu]", by_quote(quoted, layer->layer.name), tile);
    return status;
}

int by_stats_recall(struct by_layer_stats *layer, size_t first, size_t end,
                    struct baryon_error *err)
{
    for (size_t i = first; i < end; i++) {
        if (by_stored_tile_add(layer, i, &layer->moments.tiles[i], err))
            return -1;
        if (layer->stored)
            layer->stored[i] = NULL;
    }
    return 0;
}

/* --- Reading --- */

struct reading {
    const struct by_layer_stats *layer;
    size_t first; /* tile of the group */
    const double *mean;
    float *gram;
};

static int read_tile(const struct reading *reading, size_t index, struct baryon_error *err)
{
    const struct by_layer_stats *layer = reading->layer;
    const struct by_fold *have = &layer->moments.tiles[index];
    struct by_fold all = {.cell = BY_FOLD_NONE};
    struct by_moments_tile tile;
    by_moments_tile_at(&layer->layer, index, &tile);
    const int status = by_stored_tile_add(layer, index, &all, err);
    if (status == 0 && have->count && all.count)
        by_fold_merge(&all, have);
    if (status == 0)
        by_moments_put_tile(all.count ? &all : have, &tile, (size_t)layer->layer.columns,
                            1 / (double)layer->moments.rows, reading->mean, reading->gram);
    by_fold_release(&all);
    return status;
}

static int read_tiles(void *context, size_t begin, size_t end, unsigned worker,
                      struct baryon_error *err)
{
    const struct reading *reading = context;
    (void)worker;
    for (size_t i = begin; i < end; i++)
        if (read_tile(reading, reading->first + i, err) < 0)
            return -1;
    return 0;
}

/* What rounding sums of thousands of rows to floats may leave below zero of a column that hardly
 * varies, as a share of its mean's square: MobileNetV2 has 2e-6. */
#define BELOW_ZERO 1e-4

/* No rows have squares below zero, nor sums beyond floats: rows of such magnitudes are left out. */
static int check_gram(const struct reading *reading, struct baryon_error *err)
{
    const size_t columns = (size_t)reading->layer->layer.columns;
    bool good = true;
    char quoted[BY_QUOTE_MAX];
    for (size_t i = 0; i < columns; i++) {
        const double least = reading->mean ? -BELOW_ZERO * reading->mean[i] * reading->mean[i] : 0;
        good &= (double)reading->gram[i * columns + i] >= least;
    }
    for (size_t i = 0; good && i < columns * columns; i++)
        good = isfinite(reading->gram[i]);
    if (good)
        return 0;
    by_fail(err, BARYON_ERR_INPUT, "layer %s: its sums are no Gram matrix, the file is damaged",
            by_quote(quoted, reading->layer->layer.name));
    return by_err_hint(err, "create it again with 'baryon calibrate'");
}

int by_stats_gram(const struct by_layer_stats *layer, size_t group, const double *mean,
                  struct by_pool *pool, float *gram, struct baryon_error *err)
{
    const size_t tiles = layer->moments.tile_count / (size_t)layer->layer.groups;
    struct reading reading = {layer, group * tiles, mean, gram};
    return by_par_for(pool, tiles, 1, read_tiles, &reading, err) < 0 ? -1
                                                                     : check_gram(&reading, err);
}
