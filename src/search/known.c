/* Keeps the figures of finished points, so that an interrupted search goes on. */
#include "search/auto_internal.h"

#include "base/file.h"
#include "base/format.h"
#include "calibrate/begin.h"
#include "stats/stats.h"

#include <string.h>

struct by_hash128 by_auto_config_hash(const char *yaml)
{
    return by_hash128(yaml, strlen(yaml));
}

/* Whatever changes a figure. */
static int find_key(struct by_auto_work *work, struct baryon_model *model, struct by_hash128 *key,
                    struct baryon_error *err)
{
    struct by_hasher *hasher;
    struct by_hash128 content;
    const struct by_auto_settings *settings = work->options->settings;
    if (by_model_content_hash(model, &content, err) < 0 || by_hasher_open(&hasher, err) < 0)
        return -1;
    const struct by_hash128 samples = by_auto_samples_identity(work->samples);
    by_hasher_add(hasher, &content, sizeof content);
    by_hasher_add(hasher, &samples, sizeof samples);
    by_hasher_text(hasher, baryon_version());
    by_hasher_text(hasher, by_str_text(&work->head));
    by_hasher_text(hasher, settings->goal_command ? settings->goal_command : "");
    for (size_t i = 0; i < work->out->goals.count; i++)
        by_hasher_text(hasher, work->out->goals.at[i].text);
    by_hasher_number(hasher, work->out->parts.of[BY_PART_CHOOSE].count);
    by_hasher_number(hasher, work->out->parts.of[BY_PART_LAST].count);
    for (size_t i = 0; i < work->ladder.decisions.mac_count; i++) {
        const struct by_mac_cost *row = &work->ladder.decisions.macs[i];
        by_hasher_text(hasher, row->activation);
        by_hasher_text(hasher, row->weight);
        by_hasher_add(hasher, &row->cost, sizeof row->cost);
    }
    by_hasher_add(hasher, &work->ladder.decisions.byte_cost,
                  sizeof work->ladder.decisions.byte_cost);
    by_hasher_number(hasher, sizeof(struct by_auto_known));
    *key = by_hasher_value(hasher);
    by_hasher_close(hasher);
    return 0;
}

static int read_known(struct by_auto_work *work, struct baryon_error *err)
{
    for (;;) {
        const uint8_t *bytes;
        size_t size;
        if (by_journal_next(work->journal, &bytes, &size, err) < 0)
            return -1;
        if (!bytes)
            return 0;
        if (size != sizeof *work->known.at)
            continue;
        if (by_list_reserve(&work->known_arena, &work->known, 1, sizeof *work->known.at, err) < 0)
            return -1;
        struct by_auto_known *known = &work->known.at[work->known.count++];
        memcpy(known, bytes, size);
        known->why[sizeof known->why - 1] = '\0';
    }
}

static int busy(const char *path, struct baryon_error *err)
{
    by_fail(err, BARYON_ERR_USAGE, "another search writes the same file");
    return by_err_file(err, path);
}

int by_auto_known_open(struct by_auto_work *work, struct baryon_model *model,
                       struct baryon_error *err)
{
    struct by_hash128 key;
    enum by_journal_found found;
    const struct by_auto_options *options = work->options;
    by_arena_init(&work->known_arena, 0);
    if (!options->out)
        return 0;
    const char *path = by_calibrate_checkpoint(&work->out->arena, options->out, err);
    if (!path || find_key(work, model, &key, err) < 0)
        return -1;
    if (options->settings->restart && by_remove_file(path, err) < 0)
        return -1;
    if (by_journal_open(&work->journal, path, key, &found, err) < 0)
        return -1;
    if (found == BY_JOURNAL_BUSY)
        return busy(path, err);
    if (read_known(work, err) < 0)
        return -1;
    if (work->known.count)
        by_log(options->log, BY_LOG_NOTICE, "%zu steps of an earlier run are taken up from %s",
               work->known.count, path);
    return 0;
}

const struct by_auto_known *by_auto_known_find(const struct by_auto_work *work,
                                               struct by_hash128 config)
{
    for (size_t i = 0; i < work->known.count; i++)
        if (by_hash128_equal(work->known.at[i].config, config))
            return &work->known.at[i];
    return NULL;
}

int by_auto_known_add(struct by_auto_work *work, const struct by_auto_known *known,
                      struct baryon_error *err)
{
    return work->journal ? by_journal_add(work->journal, known, sizeof *known, err) : 0;
}

void by_auto_clean(const struct by_auto_options *options)
{
    static const char *const suffixes[] = {".part", BY_AUTO_SOLVED};
    char path[4096];
    for (size_t i = 0; options->out && i < sizeof suffixes / sizeof *suffixes; i++)
        if (by_format(path, sizeof path, "%s%s", options->out, suffixes[i]) < (int)sizeof path)
            (void)by_remove_file(path, NULL);
}
