/* Calibrates one shard per MPI rank and merges the shards into one file on rank 0. */
#include "cli/calibrate_ranks.h"

#include "base/file.h"
#include "base/format.h"

#include <inttypes.h>
#include <string.h>

#define CHUNK ((size_t)1 << 20)
#define TAIL  64 /* bytes at the end of a file that tell it from others: its checksum is there */

static int part_of(size_t rank, size_t size, const char *out, char *buf, size_t room,
                   struct baryon_error *err)
{
    if (by_format(buf, room, "%s.rank-%zu-of-%zu", out, rank, size) < (int)room)
        return 0;
    return by_fail(err, BARYON_ERR_USAGE, "the path of --out is too long");
}

int by_calibrate_part(const struct by_ranks *ranks, struct by_arena *arena, const char *out,
                      const char **path, struct baryon_error *err)
{
    const size_t room = strlen(out) + 64;
    char *buf = by_arena_alloc(arena, room, 1, err);
    if (!buf)
        return -1;
    *path = buf;
    if (ranks)
        return part_of(by_ranks_rank(ranks), by_ranks_size(ranks), out, buf, room, err);
    by_format(buf, room, "%s", out);
    return 0;
}

/* --- Before the first sample --- */

static int compare_keys(struct by_ranks *ranks, const struct by_stats_key *key,
                        struct baryon_error *err)
{
    for (size_t i = 1; i < by_ranks_size(ranks); i++) {
        struct by_stats_key other;
        if (by_ranks_receive(ranks, i, &other, sizeof other, err) < 0)
            return -1;
        if (by_stats_check_key(&other, key, err) < 0)
            return by_err_in(err, "rank %zu of %zu", i, by_ranks_size(ranks));
    }
    return 0;
}

int by_calibrate_agree(struct by_ranks *ranks, const struct by_stats_key *key, uint64_t samples,
                       const struct by_log *log, bool *up_to_date, struct baryon_error *err)
{
    const size_t size = by_ranks_size(ranks);
    uint8_t verdict = 0;
    if (by_ranks_rank(ranks)) {
        if (by_ranks_send(ranks, 0, key, sizeof *key, err) < 0 ||
            by_ranks_receive(ranks, 0, &verdict, 1, err) < 0)
            return -1;
        *up_to_date = verdict;
        return 0;
    }
    if (size > samples)
        by_log(log, BY_LOG_WARNING,
               "%zu ranks for %" PRIu64 " samples: %" PRIu64 " ranks stay idle", size, samples,
               size - samples);
    if (compare_keys(ranks, key, err) < 0)
        return -1;
    verdict = *up_to_date;
    for (size_t i = 1; i < size; i++)
        if (by_ranks_send(ranks, i, &verdict, 1, err) < 0)
            return -1;
    return 0;
}

/* --- Putting parts together --- */

/* What tells a part from others; size 0: the rank has none. */
struct part {
    uint64_t size;
    uint8_t tail[TAIL];
};

static void describe(const struct by_mapped *file, struct part *part)
{
    const size_t tail = file->size < TAIL ? file->size : TAIL;
    *part = (struct part){.size = file->size};
    memcpy(part->tail, file->bytes + file->size - tail, tail);
}

static int send_file(struct by_ranks *ranks, const struct by_mapped *file, struct baryon_error *err)
{
    for (size_t done = 0; done < file->size; done += CHUNK) {
        const size_t rest = file->size - done;
        if (by_ranks_send(ranks, 0, file->bytes + done, rest < CHUNK ? rest : CHUNK, err) < 0)
            return -1;
    }
    return 0;
}

/* The first rank asks when it is ready, and for the bytes only where it does not see the file. */
static int offer(struct by_ranks *ranks, const char *path, bool has_part, struct baryon_error *err)
{
    struct by_mapped file;
    struct part part = {0};
    uint8_t wanted;
    if (!has_part)
        return by_ranks_send(ranks, 0, &part, sizeof part, err);
    if (by_mapped_open(&file, path, err) < 0)
        return by_err_file(err, path);
    describe(&file, &part);
    int status = by_ranks_send(ranks, 0, &part, sizeof part, err);
    if (status == 0)
        status = by_ranks_receive(ranks, 0, &wanted, 1, err);
    if (status == 0 && wanted)
        status = send_file(ranks, &file, err);
    by_mapped_close(&file);
    return status;
}

static bool is_here(const char *path, const struct part *part)
{
    struct by_mapped file;
    struct part here;
    if (!by_file_exists(path) || by_mapped_open(&file, path, NULL) < 0)
        return false;
    describe(&file, &here);
    by_mapped_close(&file);
    return memcmp(&here, part, sizeof here) == 0;
}

static int copy_bytes(struct by_ranks *ranks, size_t rank, struct by_writer *writer, uint64_t size,
                      struct baryon_error *err)
{
    uint8_t *bytes = by_alloc(CHUNK, 1, err);
    int status = bytes ? 0 : -1;
    for (uint64_t rest = size; rest && status == 0;) {
        const size_t now = rest < CHUNK ? (size_t)rest : CHUNK;
        status = by_ranks_receive(ranks, rank, bytes, now, err);
        if (status == 0)
            status = by_writer_add(writer, bytes, now, err);
        rest -= now;
    }
    by_free(bytes);
    return status;
}

static int fetch(struct by_ranks *ranks, size_t rank, const char *path, uint64_t size,
                 struct baryon_error *err)
{
    struct by_writer *writer;
    if (by_writer_open(&writer, path, 0, err) < 0)
        return by_err_file(err, path);
    int status = copy_bytes(ranks, rank, writer, size, err);
    if (status == 0)
        status = by_writer_commit(writer, err);
    by_writer_abort(writer);
    return status;
}

/* Makes sure that a rank's part lies here; *there: it has one. */
static int get_part(struct by_ranks *ranks, size_t rank, const char *path, bool *there,
                    struct baryon_error *err)
{
    struct part part;
    if (by_ranks_receive(ranks, rank, &part, sizeof part, err) < 0)
        return -1;
    *there = part.size > 0;
    if (!*there)
        return 0;
    const uint8_t wanted = !is_here(path, &part);
    if (by_ranks_send(ranks, rank, &wanted, 1, err) < 0)
        return -1;
    return wanted ? fetch(ranks, rank, path, part.size, err) : 0;
}

static int add_part(struct by_stats **stats, const char *path, struct baryon_error *err)
{
    struct by_stats *part;
    if (by_stats_load(&part, path, err) < 0)
        return -1;
    if (!*stats) {
        *stats = part;
        return 0;
    }
    const int status = by_stats_merge(*stats, part, err);
    by_stats_close(part);
    return status < 0 ? by_err_file(err, path) : 0;
}

/* In the order of ranks; the result does not depend on it. */
static int merge(struct by_ranks *ranks, const char *out, struct by_stats **stats,
                 struct baryon_error *err)
{
    const size_t size = by_ranks_size(ranks), room = strlen(out) + 64;
    char *path = by_alloc(room, 1, err);
    int status = path ? 0 : -1;
    for (size_t i = 0; i < size && status == 0; i++) {
        bool there = true;
        status = part_of(i, size, out, path, room, err);
        if (status == 0 && i > 0)
            status = get_part(ranks, i, path, &there, err);
        if (status == 0 && there)
            status = add_part(stats, path, err);
    }
    by_free(path);
    if (status < 0)
        return -1;
    return by_stats_save(*stats, out, 0, err);
}

/* Copies that were sent are here too. */
static int remove_parts(const struct by_ranks *ranks, const char *out, struct baryon_error *err)
{
    const size_t size = by_ranks_size(ranks), room = strlen(out) + 64;
    char *path = by_alloc(room, 1, err);
    int status = path ? 0 : -1;
    for (size_t i = 0; i < size && status == 0; i++) {
        status = part_of(i, size, out, path, room, err);
        if (status == 0 && by_file_exists(path))
            status = by_remove_file(path, err);
    }
    by_free(path);
    return status;
}

static int remove_own(const struct by_ranks *ranks, const char *out, struct baryon_error *err)
{
    struct by_arena arena;
    const char *path;
    by_arena_init(&arena, 0);
    int status = by_calibrate_part(ranks, &arena, out, &path, err);
    if (status == 0 && by_file_exists(path))
        status = by_remove_file(path, err);
    by_arena_release(&arena);
    return status;
}

static int follow(struct by_ranks *ranks, const char *out, bool has_part, struct baryon_error *err)
{
    struct by_arena arena;
    const char *path;
    uint8_t written;
    by_arena_init(&arena, 0);
    int status = by_calibrate_part(ranks, &arena, out, &path, err);
    if (status == 0)
        status = offer(ranks, path, has_part, err);
    if (status == 0)
        status = by_ranks_receive(ranks, 0, &written, 1, err);
    by_arena_release(&arena);
    return status < 0 ? -1 : remove_own(ranks, out, err);
}

int by_calibrate_gather(struct by_ranks *ranks, const char *out, bool has_part,
                        struct by_stats **stats, struct baryon_error *err)
{
    const uint8_t written = 1;
    if (by_ranks_rank(ranks))
        return follow(ranks, out, has_part, err);
    if (merge(ranks, out, stats, err) < 0 || remove_parts(ranks, out, err) < 0)
        return -1;
    for (size_t i = 1; i < by_ranks_size(ranks); i++)
        if (by_ranks_send(ranks, i, &written, 1, err) < 0)
            return -1;
    return 0;
}
