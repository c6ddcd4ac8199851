/*
 * .stats files whose size and checksum are made right first, so that they hide nothing:
 * what loads has to write the same bytes, and merges with itself only without samples.
 */
#include "stats/store.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void put_little(uint8_t *to, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        to[i] = (uint8_t)(value >> (8 * i));
}

static void seal(uint8_t *bytes, size_t size)
{
    uint8_t *end = bytes + size - BY_STORE_END_SIZE;
    memcpy(bytes, BY_STORE_MAGIC, BY_STORE_MAGIC_SIZE);
    put_little(bytes + BY_STORE_MAGIC_SIZE, BY_STATS_VERSION, 4);
    end[0] = BY_STORE_END;
    put_little(end + 1, size, 8);
    struct by_hash128 hash = by_hash128(bytes, size - 16);
    put_little(end + 9, hash.low, 8);
    put_little(end + 17, hash.high, 8);
}

/* The first group's, of few columns. */
static int read_gram(const struct by_layer_stats *layer, struct baryon_error *err)
{
    static float gram[32 * 32];
    double mean[32];
    if (layer->layer.columns > 32 || !by_layer_stats_complete(layer) ||
        layer->layer.kind == BY_LAYER_GATHER || !layer->moments.rows)
        return 0;
    by_moments_mean(&layer->moments, &layer->layer, 0, mean);
    /* Sums that are none are refused here alone: the file that has them is kept as it is. */
    if (by_stats_gram(layer, 0, mean, NULL, gram, err) && err->code != BARYON_ERR_INPUT)
        abort();
    return 0;
}

static int recall_all(struct by_stats *stats, struct baryon_error *err)
{
    for (size_t i = 0; i < stats->layer_count; i++) {
        struct by_layer_stats *layer = &stats->layers[i];
        if (read_gram(layer, err) || by_stats_recall(layer, 0, layer->moments.tile_count, err))
            return -1;
    }
    return 0;
}

/* Tiles are looked at only now; those that lie in the file were copied as they are. */
static void use(struct by_stats *stats, const uint8_t *bytes, size_t size)
{
    struct baryon_error err;
    struct by_str again;
    by_str_init(&again);
    for (int recalled = 0; recalled < 2; recalled++) {
        if (recalled && recall_all(stats, &err))
            break;
        if (by_stats_save_bytes(stats, &again, &err) || again.size != size ||
            memcmp(again.text, bytes, size) != 0)
            abort();
    }
    by_str_release(&again);
    struct by_stats *other;
    if (by_stats_load_bytes(&other, bytes, size, "input", &err))
        return;
    if (by_stats_merge(stats, other, &err) == 0 && other->covered.count)
        abort();
    by_stats_close(other);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct by_stats *stats;
    struct baryon_error err;
    if (by_stats_load_bytes(&stats, bytes, size, "input", &err) == 0)
        by_stats_close(stats);
    if (size < BY_STORE_HEAD_SIZE + BY_STORE_END_SIZE)
        return 0;
    uint8_t *sealed = malloc(size);
    if (!sealed)
        return 0;
    memcpy(sealed, bytes, size);
    seal(sealed, size);
    if (by_stats_load_bytes(&stats, sealed, size, "input", &err) == 0) {
        use(stats, sealed, size);
        by_stats_close(stats);
    }
    free(sealed);
    return 0;
}
