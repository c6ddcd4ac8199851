/* Writing a .stats file. */
#include "stats/store.h"

#include <inttypes.h>

struct output {
    struct by_writer *writer; /* NULL: into bytes */
    struct by_str *bytes;
    struct by_hasher *hasher;
    struct by_str record, start;
};

static int put_stats_bytes(const struct output *out, const void *bytes, size_t size,
                           struct baryon_error *err)
{
    if (out->writer)
        return by_writer_add(out->writer, bytes, size, err);
    by_str_add(out->bytes, bytes, size);
    return by_str_error(out->bytes, err);
}

static int add_hashed_bytes(struct output *out, const void *bytes, size_t size,
                            struct baryon_error *err)
{
    by_hasher_add(out->hasher, bytes, size);
    return put_stats_bytes(out, bytes, size, err);
}

/* Kind and length, then the record's first bytes; `more` bytes follow it. */
static int add_record(struct output *out, enum by_store_kind kind, size_t more,
                      struct baryon_error *err)
{
    by_str_clear(&out->start);
    by_store_put_byte(&out->start, kind);
    by_store_put_varint(&out->start, out->record.size + more);
    if (by_str_error(&out->record, err) || by_str_error(&out->start, err) ||
        add_hashed_bytes(out, out->start.text, out->start.size, err) ||
        add_hashed_bytes(out, by_str_text(&out->record), out->record.size, err))
        return -1;
    by_str_clear(&out->record);
    return 0;
}

static int add_start(struct output *out, struct baryon_error *err)
{
    by_str_add(&out->start, BY_STORE_MAGIC, BY_STORE_MAGIC_SIZE);
    by_store_put_u32(&out->start, BY_STATS_VERSION);
    return by_str_error(&out->start, err)
               ? -1
               : add_hashed_bytes(out, out->start.text, out->start.size, err);
}

static int add_head(struct output *out, const struct by_stats *stats, struct baryon_error *err)
{
    struct by_str *record = &out->record;
    uint64_t last = 0;
    by_store_put_hash(record, stats->key.model);
    by_store_put_hash(record, stats->key.data);
    by_store_put_hash(record, stats->key.settings);
    by_store_put_hash(record, stats->content);
    by_store_put_text(record, stats->model);
    by_store_put_text(record, stats->data);
    by_store_put_text(record, stats->settings);
    by_store_put_varint(record, stats->total);
    by_store_put_varint(record, stats->covered.count);
    for (size_t i = 0; i < stats->covered.count; i++) {
        const struct by_sample_range *range = &stats->covered.at[i];
        by_store_put_varint(record, range->begin - last);
        by_store_put_varint(record, range->end - range->begin);
        last = range->end;
    }
    by_store_put_varint(record, stats->skipped.count);
    for (size_t i = 0; i < stats->skipped.count; i++) {
        const struct by_skipped *skipped = &stats->skipped.at[i];
        by_store_put_varint(record, skipped->sample);
        by_store_put_text(record, skipped->name);
        by_store_put_text(record, skipped->reason);
    }
    by_store_put_varint(record, stats->tensor_count);
    by_store_put_varint(record, stats->layer_count);
    return add_record(out, BY_STORE_HEAD, 0, err);
}

/* A tile that lies in one file is packed already. */
static int add_packed(struct output *out, const struct by_stored_tile *stored,
                      struct baryon_error *err)
{
    if (add_record(out, BY_STORE_TILE, stored->size, err) ||
        add_hashed_bytes(out, stored->source->bytes + stored->at, stored->size, err))
        return -1;
    by_stats_source_done(stored->source, stored->at, stored->size);
    return 0;
}

static int add_joined(struct output *out, const struct by_layer_stats *layer, size_t tile,
                      struct baryon_error *err)
{
    const struct by_fold *have = &layer->moments.tiles[tile];
    struct by_fold all = {.cell = BY_FOLD_NONE};
    int status = by_stored_tile_add(layer, tile, &all, err);
    if (status == 0) {
        if (have->count)
            by_fold_merge(&all, have);
        by_store_put_fold(&out->record, &all);
        status = add_record(out, BY_STORE_TILE, 0, err);
    }
    by_fold_release(&all);
    return status;
}

static int add_tile(struct output *out, const struct by_layer_stats *layer, size_t tile,
                    struct baryon_error *err)
{
    const struct by_fold *have = &layer->moments.tiles[tile];
    const struct by_stored_tile *stored = layer->stored ? layer->stored[tile] : NULL;
    by_store_put_varint(&out->record, tile);
    if (stored && !stored->next && !have->count)
        return add_packed(out, stored, err);
    if (stored)
        return add_joined(out, layer, tile, err);
    by_store_put_fold(&out->record, have);
    return add_record(out, BY_STORE_TILE, 0, err);
}

static int add_layer(struct output *out, const struct by_layer_stats *layer,
                     struct baryon_error *err)
{
    by_store_put_layer_stats(&out->record, layer);
    if (add_record(out, BY_STORE_LAYER, 0, err))
        return -1;
    for (size_t i = 0; i < layer->moments.tile_count; i++)
        if (by_layer_stats_has(layer, i) && add_tile(out, layer, i, err))
            return -1;
    return 0;
}

static int add_end(struct output *out, struct baryon_error *err)
{
    struct by_str *record = &out->record;
    by_store_put_byte(record, BY_STORE_END);
    uint64_t size = out->writer ? by_writer_size(out->writer) : out->bytes->size;
    by_store_put_u64(record, size + BY_STORE_END_SIZE);
    if (by_str_error(record, err) || add_hashed_bytes(out, record->text, record->size, err))
        return -1;
    by_str_clear(record);
    by_store_put_hash(record, by_hasher_value(out->hasher));
    return by_str_error(record, err) ? -1 : put_stats_bytes(out, record->text, record->size, err);
}

static int add_records(struct output *out, const struct by_stats *stats, struct baryon_error *err)
{
    if (add_start(out, err) || add_head(out, stats, err))
        return -1;
    for (size_t i = 0; i < stats->tensor_count; i++) {
        by_store_put_tensor(&out->record, &stats->tensors[i]);
        if (add_record(out, BY_STORE_TENSOR, 0, err))
            return -1;
    }
    for (size_t i = 0; i < stats->layer_count; i++)
        if (add_layer(out, &stats->layers[i], err))
            return -1;
    return add_end(out, err);
}

/* What was copied is worth nothing when it changed on the way. */
static int check_sources(const struct by_stats *stats, struct baryon_error *err)
{
    for (size_t i = 0; i < stats->sources.count; i++) {
        const struct by_stats_source *source = stats->sources.at[i];
        if (source->mapped.fd >= 0 && by_mapped_check(&source->mapped, err))
            return by_err_file(err, source->name);
    }
    return 0;
}

static int add_all(struct output *out, const struct by_stats *stats, struct baryon_error *err)
{
    by_str_init(&out->record);
    by_str_init(&out->start);
    if (by_hasher_open(&out->hasher, err))
        return -1;
    int failed = add_records(out, stats, err) || check_sources(stats, err);
    by_hasher_close(out->hasher);
    by_str_release(&out->record);
    by_str_release(&out->start);
    return failed ? -1 : 0;
}

int by_stats_save(const struct by_stats *stats, const char *path, unsigned flags,
                  struct baryon_error *err)
{
    struct output out = {0};
    int failed = by_writer_open(&out.writer, path, flags, err) || add_all(&out, stats, err) ||
                 by_writer_commit(out.writer, err);
    by_writer_abort(out.writer);
    return failed ? -1 : 0;
}

int by_stats_save_bytes(const struct by_stats *stats, struct by_str *bytes,
                        struct baryon_error *err)
{
    struct output out = {.bytes = bytes};
    by_str_clear(bytes);
    return add_all(&out, stats, err);
}
