/* baryon run: a model on samples. */
#include "cli/opt.h"
#include "cli/run_files.h"
#include "cli/run_report.h"
#include "cli/running.h"
#include "cli/term.h"
#include "input/ahead.h"

#include <inttypes.h>

struct settings {
    struct by_running_settings running;
    const char *out;
    struct by_setting_texts output;
    bool force;
};

/* Everything that is open while samples run. */
struct job {
    struct by_cli *cli;
    const struct settings *settings;
    const char *name; /* of the model */
    struct by_session *session;
    const struct by_port *inputs;
    size_t input_count;
    struct by_input_options data;
    struct by_input *input;
    const char **names; /* of the outputs that are wanted */
    size_t output_count;
    struct by_output_stats *stats;
    struct by_run_files files;
    bool saving;
    uint64_t samples;
    double seconds, model_seconds;
};

static int open_session(struct job *job, struct baryon_error *err)
{
    const struct by_running_settings *running = &job->settings->running;
    struct by_session_options options;
    struct by_loaded loaded;
    by_running_session(job->cli, running, &options);
    if (by_loaded_open(&loaded, job->cli, &running->model, job->cli->operands[0], err) < 0)
        return -1;
    job->name = loaded.name;
    int status = by_running_check(&loaded, running, err);
    if (status == 0)
        status = by_session_open_model(&job->session, loaded.model, 0, &options, err);
    status = by_model_judge_run(loaded.model, loaded.name, status, err);
    by_loaded_close(&loaded);
    if (status == 0)
        job->inputs = by_session_inputs(job->session, &job->input_count);
    return status;
}

static int read_options(struct job *job, struct baryon_error *err)
{
    return by_running_input(job->cli, &job->settings->running, &job->data, err);
}

static int open_input(struct job *job, struct baryon_error *err)
{
    return by_input_open(&job->input, job->settings->running.data.data, job->inputs,
                         job->input_count, &job->data, err);
}

static int choose_outputs(struct job *job, struct baryon_error *err)
{
    const struct by_setting_texts *wanted = &job->settings->output;
    struct by_arena *arena = &job->cli->config.arena;
    if (by_session_choose_outputs(job->session, wanted->at, wanted->count, arena, &job->names,
                                  &job->output_count, err) < 0)
        return by_err_option(err, "output");
    job->stats = by_arena_alloc(arena, job->output_count, sizeof *job->stats, err);
    if (!job->stats)
        return -1;
    for (size_t i = 0; i < job->output_count; i++)
        job->stats[i].name = job->names[i];
    return 0;
}

static int open_files(struct job *job, struct baryon_error *err)
{
    if (!job->settings->out)
        return 0;
    if (by_run_files_open(&job->files, job->settings->out, job->names, job->output_count,
                          job->settings->force, err) < 0)
        return -1;
    job->saving = true;
    return 0;
}

static int save_outputs(struct job *job, const char *sample, const struct by_array *outputs,
                        struct baryon_error *err)
{
    for (size_t i = 0; i < job->output_count; i++)
        if (by_output_stats_add(&job->stats[i], &outputs[i], err) < 0)
            return -1;
    if (!job->saving)
        return 0;
    return by_run_files_add(&job->files, sample, outputs, job->output_count, err);
}

static int run_sample(struct job *job, struct by_ahead *ahead, size_t index,
                      struct baryon_error *err)
{
    const struct by_array *arrays;
    const char *sample;
    struct by_run *result;
    if (by_ahead_get(ahead, index, index + 1, &arrays, &sample, err) < 0)
        return -1;
    if (!arrays)
        return 0;
    double start = by_term_seconds();
    if (by_session_run(job->session, arrays, job->input_count, job->names, job->output_count,
                       &result, err) < 0) {
        by_err_in(err, "sample '%s'", sample);
        return -1;
    }
    job->model_seconds += by_term_seconds() - start;
    size_t count;
    const struct by_array *outputs = by_run_outputs(result, &count);
    int status = save_outputs(job, sample, outputs, err);
    by_run_free(result);
    job->samples++;
    return status;
}

static int stopped(const struct job *job, size_t total, struct baryon_error *err)
{
    by_fail(err, BARYON_ERR_CANCELLED, "stopped after %" PRIu64 " of %zu samples", job->samples,
            total);
    return job->saving ? by_err_hint(err, "the results saved so far are complete") : -1;
}

static int run_samples(struct job *job, struct baryon_error *err)
{
    struct by_progress progress;
    struct by_ahead *ahead;
    const struct by_progress_style style = by_running_style(job->cli);
    size_t total = by_input_count(job->input);
    int status = 0;
    if (by_ahead_open(&ahead, job->input, err) < 0)
        return -1;
    by_term_patient(job->session);
    by_progress_begin(&progress, "run", "samples", 0, total, &style);
    for (size_t i = 0; i < total && status == 0; i++) {
        status = run_sample(job, ahead, i, err);
        if (by_term_stopping() && (status < 0 || i + 1 < total))
            status = stopped(job, total, err);
        by_progress_step(&progress, i + 1);
    }
    job->seconds = by_progress_end(&progress);
    by_term_patient(NULL);
    by_ahead_close(ahead);
    return status;
}

static int report(const struct job *job, struct baryon_error *err)
{
    char engine[128], data[1024];
    struct by_out *out = &job->cli->out;
    by_running_engine(&job->settings->running, by_session_ort(job->session), engine, sizeof engine);
    by_input_describe(job->input, data, sizeof data);
    const struct by_run_report all = {
        .model = job->name,
        .engine = engine,
        .path = job->settings->running.data.data,
        .data = data,
        .samples = job->samples,
        .skipped = by_input_skipped(job->input),
        .files = job->files.written,
        .seconds = job->seconds,
        .model_seconds = job->model_seconds,
        .folder = job->settings->out,
        .outputs = job->stats,
        .output_count = job->output_count,
    };
    if (!job->cli->common.json)
        return by_run_report_text(out, &all, err);
    by_run_report_json(out, &all);
    return 0;
}

static int run_run(struct by_cli *cli, const void *data, struct baryon_error *err)
{
    struct job job = {.cli = cli, .settings = data};
    int failed = read_options(&job, err) || open_session(&job, err) || open_input(&job, err) ||
                 choose_outputs(&job, err) || open_files(&job, err) || run_samples(&job, err) ||
                 report(&job, err);
    if (job.saving)
        by_run_files_close(&job.files);
    by_input_close(job.input);
    by_session_close(job.session);
    return failed ? -1 : 0;
}

static const struct by_option rows[] = {
    {.name = "out",
     .letter = 'o',
     .type = BY_OPT_TEXT,
     .not_in_files = BY_NAMES_OUTPUT,
     .arg = "FOLDER",
     .offset = offsetof(struct settings, out),
     .help =
         "Save outputs as FOLDER/SAMPLE.npy, or as FOLDER/OUTPUT/SAMPLE.npy if there are several"},
    {.name = "output",
     .type = BY_OPT_TEXTS,
     .arg = "NAME[,NAME...]",
     .offset = offsetof(struct settings, output),
     .help = "Compute only these outputs of the model"},
    {.name = "force",
     .letter = 'f',
     .type = BY_OPT_FLAG,
     .not_in_files = BY_NAMES_OUTPUT,
     .offset = offsetof(struct settings, force),
     .help = "Save to a folder that is not empty"},
};

static const struct by_option_group group = BY_OPTION_GROUP("Output", rows);

static const struct by_example examples[] = {
    {"baryon run model.onnx --random 4", "Test whether the model runs, and how fast"},
    {"baryon run model.onnx --data photos --prep imagenet --out float",
     "Run the model on a folder of pictures and save the outputs"},
    {"baryon run model.onnx --data samples --shape N=1 --output logits --out float",
     "Save one of several outputs, with a size for a symbolic dimension"},
    {0},
};

const struct by_command by_cmd_run = {
    .name = "run",
    .operands = "MODEL",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "Run a model on samples and save or summarize its outputs",
    .text = "Run the model with ONNX Runtime on every sample. For each output, print type, shape, "
            "minimum, mean and maximum. With --out, save each output of each sample as a .npy file "
            "with the name of the sample, so that the folders of two models match file by file.\n\n"
            "Samples are .npy files, .npz files with the names of the inputs, pictures, or raw "
            "values: one file, a folder of files, a folder with one subfolder per input, or a .txt "
            "list of paths. Pictures are prepared in a fixed order: decode, EXIF orientation, "
            "colour, resize, crop or pad, multiply by scale, subtract mean, divide by std, layout. "
            "See 'baryon list readers' and 'baryon list preps'.\n\n"
            "A sample is the input of one run of the model. If the batch size is fixed by the "
            "model or by --shape, larger arrays are split, and smaller arrays and pictures are "
            "combined. Rows after the last full batch are dropped with a warning.\n\n"
            "SIGINT stops after the current sample; a second SIGINT stops at once.",
    .examples = examples,
    .settings_size = sizeof(struct settings),
    .groups = BY_RUNNING_GROUPS(struct settings, group),
    .run = run_run,
};
