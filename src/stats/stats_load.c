/* Reading a .stats file: the frame and its checksum first, then record after record. */
#include "stats/store.h"

#include <inttypes.h>
#include <string.h>

/*
 * What a file may ask for: rows of sketches that are nearly empty take many times their
 * packed size.
 */
#define MEMORY_LEAST  ((size_t)64 << 20)
#define MEMORY_FACTOR ((size_t)512)
/* So much of a file is resident while its checksum is taken. */
#define HASH_STEP ((size_t)8 << 20)

#define AGAIN "create it again with 'baryon calibrate'"

static uint64_t little(const uint8_t *bytes, unsigned size)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

static int check_start(const struct by_stats_source *source, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    size_t size = source->size;
    if (size < BY_STORE_MAGIC_SIZE ||
        memcmp(source->bytes, BY_STORE_MAGIC, BY_STORE_MAGIC_SIZE) != 0) {
        if (size)
            by_fail(err, BARYON_ERR_INPUT, "not a file of statistics: it begins with %s",
                    by_quote_bytes(quoted, source->bytes,
                                   size < BY_STORE_MAGIC_SIZE ? size : BY_STORE_MAGIC_SIZE));
        else
            by_fail(err, BARYON_ERR_INPUT, "not a file of statistics: it is empty");
        by_err_hint(err, "create statistics with 'baryon calibrate'");
        return by_err_offset(err, 0);
    }
    if (size < BY_STORE_HEAD_SIZE + BY_STORE_END_SIZE) {
        by_fail(err, BARYON_ERR_INPUT,
                "the file is truncated: it has %zu bytes, must be at least %u", size,
                BY_STORE_HEAD_SIZE + BY_STORE_END_SIZE);
        by_err_hint(err, AGAIN);
        return by_err_offset(err, size);
    }
    uint64_t version = little(source->bytes + BY_STORE_MAGIC_SIZE, 4);
    if (version == BY_STATS_VERSION)
        return 0;
    by_fail(err, version > BY_STATS_VERSION ? BARYON_ERR_UNSUPPORTED : BARYON_ERR_INPUT,
            "version %" PRIu64 " of the format, must be %d", version, BY_STATS_VERSION);
    by_err_hint(err, version > BY_STATS_VERSION
                         ? "read it with a newer version of Baryon, or " AGAIN
                         : AGAIN);
    return by_err_offset(err, BY_STORE_MAGIC_SIZE);
}

static int check_end(const struct by_stats_source *source, struct baryon_error *err)
{
    size_t at = source->size - BY_STORE_END_SIZE;
    const uint8_t *end = source->bytes + at;
    uint64_t size = little(end + 1, 8);
    if (end[0] == BY_STORE_END && size == source->size)
        return 0;
    if (end[0] == BY_STORE_END)
        by_fail(err, BARYON_ERR_INPUT, "the header states %" PRIu64 " bytes, but the file has %zu",
                size, source->size);
    else
        by_fail(err, BARYON_ERR_INPUT,
                "the end mark is missing: the file is truncated, or bytes were added");
    by_err_hint(err, "copy it again, or " AGAIN);
    return by_err_offset(err, at);
}

static int check_sum(const struct by_stats_source *source, struct baryon_error *err)
{
    struct by_hasher *hasher;
    size_t end = source->size - 16;
    if (by_hasher_open(&hasher, err))
        return -1;
    for (size_t at = 0; at < end; at += HASH_STEP) {
        size_t step = end - at < HASH_STEP ? end - at : HASH_STEP;
        by_hasher_add(hasher, source->bytes + at, step);
        if (source->size > HASH_STEP)
            by_stats_source_done(source, at, step);
    }
    struct by_hash128 sum = by_hasher_value(hasher);
    by_hasher_close(hasher);
    struct by_hash128 wanted = {.low = little(source->bytes + end, 8),
                                .high = little(source->bytes + end + 8, 8)};
    if (by_hash128_equal(sum, wanted))
        return 0;
    by_fail(err, BARYON_ERR_INPUT, "the checksum does not match, the file is damaged");
    by_err_hint(err, "copy it again, or " AGAIN);
    return by_err_offset(err, end);
}

/* --- Records --- */

struct records {
    struct by_store_in in;
    size_t next, end; /* of the file */
};

/* Enters the next record, which has to be of that kind. */
static int enter(struct records *records, enum by_store_kind kind)
{
    struct by_store_in *in = &records->in;
    in->at = records->next;
    in->end = records->end;
    unsigned found = by_store_take_byte(in, BY_STORE_END);
    if (found != (unsigned)kind) {
        in->at = records->next;
        by_store_fail(in, "expected a record of kind %d, not %u", kind, found);
    }
    size_t size = by_store_take_count(in, 1, "the length of a record");
    in->end = records->next = in->at + size;
    return in->failed ? -1 : 0;
}

static int leave_record(struct records *records)
{
    struct by_store_in *in = &records->in;
    if (by_store_left(in))
        by_store_fail(in, "%zu bytes too many in the record", by_store_left(in));
    return in->failed ? -1 : 0;
}

static void take_covered(struct by_store_in *in, struct by_stats *stats)
{
    size_t count = by_store_take_count(in, 2, "the number of ranges");
    uint64_t last = 0;
    for (size_t i = 0; i < count && !in->failed; i++) {
        uint64_t gap = by_store_take_varint(in, stats->total - last, "where a range begins");
        uint64_t begin = last + gap;
        uint64_t size = by_store_take_varint(in, stats->total - begin, "the size of a range");
        if (!size || (i && !gap))
            by_store_fail(in, "ranges of samples must be apart and not empty");
        else if (by_stats_cover(stats, begin, begin + size, in->err))
            in->failed = true;
        last = begin + size;
    }
}

static void take_skipped(struct by_store_in *in, struct by_stats *stats)
{
    size_t count = by_store_take_count(in, 3, "the number of skipped samples");
    for (size_t i = 0; i < count && !in->failed; i++) {
        uint64_t sample = by_store_take_varint(in, UINT64_MAX, "a skipped sample");
        const char *name = by_store_take_text(in), *reason = by_store_take_text(in);
        if (i && sample <= stats->skipped.at[i - 1].sample)
            by_store_fail(in, "skipped samples are not in order");
        else if (!in->failed && !by_stats_covers(stats, sample))
            by_store_fail(in, "skipped sample %" PRIu64 " is not among those covered", sample);
        else if (!in->failed && by_stats_skip(stats, sample, name, reason, in->err))
            in->failed = true;
    }
}

/* Fewest bytes that the record of a tensor and of a layer takes. */
#define TENSOR_LEAST 40
#define LAYER_LEAST  16

static int take_head(struct records *records, struct by_stats *stats, size_t *tensors,
                     size_t *layers)
{
    struct by_store_in *in = &records->in;
    if (enter(records, BY_STORE_HEAD))
        return -1;
    stats->key.model = by_store_take_hash(in);
    stats->key.data = by_store_take_hash(in);
    stats->key.settings = by_store_take_hash(in);
    stats->content = by_store_take_hash(in);
    stats->model = by_store_take_text(in);
    stats->data = by_store_take_text(in);
    stats->settings = by_store_take_text(in);
    stats->total = by_store_take_varint(in, UINT64_MAX / 2, "the number of samples");
    take_covered(in, stats);
    take_skipped(in, stats);
    size_t left = records->end - records->next;
    *tensors = (size_t)by_store_take_varint(in, left / TENSOR_LEAST, "the number of tensors");
    *layers = (size_t)by_store_take_varint(in, left / LAYER_LEAST, "the number of layers");
    return leave_record(records);
}

static int take_tensors(struct records *records, struct by_stats *stats, size_t count)
{
    struct by_store_in *in = &records->in;
    stats->tensors = by_arena_alloc(&stats->arena, count, sizeof *stats->tensors, in->err);
    if (!stats->tensors)
        return -1;
    for (size_t i = 0; i < count; i++) {
        stats->tensor_count++;
        if (enter(records, BY_STORE_TENSOR) == 0)
            by_store_take_tensor(in, &stats->tensors[i]);
        if (leave_record(records))
            return by_err_in(in->err, "tensor[%zu]", i);
    }
    return 0;
}

/* Only notes where the sums lie. */
static int take_tile(struct records *records, struct by_stats *stats, struct by_layer_stats *layer,
                     size_t *least)
{
    struct by_store_in *in = &records->in;
    if (enter(records, BY_STORE_TILE))
        return -1;
    size_t start = in->at;
    size_t index = (size_t)by_store_take_varint(in, layer->moments.tile_count - 1, "a tile");
    if (index < *least) {
        in->at = start;
        by_store_fail(in, "tile %zu comes after tile %zu", index, *least - 1);
    }
    const struct by_stored_tile stored = {
        .source = stats->sources.at[0], .at = in->at, .size = by_store_left(in)};
    *least = index + 1;
    in->at = in->end;
    return in->failed ? -1 : by_layer_stats_store(stats, layer, index, &stored, in->err);
}

static int take_layer(struct records *records, struct by_stats *stats, struct by_layer_stats *layer)
{
    size_t tiles = 0, least = 0;
    if (enter(records, BY_STORE_LAYER))
        return -1;
    by_store_take_layer_stats(&records->in, layer, &tiles);
    if (leave_record(records) || (tiles && by_layer_stats_storable(stats, layer, records->in.err)))
        return -1;
    for (size_t i = 0; i < tiles; i++)
        if (take_tile(records, stats, layer, &least))
            return by_err_in(records->in.err, "tile[%zu]", i);
    return 0;
}

static int take_layers(struct records *records, struct by_stats *stats, size_t count)
{
    struct baryon_error *err = records->in.err;
    stats->layers = by_arena_alloc(&stats->arena, count, sizeof *stats->layers, err);
    if (!stats->layers)
        return -1;
    for (size_t i = 0; i < count; i++) {
        stats->layers[i].moments.mean.cell = BY_FOLD_NONE;
        stats->layer_count++;
        if (take_layer(records, stats, &stats->layers[i]))
            return by_err_in(err, "layer[%zu]", i);
    }
    return 0;
}

/* Two tensors of one name would make by_stats_find() ambiguous. */
static int check_names(struct by_store_in *in, const struct by_stats *stats)
{
    struct by_map seen;
    char quoted[BY_QUOTE_MAX];
    by_map_init(&seen);
    for (size_t i = 0; i < stats->tensor_count && !in->failed; i++) {
        const char *name = stats->tensors[i].name;
        if (by_map_get(&seen, name))
            by_store_fail(in, "tensor %s appears twice", by_quote(quoted, name));
        else if (by_map_put(&seen, name, in, in->err))
            in->failed = true;
    }
    by_map_release(&seen);
    return in->failed ? -1 : 0;
}

static int take_all(struct by_stats *stats, const struct by_stats_source *source,
                    struct baryon_error *err)
{
    size_t limit, tensors = 0, layers = 0;
    if (by_mul_overflow(source->size, MEMORY_FACTOR, &limit) ||
        by_add_overflow(limit, MEMORY_LEAST, &limit))
        limit = SIZE_MAX;
    stats->arena.limit = limit;
    struct records records = {
        .in = {.file = source->bytes, .arena = &stats->arena, .budget = limit, .err = err},
        .next = BY_STORE_HEAD_SIZE,
        .end = source->size - BY_STORE_END_SIZE};
    if (take_head(&records, stats, &tensors, &layers))
        return by_err_in(err, "head");
    if (take_tensors(&records, stats, tensors) || take_layers(&records, stats, layers))
        return -1;
    records.in.at = records.next;
    records.in.end = records.end;
    if (leave_record(&records) || check_names(&records.in, stats))
        return -1;
    stats->arena.limit = 0; /* what is merged into it comes from other files */
    return 0;
}

static int load_stats_source(struct by_stats **stats, struct by_stats_source *source,
                             struct baryon_error *err)
{
    struct by_stats *fresh;
    if (check_start(source, err) || check_end(source, err) || check_sum(source, err) ||
        by_stats_open(&fresh, err))
        return -1;
    if (by_stats_use(fresh, source, err) || take_all(fresh, source, err) ||
        (source->mapped.fd >= 0 && by_mapped_check(&source->mapped, err))) {
        by_stats_close(fresh);
        return -1;
    }
    *stats = fresh;
    return 0;
}

static struct by_stats_source *new_source(const char *name, struct baryon_error *err)
{
    struct by_stats_source *source = by_alloc_zero(1, sizeof *source, err);
    if (!source)
        return NULL;
    source->mapped.fd = -1;
    source->uses = 1;
    source->name = by_strdup(name, err);
    if (source->name)
        return source;
    by_free(source);
    return NULL;
}

int by_stats_load(struct by_stats **stats, const char *path, struct baryon_error *err)
{
    struct by_stats_source *source = new_source(path, err);
    if (!source)
        return -1;
    int status = by_mapped_open(&source->mapped, path, err);
    if (status == 0) {
        source->bytes = source->mapped.bytes;
        source->size = source->mapped.size;
        status = load_stats_source(stats, source, err);
    }
    if (status)
        by_err_file(err, path);
    by_stats_source_drop(source);
    return status;
}

int by_stats_load_bytes(struct by_stats **stats, const void *bytes, size_t size, const char *name,
                        struct baryon_error *err)
{
    struct by_stats_source *source = new_source(name, err);
    if (!source)
        return -1;
    source->bytes = bytes;
    source->size = size;
    int status = load_stats_source(stats, source, err);
    if (status)
        by_err_file(err, name);
    by_stats_source_drop(source);
    return status;
}
