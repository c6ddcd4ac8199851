/* Writes checkpoints of a calibration and loads those of an interrupted one. */
#include "calibrate/keep.h"

#include "base/file.h"
#include "base/format.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#define PATH_MAX_BYTES 4096
#define SHARE          0.1 /* of the time that checkpoints may take, unless each is wanted */

double by_keep_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* OUT.part, OUT.part2, OUT.part3, ... */
static int path_of(const char *path, size_t pass, char *buf, struct baryon_error *err)
{
    int length = pass == 0 ? by_format(buf, PATH_MAX_BYTES, "%s", path)
                           : by_format(buf, PATH_MAX_BYTES, "%s%zu", path, pass + 1);
    if (length >= PATH_MAX_BYTES)
        return by_fail(err, BARYON_ERR_USAGE, "a path of %d bytes is too long", length);
    return 0;
}

static int refuse_checkpoint(const char *file, struct baryon_error *err)
{
    by_err_hint(err, "start over with --restart, or remove the file");
    return by_err_file(err, file);
}

/* Its samples have to be some of ours: another part of the same data has the same key. */
static int check_range(const struct by_keep *keep, const struct by_stats *stats,
                       struct baryon_error *err)
{
    for (size_t i = 0; i < stats->covered.count; i++) {
        const struct by_sample_range *at = &stats->covered.at[i];
        if (at->begin < keep->range.begin || at->end > keep->range.end)
            return by_fail(err, BARYON_ERR_CHANGED,
                           "the checkpoint has samples %" PRIu64 " to %" PRIu64
                           ", the calibration has samples %" PRIu64 " to %" PRIu64,
                           at->begin, at->end - 1, keep->range.begin, keep->range.end - 1);
    }
    return 0;
}

static int check_checkpoint(const struct by_keep *keep, const struct by_stats *stats,
                            struct baryon_error *err)
{
    if (by_stats_check_key(&stats->key, keep->key, err) < 0)
        return by_err_in(err, "the checkpoint is of another calibration");
    return check_range(keep, stats, err);
}

int by_keep_take_up(struct by_keep *keep, size_t pass, struct by_stats **stats,
                    struct baryon_error *err)
{
    char file[PATH_MAX_BYTES], text[1024];
    struct baryon_error problem = {.offset = -1};
    *stats = NULL;
    if (!keep->path)
        return 0;
    if (path_of(keep->path, pass, file, err) < 0)
        return -1;
    if (!by_file_exists(file))
        return 0;
    if (by_stats_load(stats, file, &problem) < 0) {
        if (problem.code != BARYON_ERR_INPUT && problem.code != BARYON_ERR_UNSUPPORTED) {
            *err = problem;
            return -1;
        }
        baryon_error_format(&problem, text, sizeof text);
        by_log(keep->log, BY_LOG_WARNING,
               "the checkpoint is not usable, calibration starts over: %s", text);
        return 0;
    }
    if (check_checkpoint(keep, *stats, err) == 0) {
        keep->kept = true;
        return 0;
    }
    by_stats_close(*stats);
    *stats = NULL;
    return refuse_checkpoint(file, err);
}

bool by_keep_due(const struct by_keep *keep)
{
    return keep->path && by_keep_clock() >= keep->next;
}

int by_keep_write(struct by_keep *keep, size_t pass, const struct by_stats *stats,
                  struct baryon_error *err)
{
    char file[PATH_MAX_BYTES];
    if (!keep->path)
        return 0;
    const double start = by_keep_clock();
    if (path_of(keep->path, pass, file, err) < 0)
        return -1;
    if (by_stats_save(stats, file, 0, err) < 0) {
        by_err_in(err, "writing a checkpoint");
        if (keep->kept)
            by_err_hint(err, "the previous checkpoint is intact: run the same command to resume");
        return -1;
    }
    const double end = by_keep_clock(), rest = (end - start) / SHARE;
    keep->next = end + (rest > keep->interval && keep->interval > 0 ? rest : keep->interval);
    keep->kept = true;
    by_log(keep->log, BY_LOG_DEBUG, "%s: written in %.3f s", file, end - start);
    return 0;
}

/* The last one first, so that no later pass is left without the earlier ones. */
int by_keep_remove(const char *path, size_t pass, struct baryon_error *err)
{
    char file[PATH_MAX_BYTES];
    size_t end = pass;
    for (;; end++) {
        if (path_of(path, end, file, err) < 0)
            return -1;
        if (!by_file_exists(file))
            break;
    }
    while (end-- > pass)
        if (path_of(path, end, file, err) < 0 || by_remove_file(file, err) < 0)
            return -1;
    return 0;
}
