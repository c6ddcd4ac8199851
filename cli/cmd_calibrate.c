/* baryon calibrate: statistics of what flows through a model. */
#include "calibrate.h"
#include "cli/calibrate_ranks.h"
#include "cli/calibrate_report.h"
#include "cli/running.h"
#include "cli/term.h"
#include "engine/trace.h"
#include "ir/infer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

struct settings {
    struct by_running_settings running;
    const char *out, *shard;
    int tensors;
    bool per_channel, moments, restart, force;
    uint64_t max_memory;
    double checkpoint_seconds;
};

struct job {
    struct by_cli *cli;
    const struct settings *settings;
    struct by_calibrate_options options;
    struct by_ranks *ranks; /* NULL: the program runs alone */
    struct by_log log;      /* of a rank that is not the first */
    const char *out;        /* --out, or where this rank's part goes */
    char *checkpoint;
    struct by_loaded loaded;
    struct by_calibration *calibration;
    struct by_progress progress;
    char stage[64]; /* that the progress is of */
    struct by_stats *stats;
    struct by_calibrate_report took;
    bool ran;
};

/* --- Before anything is opened --- */

/* "2/4": the second of four parts. */
static int read_shard(const char *text, struct by_calibrate_options *options,
                      struct baryon_error *err)
{
    char first[32] = "", quoted[BY_QUOTE_MAX];
    int64_t shard, shards;
    const char *slash = strchr(text, '/');
    if (slash && (size_t)(slash - text) < sizeof first)
        memcpy(first, text, (size_t)(slash - text));
    if (!slash || !by_parse_i64(first, &shard) || !by_parse_i64(slash + 1, &shards) || shard < 1 ||
        shards < shard)
        return by_fail(err, BARYON_ERR_USAGE, "option --shard is I/N with 1 <= I <= N, not %s",
                       by_quote(quoted, text));
    options->shard = (uint64_t)shard - 1;
    options->shards = (uint64_t)shards;
    return 0;
}

static bool progress(void *context, const struct by_calibrate_progress *now);

/* Of a path its last part, so that the result does not depend on where things lie. */
static const char *last_part(struct by_arena *arena, const char *path, struct baryon_error *err)
{
    size_t size = strlen(path);
    while (size > 1 && path[size - 1] == '/')
        size--;
    const char *copy = by_arena_text(arena, path, size, err);
    return copy ? by_basename(copy) : NULL;
}

static int name_things(struct job *job, struct baryon_error *err)
{
    const struct by_data_settings *data = &job->settings->running.data;
    struct by_arena *arena = &job->cli->config.arena;
    if (by_calibrate_part(job->ranks, arena, job->settings->out, &job->out, err) < 0)
        return -1;
    const size_t size = strlen(job->out) + sizeof ".part";
    job->options.model = last_part(arena, job->cli->operands[0], err);
    job->options.data = data->data ? last_part(arena, data->data, err) : "random";
    job->checkpoint = by_arena_alloc(arena, size, 1, err);
    if (!job->options.model || !job->options.data || !job->checkpoint)
        return -1;
    snprintf(job->checkpoint, size, "%s.part", job->out);
    job->options.checkpoint = job->checkpoint;
    return 0;
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
                       "--shard has no meaning with several ranks, each of them is a shard");
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
    const struct settings *settings = job->settings;
    struct by_calibrate_options *options = &job->options;
    if (!settings->out)
        return by_fail(err, BARYON_ERR_USAGE,
                       "--out FILE has to be given: where the statistics go");
    if (settings->shard && read_shard(settings->shard, options, err) < 0)
        return -1;
    options->targets = (enum by_target_choice)settings->tensors;
    options->per_channel = settings->per_channel;
    options->moments = settings->moments;
    options->max_memory = settings->max_memory;
    options->checkpoint_seconds = settings->checkpoint_seconds;
    options->restart = settings->restart;
    options->progress = progress;
    options->context = job;
    options->log = &job->cli->log;
    by_running_session(job->cli, &settings->running, &options->session);
    if (job->ranks && read_ranks(job, err) < 0)
        return -1;
    if (by_running_input(job->cli, &settings->running, &options->input, err) < 0)
        return -1;
    return name_things(job, err);
}

/* A folder that cannot be written to is found out now, not after an hour. */
static int check_out(const struct job *job, struct baryon_error *err)
{
    struct by_writer *writer;
    const char *out = job->settings->out, *data = job->settings->running.data.data;
    if (by_same_file(out, job->cli->operands[0]))
        return by_fail(err, BARYON_ERR_USAGE, "--out is the model itself");
    if (data && by_same_file(out, data))
        return by_fail(err, BARYON_ERR_USAGE, "--out is the samples' file");
    if (by_writer_open(&writer, job->out, 0, err) < 0)
        return by_err_file(err, job->out);
    by_writer_abort(writer);
    return 0;
}

/* --- The model --- */

static bool has_unknown(const struct baryon_graph *graph)
{
    for (size_t i = 0; i < graph->all_values.count; i++) {
        const struct baryon_value *value = graph->all_values.at[i];
        if (value && !value->elem)
            return true;
    }
    return false;
}

static bool is_quantized(const struct baryon_graph *graph)
{
    static const char *const names[] = {"QuantizeLinear", "DequantizeLinear"};
    for (size_t i = 0; i < graph->node.count; i++) {
        const struct baryon_node *node = graph->node.at[i];
        if (node && node->op_type &&
            (!strcmp(node->op_type, names[0]) || !strcmp(node->op_type, names[1]) ||
             !strncmp(node->op_type, "QLinear", 7)))
            return true;
    }
    return false;
}

static void tell_quantized(const struct job *job)
{
    if (is_quantized(job->loaded.model->graph))
        by_log(&job->cli->log, BY_LOG_NOTICE,
               "the model is quantized already; what is looked at are its float values");
}

/* Types that no rule of ours knows, of custom operators for one, come from ONNX Runtime. */
static int prepare_model(struct job *job, struct baryon_error *err)
{
    struct baryon_model *model = job->loaded.model;
    if (by_running_check(&job->loaded, &job->settings->running, err) < 0 ||
        by_model_link(model, err) < 0 || by_model_infer(model, NULL, err) < 0 ||
        (has_unknown(model->graph) &&
         by_model_trace(model, NULL, 0, &job->options.session, NULL, err) < 0))
        return -1;
    tell_quantized(job);
    return 0;
}

static int open_model(struct job *job, struct baryon_error *err)
{
    const struct by_running_settings *running = &job->settings->running;
    if (by_loaded_open(&job->loaded, job->cli, &running->model, job->cli->operands[0], err) < 0)
        return -1;
    return by_running_judge(&job->loaded, prepare_model(job, err), err);
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

/* What is there already is either what would come out, or not to be replaced without asking. */
static int judge_existing(struct job *job, bool *up_to_date, struct baryon_error *err)
{
    const char *out = job->settings->out;
    struct baryon_error problem;
    *up_to_date = false;
    if (job->settings->force || !by_file_exists(out))
        return 0;
    by_err_clear(&problem);
    if (by_stats_load(&job->stats, out, &problem) == 0 &&
        (job->ranks ? by_calibration_matches_all : by_calibration_matches)(job->calibration,
                                                                           job->stats)) {
        *up_to_date = true;
        return 0;
    }
    by_stats_close(job->stats);
    job->stats = NULL;
    by_fail(err, BARYON_ERR_USAGE, "the file exists and has other contents than this would give");
    by_err_hint(err, "--force replaces it");
    return by_err_file(err, out);
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
        by_log(job->options.log, BY_LOG_NOTICE, "%s: finished before", job->out);
    return fits;
}

/* This rank's part, then all of them put together by the first. */
static int run_part(struct job *job, struct baryon_error *err)
{
    const struct by_sample_range range = by_calibration_range(job->calibration);
    const bool has_part = range.begin < range.end;
    if (has_part && !part_is_there(job) && calibrate(job, err) < 0)
        return -1;
    by_stats_close(job->stats);
    job->stats = NULL;
    by_ranks_on_wait(job->ranks, by_ranks_rank(job->ranks) ? NULL : progress_of_others, job);
    int status = by_calibrate_gather(job->ranks, job->settings->out, has_part, &job->stats, err);
    if (status < 0 || by_ranks_rank(job->ranks))
        return status;
    if (job->stage[0])
        job->took.seconds = by_progress_end(&job->progress);
    job->took.samples = by_stats_covered(job->stats);
    return 0;
}

/* Checkpoints are of no more use, also those left by a kill between two steps. */
static int finish(const struct job *job, struct baryon_error *err)
{
    if (job->ranks && by_file_exists(job->out) && by_remove_file(job->out, err) < 0)
        return -1;
    return by_calibrate_clean(job->checkpoint, err);
}

static int run_job(struct job *job, struct baryon_error *err)
{
    bool up_to_date;
    int status = by_calibration_open(&job->calibration, job->loaded.model,
                                     job->settings->running.data.data, &job->options, err);
    status = by_running_judge(&job->loaded, status, err);
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
    return status < 0 ? -1 : finish(job, err);
}

static uint64_t size_of(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
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
        .bytes = size_of(job->settings->out),
        .stats = job->stats,
        .took = job->ran ? &job->took : NULL,
    };
    if (job->cli->common.json)
        by_calibrate_report_json(out, &summary);
    else
        by_calibrate_report_text(out, &summary);
}

static int run(struct by_cli *cli, const void *data, struct baryon_error *err)
{
    struct job job = {.cli = cli, .settings = data};
    if (by_ranks_open(&job.ranks, &cli->log, err) < 0)
        return -1;
    int status = -1;
    if (read_options(&job, err) == 0 && check_out(&job, err) == 0 && open_model(&job, err) == 0)
        status = run_job(&job, err);
    const bool first = !job.ranks || by_ranks_rank(job.ranks) == 0;
    status = by_ranks_close(job.ranks, status, err);
    if (status == 0 && first)
        report(&job);
    by_stats_close(job.stats);
    by_calibration_close(job.calibration);
    by_loaded_close(&job.loaded);
    return status;
}

static const struct by_choice tensor_choices[] = {
    {"seen", BY_TARGETS_SEEN, "without values that fusions swallow"},
    {"all", BY_TARGETS_ALL, "every float value of the main graph"},
    {0},
};

static const struct by_option rows[] = {
    {.name = "out",
     .letter = 'o',
     .type = BY_OPT_TEXT,
     .arg = "FILE",
     .offset = offsetof(struct settings, out),
     .help = "Where the statistics go, usually NAME.stats; has to be given"},
    {.name = "tensors",
     .type = BY_OPT_CHOICE,
     .arg = "WHICH",
     .choices = tensor_choices,
     .fallback = "seen",
     .offset = offsetof(struct settings, tensors),
     .help = "Which tensors are looked at"},
    {.name = "per-channel",
     .type = BY_OPT_FLAG,
     .offset = offsetof(struct settings, per_channel),
     .help = "Also the least and greatest value of each channel"},
    {.name = "moments",
     .type = BY_OPT_FLAG,
     .offset = offsetof(struct settings, moments),
     .help = "Also the moments of what each layer with weights reads, for methods that solve for "
             "weights"},
    {.name = "max-memory",
     .type = BY_OPT_BYTES,
     .arg = "BYTES",
     .min = 1,
     .max = 9.2e18,
     .fallback = "1GiB",
     .offset = offsetof(struct settings, max_memory),
     .help = "Memory for statistics; moments that need more take further passes over the samples"},
    {.name = "shard",
     .type = BY_OPT_TEXT,
     .arg = "I/N",
     .offset = offsetof(struct settings, shard),
     .help = "Only the I-th of N parts of the samples; 'baryon merge' puts the results together"},
    {.name = "checkpoint-seconds",
     .type = BY_OPT_NUMBER,
     .arg = "SECONDS",
     .min = 0,
     .max = 1e9,
     .fallback = "30",
     .offset = offsetof(struct settings, checkpoint_seconds),
     .help = "How often what was done so far is kept in FILE.part, 0 for after every sample"},
    {.name = "restart",
     .type = BY_OPT_FLAG,
     .offset = offsetof(struct settings, restart),
     .help = "Begin anew, whatever FILE.part has"},
    {.name = "force",
     .letter = 'f',
     .type = BY_OPT_FLAG,
     .offset = offsetof(struct settings, force),
     .help = "Run, and replace FILE, also when it exists or is up to date"},
};

static const struct by_option_group group = BY_OPTION_GROUP("Statistics", rows);

static const struct by_example examples[] = {
    {"baryon calibrate model.onnx --data photos --prep imagenet -o model.stats",
     "A folder of pictures."},
    {"baryon calibrate model.onnx --data photos --moments -o model.stats",
     "All that any method needs."},
    {"baryon calibrate model.onnx --data photos --shard 2/8 -o part2.stats",
     "The second of eight parts, the others on other machines."},
    {"mpirun -n 4 baryon calibrate model.onnx --data photos -o model.stats",
     "By four ranks at once; see docs/many-machines.md."},
    {0},
};

const struct by_command by_cmd_calibrate = {
    .name = "calibrate",
    .operands = "MODEL",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "Run a model on samples once, keep statistics of all its tensors",
    .text =
        "Looks at every tensor while the model runs and keeps what any calibration method needs: "
        "exact extremes and counts, a histogram that is fine where values are, and with --moments "
        "what the rounding of weights needs. Memory does not grow with the number of samples. The "
        "file depends on the model, the samples and the settings alone: not on threads, on "
        "--max-memory, on interruptions, nor on how samples were split between machines.\n\n"
        "While it works, FILE.part has what was done so far. SIGINT finishes the sample in hand, "
        "keeps it and ends with 130; a second one stops at once. The same command goes on from "
        "there, also after a kill. A FILE.part of another model, other data or settings is "
        "refused; a damaged one is left out. A FILE that is up to date (same model, settings, "
        "names and sizes of samples) is left as it is.\n\n"
        "Values that are NaN or infinite are counted, named and left out of ranges. Samples are "
        "given as for 'baryon run'. With --json, progress goes to standard error as one JSON "
        "object a line: event, stage, done, total, samples_per_second, seconds_left.",
    .examples = examples,
    .settings_size = sizeof(struct settings),
    .groups = BY_RUNNING_GROUPS(struct settings, group),
    .run = run,
};
