/* baryon calibrate: statistics of what flows through a model. */
#include "base/file.h"
#include "calibrate/begin.h"
#include "cli/calibrate_ranks.h"
#include "cli/calibrate_report.h"
#include "cli/running.h"
#include "cli/term.h"
#include "settings/calibrate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct job {
    struct by_cli *cli;
    const struct by_calibrate_settings *settings;
    struct by_calibrate_options options;
    struct by_ranks *ranks; /* NULL: the program runs alone */
    struct by_log log;      /* of a rank that is not the first */
    const char *out;        /* --out, or where this rank's part goes */
    struct by_loaded loaded;
    struct by_calibration *calibration;
    struct by_progress progress;
    char stage[64]; /* that the progress is of */
    struct by_stats *stats;
    struct by_calibrate_report took;
    bool ran;
};

/* --- Before anything is opened --- */

static bool progress(void *context, const struct by_calibrate_progress *now);

static int name_things(struct job *job, struct baryon_error *err)
{
    const struct by_data_settings *data = &job->settings->running.data;
    struct by_arena *arena = &job->cli->config.arena;
    if (by_calibrate_part(job->ranks, arena, job->settings->out, &job->out, err) < 0)
        return -1;
    job->options.model = by_calibrate_label(arena, job->cli->operands[0], err);
    job->options.data = data->data ? by_calibrate_label(arena, data->data, err) : "random";
    job->options.checkpoint = by_calibrate_checkpoint(arena, job->out, err);
    return job->options.model && job->options.data && job->options.checkpoint ? 0 : -1;
}

static void write_as_rank(void *context, enum by_log_level level, const char *text)
{
    const struct job *job = context;
    if (job->calibration)
        by_log(&job->cli->log, level, "rank %zu: %s", by_ranks_rank(job->ranks), text);
}

/* Every rank is a shard. What all would say before the first sample is said by the first. */
static int read_ranks(struct job *job, struct baryon_error *err)
{
    struct by_calibrate_options *options = &job->options;
    const size_t rank = by_ranks_rank(job->ranks);
    if (job->settings->shard)
        return by_fail(err, BARYON_ERR_USAGE,
                       "--shard is not valid with several ranks, each rank is a shard");
    options->shard = rank;
    options->shards = by_ranks_size(job->ranks);
    options->spare_shards = true;
    if (rank > 0) {
        job->log =
            (struct by_log){.write = write_as_rank, .context = job, .level = job->cli->log.level};
        options->log = &job->log;
    }
    return by_config_given(&job->cli->config, "threads")
               ? 0
               : by_ranks_threads(job->ranks, &options->session.threads, err);
}

static int read_options(struct job *job, struct baryon_error *err)
{
    const struct by_calibrate_settings *settings = job->settings;
    struct by_calibrate_options *options = &job->options;
    if (!settings->out)
        return by_fail(err, BARYON_ERR_USAGE,
                       "--out FILE is required: the file for the statistics");
    if (by_calibrate_take(&job->cli->config, settings, NULL, &job->cli->log, options, err) < 0)
        return -1;
    options->progress = progress;
    options->context = job;
    if (job->ranks && read_ranks(job, err) < 0)
        return -1;
    return name_things(job, err);
}

static int check_out(const struct job *job, struct baryon_error *err)
{
    return by_calibrate_check_out(job->settings->out, job->out, job->cli->operands[0],
                                  job->settings->running.data.data, err);
}

/* --- The model --- */

static int open_model(struct job *job, struct baryon_error *err)
{
    const struct by_running_settings *running = &job->settings->running;
    if (by_loaded_open(&job->loaded, job->cli, &running->model, job->cli->operands[0], err) < 0)
        return -1;
    const bool custom = running->engine.ops_library.count > 0;
    return by_model_judge_run(job->loaded.model, job->loaded.name,
                              by_calibrate_prepare(job->loaded.model, custom, &job->options, err),
                              err);
}

/* --- Running --- */

static void show_progress(struct job *job, const char *stage, uint64_t before, uint64_t done,
                          uint64_t total)
{
    if (strcmp(job->stage, stage) != 0) {
        const struct by_progress_style style = by_running_style(job->cli);
        if (job->stage[0])
            by_progress_end(&job->progress);
        snprintf(job->stage, sizeof job->stage, "%s", stage);
        by_term_patient(NULL);
        by_progress_begin(&job->progress, job->stage, "samples", before, total, &style);
    }
    job->progress.total = total;
    by_progress_step(&job->progress, done);
}

/* The first rank shows how far all are, also while it waits for the others. */
static bool progress(void *context, const struct by_calibrate_progress *now)
{
    struct job *job = context;
    uint64_t done = now->done, total = now->total;
    if (job->ranks)
        by_ranks_progress(job->ranks, &done, &total);
    if (job->ranks && by_ranks_rank(job->ranks))
        by_term_patient(NULL);
    else
        show_progress(job, now->stage, now->before, done, total);
    return by_term_stopping() || (job->ranks && by_ranks_stopping(job->ranks));
}

static void progress_of_others(void *context)
{
    struct job *job = context;
    const struct by_sample_range range = by_calibration_range(job->calibration);
    uint64_t done = range.end - range.begin, total = done;
    by_ranks_progress(job->ranks, &done, &total);
    show_progress(job, job->stage[0] ? job->stage : "calibrate", 0, done, total);
}

static int judge_existing(struct job *job, bool *up_to_date, struct baryon_error *err)
{
    int status = job->settings->force
                     ? 0
                     : by_calibrate_judge_existing(job->calibration, job->settings->out,
                                                   job->ranks != NULL, &job->stats, err);
    *up_to_date = job->stats != NULL;
    return status;
}

static int calibrate(struct job *job, struct baryon_error *err)
{
    int status = by_calibration_run(job->calibration, &job->stats, &job->took, err);
    if (job->stage[0] && !job->ranks)
        by_progress_end(&job->progress);
    if (status < 0 || by_stats_save(job->stats, job->out, 0, err) < 0)
        return -1;
    job->ran = true;
    return 0;
}

/* A finished part of an earlier run that was cut off is taken as it is. */
static bool part_is_there(struct job *job)
{
    struct by_stats *stats;
    struct baryon_error problem;
    by_err_clear(&problem);
    if (job->settings->restart || job->settings->force || !by_file_exists(job->out) ||
        by_stats_load(&stats, job->out, &problem) < 0)
        return false;
    const bool fits = by_calibration_matches(job->calibration, stats);
    by_stats_close(stats);
    if (fits)
        by_log(job->options.log, BY_LOG_NOTICE, "%s: already finished", job->out);
    return fits;
}

/* This rank's part, then all of them put together by the first. */
static int run_part(struct job *job, struct baryon_error *err)
{
    const struct by_sample_range range = by_calibration_range(job->calibration);
    const bool has_part = range.begin < range.end;
    if (has_part && part_is_there(job))
        job->took.taken_up = range.end - range.begin;
    else if (has_part && calibrate(job, err) < 0)
        return -1;
    by_stats_close(job->stats);
    job->stats = NULL;
    by_ranks_on_wait(job->ranks, by_ranks_rank(job->ranks) ? NULL : progress_of_others, job);
    int status = by_calibrate_gather(job->ranks, job->settings->out, has_part, &job->stats, err);
    if (status < 0 || by_ranks_rank(job->ranks))
        return status;
    if (job->stage[0])
        job->took.seconds = by_progress_end(&job->progress);
    job->took.samples = by_stats_covered(job->stats) - job->took.taken_up;
    job->ran = true;
    return 0;
}

/* Checkpoints are of no more use, also those left by a kill between two steps. */
static int remove_checkpoints(const struct job *job, struct baryon_error *err)
{
    if (job->ranks && by_file_exists(job->out) && by_remove_file(job->out, err) < 0)
        return -1;
    return by_calibrate_clean(job->options.checkpoint, err);
}

static int run_calibrate_job(struct job *job, struct baryon_error *err)
{
    bool up_to_date;
    int status = by_calibration_open(&job->calibration, job->loaded.model,
                                     job->settings->running.data.data, &job->options, err);
    status = by_model_judge_run(job->loaded.model, job->loaded.name, status, err);
    if (status < 0)
        return -1;
    if (!job->ranks || by_ranks_rank(job->ranks) == 0)
        status = judge_existing(job, &up_to_date, err);
    if (status == 0 && job->ranks)
        status = by_calibrate_agree(job->ranks, by_calibration_key(job->calibration),
                                    by_input_count(by_calibration_input(job->calibration)),
                                    &job->cli->log, &up_to_date, err);
    if (status == 0 && !up_to_date)
        status = job->ranks ? run_part(job, err) : calibrate(job, err);
    return status < 0 ? -1 : remove_checkpoints(job, err);
}

static void report(const struct job *job)
{
    char engine[128], data[1024];
    struct by_out *out = &job->cli->out;
    by_running_engine(&job->settings->running, by_calibration_ort(job->calibration), engine,
                      sizeof engine);
    by_input_describe(by_calibration_input(job->calibration), data, sizeof data);
    const struct by_calibrate_summary summary = {
        .model = job->loaded.name,
        .engine = engine,
        .path = job->settings->running.data.data,
        .data = data,
        .file = job->settings->out,
        .bytes = by_file_size(job->settings->out),
        .stats = job->stats,
        .took = job->ran ? &job->took : NULL,
    };
    if (job->cli->common.json)
        by_calibrate_report_json(out, &summary);
    else
        by_calibrate_report_text(out, &summary);
}

static int run_calibrate(struct by_cli *cli, const void *data, struct baryon_error *err)
{
    struct job job = {.cli = cli, .settings = data};
    if (by_ranks_open(&job.ranks, &cli->log, err) < 0)
        return -1;
    if (!job.ranks && !job.settings->shard)
        by_ranks_warn_alone(&cli->log);
    int status = -1;
    if (read_options(&job, err) == 0 && check_out(&job, err) == 0 && open_model(&job, err) == 0)
        status = run_calibrate_job(&job, err);
    const bool first = !job.ranks || by_ranks_rank(job.ranks) == 0;
    status = by_ranks_close(job.ranks, status, cli->common.json, err);
    if (status == 0 && first)
        report(&job);
    by_stats_close(job.stats);
    by_calibration_close(job.calibration);
    by_loaded_close(&job.loaded);
    return status;
}

static const struct by_example examples[] = {
    {"baryon calibrate model.onnx --data photos --prep imagenet -o model.stats",
     "Calibrate on a folder of pictures"},
    {"baryon calibrate model.onnx --data photos --moments -o model.stats",
     "Also store the Gram matrices of layer inputs, for rounding reconstruction from statistics"},
    {"baryon calibrate model.onnx --data photos --shard 2/8 -o part2.stats",
     "Process the second of eight shards; other machines process the others"},
    {"mpirun -n 4 baryon calibrate model.onnx --data photos -o model.stats",
     "Calibrate on four MPI ranks; see docs/many-machines.md"},
    {0},
};

const struct by_command by_cmd_calibrate = {
    .name = "calibrate",
    .operands = "MODEL",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "Run a model on samples and store statistics of its tensors",
    .text =
        "Run the model once on all samples and store the input of the calibration methods: exact "
        "extremes and counts of each tensor, and a histogram with fine bins near its values. With "
        "--moments, also store the Gram matrices of layer inputs: 'baryon quantize --stats FILE "
        "--rounding METHOD' solves weights from them without samples. Memory use does not grow "
        "with the number of samples. The file depends only on the model, the samples and the "
        "settings: "
        "not on threads, --max-memory, interruptions or sharding.\n\n"
        "FILE.part is the checkpoint of a running calibration. SIGINT finishes the current sample, "
        "writes the checkpoint and exits with status 130; a second SIGINT stops at once. The same "
        "command continues from the checkpoint, also after a kill. A checkpoint of another model, "
        "other samples or other settings is an error; a damaged checkpoint is ignored. If FILE is "
        "up to date (same model, settings, names and sizes of samples), nothing is run.\n\n"
        "NaN and infinite values are counted, reported and excluded from ranges. See 'baryon run' "
        "for the formats of samples. With --json, progress goes to standard error as one JSON "
        "object per line: event, stage, done, total, samples_per_second, seconds_left.",
    .examples = examples,
    .settings_size = sizeof(struct by_calibrate_settings),
    .groups = BY_RUNNING_GROUPS(struct by_calibrate_settings, by_calibrate_group),
    .run = run_calibrate,
};
