/* Stores bytes in memory up to a limit and the rest in a temporary file. */
#include "base/depot.h"

#include "base/spill.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE       4096 /* places in the file are whole ones */
#define COLD_SHARE 4    /* of the budget */

/* A place in the file that is free. */
struct gap {
    uint64_t at, size;
};

struct gaps {
    struct gap *at; /* in their order, none beside another */
    size_t count, cap;
};

struct by_depot {
    pthread_mutex_t lock;
    char *folder;
    uint64_t budget;
    uint64_t in_memory, in_file;
    int fd;       /* -1: none yet */
    uint64_t end; /* of the file */
    struct gaps gaps;
};

int by_depot_open(struct by_depot **out, const struct by_depot_options *options,
                  struct baryon_error *err)
{
    const char *folder = options->folder ? options->folder : by_spill_folder();
    *out = NULL;
    struct by_depot *depot = by_alloc_zero(1, sizeof *depot, err);
    if (!depot)
        return -1;
    depot->folder = by_strdup(folder, err);
    if (!depot->folder) {
        by_free(depot);
        return -1;
    }
    pthread_mutex_init(&depot->lock, NULL);
    depot->budget = options->budget;
    depot->fd = -1;
    *out = depot;
    return 0;
}

void by_depot_close(struct by_depot *depot)
{
    if (!depot)
        return;
    if (depot->fd >= 0)
        close(depot->fd);
    pthread_mutex_destroy(&depot->lock);
    by_free(depot->gaps.at);
    by_free(depot->folder);
    by_free(depot);
}

/* --- In memory --- */

static bool take_memory(struct by_depot *depot, size_t size, uint64_t budget)
{
    pthread_mutex_lock(&depot->lock);
    const bool fits = depot->in_memory <= budget && size <= budget - depot->in_memory;
    depot->in_memory += fits ? size : 0;
    pthread_mutex_unlock(&depot->lock);
    return fits;
}

static void give_memory(struct by_depot *depot, size_t size)
{
    pthread_mutex_lock(&depot->lock);
    depot->in_memory -= size;
    pthread_mutex_unlock(&depot->lock);
}

/* What is taken is counted already. */
static int keep_in_memory(struct by_depot *depot, size_t size, struct by_deposit *deposit,
                          struct baryon_error *err)
{
    *deposit = (struct by_deposit){.bytes = by_alloc(size, 1, err), .size = size};
    if (deposit->bytes)
        return 0;
    give_memory(depot, size);
    return -1;
}

int by_depot_keep(struct by_depot *depot, size_t size, struct by_deposit *deposit,
                  struct baryon_error *err)
{
    pthread_mutex_lock(&depot->lock);
    depot->in_memory += size;
    pthread_mutex_unlock(&depot->lock);
    return keep_in_memory(depot, size, deposit, err);
}

/* --- In the file --- */

static int fail_file(const struct by_depot *depot, const char *what, size_t size,
                     struct baryon_error *err)
{
    by_fail_errno(err, BARYON_ERR_IO, "spilled data cannot be %s a temporary file (%zu bytes)",
                  what, size);
    by_err_hint(err, "the file has no name; it uses space in this folder while the program runs");
    return by_err_file(err, depot->folder);
}

static uint64_t whole_pages(size_t size)
{
    return ((uint64_t)size + PAGE - 1) / PAGE * PAGE;
}

/* The first gap that does, else the end: places that were written lately are in the system's cache,
 * and most are free again before the disk has seen them. */
static uint64_t take_place(struct by_depot *depot, uint64_t size)
{
    struct gaps *gaps = &depot->gaps;
    for (size_t i = 0; i < gaps->count; i++) {
        struct gap *gap = &gaps->at[i];
        if (gap->size < size)
            continue;
        const uint64_t at = gap->at;
        gap->at += size;
        gap->size -= size;
        if (!gap->size)
            memmove(gap, gap + 1, (--gaps->count - i) * sizeof *gap);
        return at;
    }
    depot->end += size;
    return depot->end - size;
}

static bool make_gap(struct gaps *gaps, size_t place)
{
    if (gaps->count == gaps->cap) {
        struct gap *more = by_realloc(gaps->at, gaps->cap * 2 + 64, sizeof *more, NULL);
        if (!more)
            return false;
        gaps->at = more;
        gaps->cap = gaps->cap * 2 + 64;
    }
    memmove(gaps->at + place + 1, gaps->at + place, (gaps->count++ - place) * sizeof *gaps->at);
    return true;
}

/* Without memory to note it, a place is not used again. */
static void give_place(struct gaps *gaps, uint64_t at, uint64_t size)
{
    size_t low = 0, high = gaps->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (gaps->at[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    struct gap *before = low ? &gaps->at[low - 1] : NULL;
    struct gap *behind = low < gaps->count ? &gaps->at[low] : NULL;
    const bool joins = before && before->at + before->size == at;
    const bool joined = behind && at + size == behind->at;
    if (joins) {
        before->size += size + (joined ? behind->size : 0);
        if (joined)
            memmove(behind, behind + 1, (--gaps->count - low) * sizeof *behind);
    } else if (joined) {
        behind->at = at;
        behind->size += size;
    } else if (make_gap(gaps, low)) {
        gaps->at[low] = (struct gap){at, size};
    }
}

static int find_place(struct by_depot *depot, size_t size, uint64_t *at, struct baryon_error *err)
{
    pthread_mutex_lock(&depot->lock);
    const int status = depot->fd < 0 ? by_nameless_open(&depot->fd, depot->folder, err) : 0;
    if (status == 0) {
        *at = take_place(depot, whole_pages(size));
        depot->in_file += size;
    }
    pthread_mutex_unlock(&depot->lock);
    return status;
}

static void leave_place(struct by_depot *depot, const struct by_deposit *deposit)
{
    pthread_mutex_lock(&depot->lock);
    give_place(&depot->gaps, deposit->at, whole_pages(deposit->size));
    depot->in_file -= deposit->size;
    pthread_mutex_unlock(&depot->lock);
}

static int put_in_file(struct by_depot *depot, const void *bytes, size_t size,
                       struct by_deposit *deposit, struct baryon_error *err)
{
    struct by_deposit fresh = {.size = size};
    if (find_place(depot, size, &fresh.at, err) < 0)
        return -1;
    if (by_write_at(depot->fd, bytes, size, fresh.at) < 0) {
        fail_file(depot, "written to", size, err);
        leave_place(depot, &fresh);
        return -1;
    }
    *deposit = fresh;
    return 0;
}

/* --- Either --- */

int by_depot_put(struct by_depot *depot, const void *bytes, size_t size, bool cold,
                 struct by_deposit *deposit, struct baryon_error *err)
{
    if (size && !take_memory(depot, size, cold ? depot->budget / COLD_SHARE : depot->budget))
        return put_in_file(depot, bytes, size, deposit, err);
    if (keep_in_memory(depot, size, deposit, err) < 0)
        return -1;
    if (size)
        memcpy(deposit->bytes, bytes, size);
    return 0;
}

int by_depot_get(struct by_depot *depot, const struct by_deposit *deposit, void *to,
                 struct baryon_error *err)
{
    if (!deposit->bytes && by_read_at(depot->fd, to, deposit->size, deposit->at) < 0)
        return fail_file(depot, "read from", deposit->size, err);
    if (deposit->bytes && deposit->size)
        memcpy(to, deposit->bytes, deposit->size);
    return 0;
}

void by_depot_drop(struct by_depot *depot, struct by_deposit *deposit)
{
    if (deposit->bytes) {
        give_memory(depot, deposit->size);
        by_free(deposit->bytes);
    } else if (deposit->size) {
        leave_place(depot, deposit);
    }
    *deposit = (struct by_deposit){0};
}

uint64_t by_depot_file_size(struct by_depot *depot)
{
    pthread_mutex_lock(&depot->lock);
    const uint64_t size = depot->end;
    pthread_mutex_unlock(&depot->lock);
    return size;
}

uint64_t by_depot_in_memory(struct by_depot *depot)
{
    pthread_mutex_lock(&depot->lock);
    const uint64_t bytes = depot->in_memory;
    pthread_mutex_unlock(&depot->lock);
    return bytes;
}

uint64_t by_depot_in_file(struct by_depot *depot)
{
    pthread_mutex_lock(&depot->lock);
    const uint64_t bytes = depot->in_file;
    pthread_mutex_unlock(&depot->lock);
    return bytes;
}
