/* Keeps statistics as bytes of their file, which copies are read from. */
#include "calibrate/store.h"

#include <pthread.h>

struct stored {
    struct stored *next;
    struct by_store_key key;
    struct by_str stats, part;
    struct by_calibrate_report report;
};

struct by_stats_store {
    pthread_mutex_t lock; /* for the list and the bytes */
    struct stored *first;
    uint64_t bytes, room;
};

int by_stats_store_open(struct by_stats_store **store, uint64_t room, struct baryon_error *err)
{
    *store = by_alloc_zero(1, sizeof **store, err);
    if (!*store)
        return -1;
    (*store)->room = room;
    pthread_mutex_init(&(*store)->lock, NULL);
    return 0;
}

static void release_stored(struct stored *stored)
{
    by_str_release(&stored->stats);
    by_str_release(&stored->part);
    by_free(stored);
}

void by_stats_store_close(struct by_stats_store *store)
{
    if (!store)
        return;
    for (struct stored *at = store->first, *next; at; at = next) {
        next = at->next;
        release_stored(at);
    }
    pthread_mutex_destroy(&store->lock);
    by_free(store);
}

/* Statistics of all samples are the same whatever part was gathered beside them. */
static bool serves(const struct by_store_key *stored, const struct by_store_key *wanted)
{
    return by_hash128_equal(stored->stats.model, wanted->stats.model) &&
           by_hash128_equal(stored->stats.settings, wanted->stats.settings) &&
           stored->first == wanted->first && (!wanted->aside || stored->aside == wanted->aside);
}

/* Nothing is taken out before the store is closed, so what is found stays. */
static struct stored *find_stored(struct by_stats_store *store, const struct by_store_key *key)
{
    pthread_mutex_lock(&store->lock);
    struct stored *at = store->first;
    pthread_mutex_unlock(&store->lock);
    while (at && !serves(&at->key, key))
        at = at->next;
    return at;
}

static int copy_out(const struct by_str *bytes, struct by_stats **stats, struct baryon_error *err)
{
    *stats = NULL;
    return bytes->size ? by_stats_load_bytes(stats, bytes->text, bytes->size,
                                             "statistics of an earlier step", err)
                       : 0;
}

int by_stats_store_take(struct by_stats_store *store, const struct by_store_key *key,
                        struct by_stats **stats, struct by_stats **part,
                        struct by_calibrate_report *report, struct baryon_error *err)
{
    const struct stored *found = find_stored(store, key);
    *stats = NULL;
    if (!found)
        return 0;
    if (copy_out(&found->stats, stats, err) < 0)
        return -1;
    if (part && copy_out(&found->part, part, err) < 0) {
        by_stats_close(*stats);
        *stats = NULL;
        return -1;
    }
    if (report)
        *report = found->report;
    return 0;
}

static int copy_in(struct stored *stored, const struct by_stats *stats, const struct by_stats *part,
                   struct baryon_error *err)
{
    return by_stats_save_bytes(stats, &stored->stats, err) < 0 ||
                   (part && by_stats_save_bytes(part, &stored->part, err) < 0)
               ? -1
               : 0;
}

static bool put_in(struct by_stats_store *store, struct stored *stored)
{
    const uint64_t bytes = (uint64_t)stored->stats.size + stored->part.size;
    pthread_mutex_lock(&store->lock);
    const bool fits = bytes <= store->room - store->bytes;
    if (fits) {
        store->bytes += bytes;
        stored->next = store->first;
        store->first = stored;
    }
    pthread_mutex_unlock(&store->lock);
    return fits;
}

int by_stats_store_keep(struct by_stats_store *store, const struct by_store_key *key,
                        const struct by_stats *stats, const struct by_stats *part,
                        const struct by_calibrate_report *report, struct baryon_error *err)
{
    struct stored *stored = by_alloc_zero(1, sizeof *stored, err);
    if (!stored)
        return -1;
    stored->key = *key;
    stored->report = *report;
    stored->report.seconds = stored->report.model_seconds = 0;
    by_str_init(&stored->stats);
    by_str_init(&stored->part);
    if (copy_in(stored, stats, part, err) < 0) {
        release_stored(stored);
        return -1;
    }
    if (!put_in(store, stored))
        release_stored(stored);
    return 0;
}
