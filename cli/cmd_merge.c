/* baryon merge: statistics of parts of the same samples become one file. */
#include "base/file.h"
#include "cli/cmd.h"
#include "cli/coverage.h"
#include "cli/places.h"

#include <stdio.h>
#include <string.h>

struct settings {
    const char *out;
    bool force;
};

/* What a file that is merged already covers, to name it when another one covers it too. */
struct part {
    const char *path;
    struct by_sample_range *covered;
    size_t count;
};

struct job {
    struct by_cli *cli;
    const struct settings *settings;
    struct by_stats *stats;
    struct part *parts;
    size_t count;
};

static int check_out(const struct settings *settings, struct baryon_error *err)
{
    if (!settings->out || !*settings->out)
        return by_fail(err, BARYON_ERR_USAGE,
                       "--out FILE is required: the file for the statistics");
    if (!strcmp(settings->out, "-"))
        return by_fail(err, BARYON_ERR_USAGE,
                       "--out is '-', statistics can only be written to a file");
    return settings->force ? 0 : by_place_check_free("--out", settings->out, err);
}

static int note_part(struct job *job, const char *path, const struct by_stats *stats,
                     struct baryon_error *err)
{
    struct part *part = &job->parts[job->count];
    size_t count = stats->covered.count;
    part->path = path;
    part->covered = by_arena_alloc(&job->cli->config.arena, count, sizeof *part->covered, err);
    if (!part->covered)
        return -1;
    for (size_t i = 0; i < count; i++)
        part->covered[i] = stats->covered.at[i];
    part->count = count;
    job->count++;
    return 0;
}

static bool overlaps(const struct part *part, const struct by_stats *stats)
{
    for (size_t i = 0; i < part->count; i++)
        for (size_t k = 0; k < stats->covered.count; k++)
            if (part->covered[i].begin < stats->covered.at[k].end &&
                stats->covered.at[k].begin < part->covered[i].end)
                return true;
    return false;
}

/* The file that the new one does not go with: one with the same samples, or the first. */
static const char *opponent(const struct job *job, const struct by_stats *stats)
{
    for (size_t i = 0; i < job->count; i++)
        if (overlaps(&job->parts[i], stats))
            return job->parts[i].path;
    return job->parts[0].path;
}

static int explain(const struct job *job, const struct by_stats *other, const char *path,
                   struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX], hint[sizeof err->hint];
    snprintf(hint, sizeof hint, "%s", err->hint);
    if (err->code == BARYON_ERR_CHANGED)
        by_err_hint(err, "%s has the latter; merge only parts of one calibration",
                    by_quote(quoted, job->parts[0].path));
    else if (err->code == BARYON_ERR_INPUT)
        by_err_hint(err, "the other file is %s; %s", by_quote(quoted, opponent(job, other)), hint);
    return by_err_file(err, path);
}

/* The first one is what the others are merged into. */
static int merge_file(struct job *job, const char *path, struct baryon_error *err)
{
    struct by_stats *other;
    if (by_stats_load(&other, path, err) < 0)
        return -1;
    int status = 0;
    if (job->stats && by_stats_merge(job->stats, other, err) < 0)
        status = explain(job, other, path, err);
    if (status == 0)
        status = note_part(job, path, other, err);
    if (status == 0 && !job->stats)
        job->stats = other;
    else
        by_stats_close(other);
    return status;
}

static int merge_all(struct job *job, struct baryon_error *err)
{
    const struct by_cli *cli = job->cli;
    job->parts =
        by_arena_alloc(&job->cli->config.arena, cli->operand_count, sizeof *job->parts, err);
    if (!job->parts)
        return -1;
    for (size_t i = 0; i < cli->operand_count; i++)
        if (merge_file(job, cli->operands[i], err) < 0)
            return -1;
    unsigned flags = job->settings->force ? 0 : BY_WRITER_EXCLUSIVE;
    return by_stats_save(job->stats, job->settings->out, flags, err);
}

static void tell_json(const struct job *job, uint64_t bytes)
{
    struct by_json json;
    by_json_init(&json, &job->cli->out.text, false);
    by_json_open(&json, NULL, '{');
    by_json_text(&json, "file", job->settings->out);
    by_json_int(&json, "bytes", (int64_t)bytes);
    by_json_int(&json, "merged", (int64_t)job->count);
    by_coverage_json(&json, job->stats);
    by_json_close(&json, '}');
    by_str_puts(&job->cli->out.text, "\n");
}

static void report_merge(const struct job *job)
{
    struct by_out *out = &job->cli->out;
    char size[32];
    uint64_t bytes = by_file_size(job->settings->out);
    if (job->cli->common.json) {
        tell_json(job, bytes);
        return;
    }
    if (job->cli->common.quiet)
        return;
    by_clean(&out->text, job->settings->out);
    by_str_printf(&out->text, ": %s, merged from ", by_bytes_text(bytes, size, sizeof size));
    by_plural(&out->text, job->count, "file");
    by_str_puts(&out->text, "\n");
    by_coverage_text(out, job->stats);
}

static int run_merge(struct by_cli *cli, const void *data, struct baryon_error *err)
{
    struct job job = {.cli = cli, .settings = data};
    if (check_out(job.settings, err) < 0)
        return -1;
    int status = merge_all(&job, err);
    if (status == 0)
        report_merge(&job);
    by_stats_close(job.stats);
    return status;
}

static const struct by_option rows[] = {
    {.name = "out",
     .letter = 'o',
     .type = BY_OPT_TEXT,
     .not_in_files = BY_NAMES_OUTPUT,
     .arg = "FILE",
     .offset = offsetof(struct settings, out),
     .help = "Write the statistics to FILE, usually NAME.stats (required)"},
    {.name = "force",
     .letter = 'f',
     .type = BY_OPT_FLAG,
     .not_in_files = BY_NAMES_OUTPUT,
     .offset = offsetof(struct settings, force),
     .help = "Replace FILE if it exists; it can be one of the merged files"},
};

static const struct by_option_group group = BY_OPTION_GROUP("Output", rows);

static const struct by_example examples[] = {
    {"baryon merge part*.stats -o model.stats", "Merge all shards"},
    {"baryon merge model.stats part9.stats -f -o model.stats", "Add a shard to merged statistics"},
    {0},
};

const struct by_command by_cmd_merge = {
    .name = "merge",
    .operands = "STATS...",
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .summary = "Merge the statistics of shards",
    .text = "Merge files that 'baryon calibrate --shard' wrote for one model, the same samples and "
            "the same settings. Order and grouping do not matter: the result is identical to one "
            "calibration of all these samples. Files of another model, other samples or other "
            "settings are errors, and so are files that contain the same sample. Missing samples "
            "are reported.\n\n"
            "Gram matrices, the largest part of such files, are read and written in tiles. Memory "
            "use is therefore twice the histograms of one file and some megabytes, whatever the "
            "size of the files. All files are open at the same time. Merge more than a thousand "
            "files with Gram matrices in groups of some hundreds.",
    .examples = examples,
    .settings_size = sizeof(struct settings),
    .groups = {{&group, 0}},
    .run = run_merge,
};
