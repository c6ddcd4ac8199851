/* Tiles of moments that lie in files until somebody wants them. */
#include "stats/store.h"

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

static int copy_fold(struct by_fold *to, const struct by_fold *from, struct baryon_error *err)
{
    if (!from->count)
        return 0;
    if (by_fold_init(to, from->count, err))
        return -1;
    by_fold_merge(to, from);
    return 0;
}

static int copy_moments(const struct by_layer_stats *layer, struct by_moments *moments,
                        struct baryon_error *err)
{
    const struct by_moments *from = &layer->moments;
    if (from->counts) {
        size_t count = (size_t)layer->layer.columns;
        moments->counts = by_alloc(count, sizeof *from->counts, err);
        if (!moments->counts)
            return -1;
        memcpy(moments->counts, from->counts, count * sizeof *from->counts);
    }
    if (copy_fold(&moments->mean, &from->mean, err))
        return -1;
    for (size_t i = 0; i < from->tile_count; i++)
        if (copy_fold(&moments->tiles[i], &from->tiles[i], err) ||
            by_stored_tile_add(layer, i, &moments->tiles[i], err))
            return -1;
    return 0;
}

int by_stats_moments(const struct by_layer_stats *layer, struct by_moments *moments,
                     struct baryon_error *err)
{
    const struct by_moments *from = &layer->moments;
    *moments = (struct by_moments){.rows = from->rows,
                                   .samples = from->samples,
                                   .nonfinite_rows = from->nonfinite_rows,
                                   .mean.cell = BY_FOLD_NONE};
    if (from->tile_count) {
        moments->tiles = by_alloc_zero(from->tile_count, sizeof *moments->tiles, err);
        if (!moments->tiles)
            return -1;
        moments->tile_count = from->tile_count;
    }
    if (copy_moments(layer, moments, err)) {
        by_moments_release(moments);
        return -1;
    }
    return 0;
}
