/* baryon quantize: a model in smaller numbers. */
#include "base/file.h"
#include "cli/places.h"
#include "cli/quality_view.h"
#include "cli/quantizing.h"
#include "cli/reporting.h"
#include "cli/solved_view.h"
#include "cli/term.h"
#include "onnx/external.h"
#include "onnx/save.h"
#include "rounding/rounding.h"

#include <math.h>
#include <string.h>

struct settings {
    struct by_quantize_settings quantize;
    struct by_verify_settings verify;
    struct by_class_names_settings names;
    const char *out, *report, *dump_passes, *external;
    bool force;
};

struct job {
    struct by_quantizing quantizing;
    const struct settings *settings;
    struct by_quantize_settings quantize;
    uint64_t bytes_after;
    double save_seconds;
    struct by_session *opened; /* by the verification, for measuring */
    struct by_quality quality;
    struct by_reporting reporting;
};

/* --- Before anything is opened --- */

static int check_places(const struct by_cli *cli, const struct settings *settings,
                        struct baryon_error *err)
{
    if (!settings->out)
        return by_fail(err, BARYON_ERR_USAGE, "--out FILE is required: the file for the model");
    if (!strcmp(settings->out, "-"))
        return by_fail(err, BARYON_ERR_USAGE,
                       "--out is '-', a model can only be written to a file");
    if (by_same_file(cli->operands[0], settings->out) && !settings->force) {
        by_fail(err, BARYON_ERR_USAGE, "--out is the input model");
        return by_err_hint(err, "--force overwrites it");
    }
    if (settings->report && !strcmp(settings->report, settings->out))
        return by_fail(err, BARYON_ERR_USAGE, "--out and --report are the same file");
    if (!settings->force && by_place_check_free("--out", settings->out, err) < 0)
        return -1;
    if (by_writer_probe(settings->out, 0, err) < 0)
        return -1;
    return settings->dump_passes ? by_make_folders(settings->dump_passes, err) : 0;
}

/* --- Writing --- */

static int save(struct job *job, struct baryon_error *err)
{
    const struct settings *settings = job->settings;
    struct by_saved_size size;
    const double begin = by_term_seconds();
    struct by_save_options options = by_place_options(settings->external, settings->force);
    options.size = &size;
    if (by_model_save(job->quantizing.loaded.model, settings->out, &options, err) < 0)
        return -1;
    job->save_seconds = by_term_seconds() - begin;
    job->bytes_after = size.model + size.data;
    return 0;
}

/* --- Telling --- */

/* JSON has the names of stages, which stay as they are. */
static const char *stage_label(const char *stage)
{
    if (!strcmp(stage, "place"))
        return "insert Q/DQ";
    return !strcmp(stage, "lower") ? "emit" : stage;
}

static void show_times(const struct job *job, struct by_out *out)
{
    const struct by_quantize_report *report = &job->quantizing.quantization.report;
    double sum = job->save_seconds + job->quality.seconds;
    for (size_t i = 0; i < report->stage_count; i++)
        sum += report->stages[i].seconds;
    by_str_printf(&out->text, "  %.2f s:", sum);
    for (size_t i = 0; i < report->stage_count; i++)
        if (report->stages[i].seconds >= 0.005)
            by_str_printf(&out->text, " %s %.2f,", stage_label(report->stages[i].stage),
                          report->stages[i].seconds);
    by_str_printf(&out->text, " save %.2f", job->save_seconds);
    if (job->quality.seconds >= 0.005)
        by_str_printf(&out->text, ", measure %.2f", job->quality.seconds);
    by_str_puts(&out->text, "\n");
}

static void show_excluded(const struct by_excluded *excluded, struct by_out *out)
{
    if (!excluded->samples)
        return;
    by_str_puts(&out->text, excluded->nodes
                                ? "  without pairs that no layer reads "
                                : "  pairs that no layer reads are kept; without them ");
    by_str_printf(&out->text, "%+.1f dB (standard error %.1f) on ", excluded->gain,
                  excluded->error);
    by_plural(&out->text, excluded->samples, "held-out sample");
    by_str_puts(&out->text, "\n");
}

/* Layers that keep the wider type are listed, as far as they are few. */
#define SHOWN_CHANGES 12

static void show_mixed(const struct by_mixed_report *mixed, struct by_out *out)
{
    const size_t shown = mixed->change_count < SHOWN_CHANGES ? mixed->change_count : SHOWN_CHANGES;
    if (!mixed->narrow)
        return;
    by_str_printf(&out->text,
                  "  layers in %s where that keeps %g dB: %.1f dB, all layers %.1f dB, on ",
                  mixed->narrow, mixed->goal, mixed->sqnr, mixed->narrow_sqnr);
    by_plural(&out->text, mixed->samples, "held-out sample");
    by_str_printf(&out->text, "; %.1f %% of multiply-adds keep the wider type\n",
                  100 * mixed->wide_share);
    for (size_t i = 0; i < shown; i++) {
        const struct by_mixed_change *change = &mixed->changes[i];
        by_str_printf(&out->text, "    %s %s ", change->type,
                      change->weight ? "weight of" : "activation");
        by_clean(&out->text, change->name);
        by_str_puts(&out->text, "\n");
    }
    if (shown < mixed->change_count)
        by_str_printf(&out->text, "    and %zu more, see --json\n", mixed->change_count - shown);
}

static int print_quantize_summary(struct job *job, struct baryon_error *err)
{
    char before[32], after[32];
    struct by_quantizing *q = &job->quantizing;
    struct by_out *out = &q->cli->out;
    by_quantizing_head(q, out);
    by_str_puts(&out->text, "\n");
    if (by_plan_view_ops(&q->view, out, err) < 0)
        return -1;
    by_str_puts(&out->text, "\n");
    if (by_solved_text(&q->quantization.report.solved, out, err) < 0 ||
        by_plan_view_coverage(&q->view, out, err) < 0)
        return -1;
    show_excluded(&q->quantization.report.excluded, out);
    show_mixed(&q->quantization.report.mixed, out);
    const uint64_t samples = by_quantization_samples(&q->quantization);
    if (samples) {
        by_str_puts(&out->text, "  calibrated on ");
        by_plural(&out->text, samples, "sample");
        by_str_puts(&out->text, "\n");
    }
    show_times(job, out);
    by_str_puts(&out->text, "\n  ");
    by_clean(&out->text, job->settings->out);
    by_str_printf(&out->text, ": %s, before %s\n",
                  by_bytes_text(job->bytes_after, after, sizeof after),
                  by_bytes_text(q->view.bytes_before, before, sizeof before));
    by_quality_view(&job->quality, out);
    return 0;
}

static void put_seconds(const struct job *job, struct by_json *json)
{
    const struct by_report_seconds more[] = {
        {"save", job->save_seconds},
        {"measure", job->quality.asked ? job->quality.seconds : (double)NAN},
        {"report", job->reporting.path ? job->reporting.seconds : (double)NAN},
    };
    by_seconds_json(&job->quantizing.quantization.report, more, sizeof more / sizeof *more, json);
}

static void put_results(const struct job *job, struct by_json *json)
{
    const struct by_quantize_report *report = &job->quantizing.quantization.report;
    by_choices_json(report, json);
    by_quality_json(&job->quality, json);
    by_solved_json(&report->solved, json);
}

static void put_sizes(const struct job *job, struct by_json *json)
{
    const struct by_quantizing *q = &job->quantizing;
    by_json_int(json, "bytes_before", (int64_t)q->view.bytes_before);
    by_json_int(json, "bytes", (int64_t)job->bytes_after);
    by_json_int(json, "samples", (int64_t)by_quantization_samples(&q->quantization));
}

static void write_json(const struct job *job, struct by_str *text)
{
    struct by_json json;
    const struct by_quantizing *q = &job->quantizing;
    by_json_init(&json, text, false);
    by_json_open(&json, NULL, '{');
    by_quantizing_head_json(q, &json);
    by_json_text(&json, "file", job->settings->out);
    put_sizes(job, &json);
    put_seconds(job, &json);
    put_results(job, &json);
    by_plan_view_json(&q->view, &json);
    by_json_close(&json, '}');
    by_str_puts(text, "\n");
}

static int write_report(struct job *job, struct baryon_error *err)
{
    struct by_reporting *reporting = &job->reporting;
    const struct by_quantizing *q = &job->quantizing;
    struct by_report_head head = by_quantizing_report_head(q);
    struct by_str text;
    by_str_init(&text);
    by_report_say_quality(&job->quality, &reporting->figures, &q->view, &text);
    const struct by_report_outcome outcome = {
        .text = by_str_text(&text),
        .goal = "none",
        .quality = job->quality.samples ? job->quality.worst : (double)NAN,
        .low_bits = by_report_narrow_share(&reporting->figures.layers, &q->view, 8),
    };
    head.file = job->settings->out;
    by_reporting_open(reporting, head, &outcome);
    put_sizes(job, &reporting->json);
    put_seconds(job, &reporting->json);
    put_results(job, &reporting->json);
    by_plan_coverage_json(&q->view, &reporting->json);
    int status = by_str_error(&text, err);
    by_str_release(&text);
    return status < 0 ? -1 : by_reporting_save(reporting, err);
}

static bool measures(const struct job *job)
{
    const struct by_quantizing *q = &job->quantizing;
    return q->quality_run.reference.count &&
           by_quality_takes_session(&q->options.calibrate.session, q->loaded.model);
}

static int verify_written(struct job *job, struct baryon_error *err)
{
    const struct by_quantizing *q = &job->quantizing;
    const struct by_verify verify = {
        .path = job->settings->out,
        .before = by_quantization_samples(&q->quantization) ? NULL : q->loaded.model->path,
        .model = q->loaded.model,
        .bytes = job->bytes_after,
        .session = q->options.calibrate.session,
        .keep = measures(job) ? &job->opened : NULL,
    };
    return by_verify_take(&job->settings->verify, &verify, &q->cli->log, err);
}

/* --- Measuring --- */

static int measure_written_file(struct job *job, struct baryon_error *err)
{
    struct by_quantizing *q = &job->quantizing;
    const struct by_quality_written written = {
        .path = job->settings->out, .model = q->loaded.model, .session = job->opened};
    job->opened = NULL;
    const int status =
        by_quality_measure(&job->quality, &q->quality_run, &q->quantization, &written, err);
    by_quantizing_pause(q);
    if (status < 0) {
        by_err_file(err, job->settings->out);
        return by_err_hint(err, "the model is written; --no-judge does not measure it");
    }
    by_quality_warn(&job->quality, &q->cli->log);
    return 0;
}

static int report_quantize(struct job *job, struct baryon_error *err)
{
    struct by_cli *cli = job->quantizing.cli;
    if (job->settings->report && write_report(job, err) < 0)
        return -1;
    if (cli->common.json)
        write_json(job, &cli->out.text);
    else if (!cli->common.quiet)
        return print_quantize_summary(job, err);
    return 0;
}

static int run_quantize_job(struct job *job, struct by_cli *cli, struct baryon_error *err)
{
    struct by_quantizing *q = &job->quantizing;
    const struct settings *settings = job->settings;
    job->quantize = settings->quantize;
    job->quantize.judges = true;
    if (by_quantizing_take(q, cli, &job->quantize, err) < 0 ||
        check_places(cli, settings, err) < 0 ||
        by_reporting_begin(&job->reporting, cli, settings->report, settings->force, err) < 0 ||
        by_quantize_beside(&q->options, &cli->config.arena, settings->out, err) < 0)
        return -1;
    q->options.dump_passes = settings->dump_passes;
    by_reporting_listen(&job->reporting, &q->view, by_quantizing_prep(q), &q->quality);
    const struct by_save_options saving = by_place_options(settings->external, settings->force);
    if (by_quantizing_load(q, err) < 0 ||
        by_reporting_name(&job->reporting, q->loaded.model, &settings->names, err) < 0 ||
        by_place_probe(q->loaded.model, settings->out, &saving, err) < 0 ||
        by_quantizing_plan(q, err) < 0)
        return -1;
    by_quantization_spill(&q->quantization, settings->out, q->bytes_before);
    int status = by_quality_keep(&q->quality_run, &q->quantization, err);
    if (status == 0)
        status = by_reporting_take(&job->reporting, &q->quantization, err);
    if (status == 0)
        status = by_quantization_lower(&q->quantization, err);
    status = by_model_judge_run(q->loaded.model, q->loaded.name, status, err);
    if (status == 0)
        status = by_model_judge(q->loaded.model, save(job, err), err);
    if (status == 0)
        by_rounding_clean(&q->options);
    if (status == 0)
        status = verify_written(job, err);
    if (status == 0)
        status = measure_written_file(job, err);
    return status < 0 ? -1 : report_quantize(job, err);
}

static int run_quantize(struct by_cli *cli, const void *data, struct baryon_error *err)
{
    struct job job = {.settings = data};
    const int status = run_quantize_job(&job, cli, err);
    by_session_close(job.opened);
    by_quality_release(&job.quality);
    by_reporting_end(&job.reporting);
    by_quantizing_close(&job.quantizing);
    return status;
}

static const struct by_option rows[] = {
    {.name = "out",
     .letter = 'o',
     .type = BY_OPT_TEXT,
     .not_in_files = BY_NAMES_OUTPUT,
     .arg = "FILE",
     .offset = offsetof(struct settings, out),
     .help = "Write the quantized model to FILE (required)"},
    {.name = "report",
     .type = BY_OPT_TEXT,
     .not_in_files = BY_NAMES_OUTPUT,
     .arg = "FILE",
     .offset = offsetof(struct settings, report),
     .help = "Write a report to FILE: a page to open in a browser if it ends in .html, else JSON"},
    {.name = "dump-passes",
     .type = BY_OPT_TEXT,
     .not_in_files = BY_NAMES_OUTPUT,
     .arg = "FOLDER",
     .offset = offsetof(struct settings, dump_passes),
     .help = "Write the float model to FOLDER after each pass"},
    {.name = "external",
     .type = BY_OPT_TEXT,
     .not_in_files = BY_NAMES_OUTPUT,
     .arg = "FILE",
     .offset = offsetof(struct settings, external),
     .help = "Move weights to a data file; its path is relative to the folder of --out"},
    {.name = "force",
     .letter = 'f',
     .type = BY_OPT_FLAG,
     .not_in_files = BY_NAMES_OUTPUT,
     .offset = offsetof(struct settings, force),
     .help = "Replace existing files"},
};

static const struct by_option_group group = BY_OPTION_GROUP("Output", rows);

static const struct by_example examples[] = {
    {"baryon quantize model.onnx -o int8.onnx --preset XINT8 --data photos",
     "Quantize for Ryzen AI NPUs with a folder of pictures"},
    {"baryon quantize model.onnx -o small.onnx --preset MATMUL_NBITS",
     "Quantize only weights, without samples"},
    {"baryon quantize m.onnx -o q.onnx -p A8W8 --stats m.stats -x '/head/*'",
     "Quantize from statistics and keep the nodes of the head float"},
    {"baryon quantize m.onnx -o q.onnx -p XINT8_ADAROUND --stats m.stats",
     "Solve the rounding of weights from statistics of 'baryon calibrate --moments'"},
    {"baryon quantize m.onnx -o q.onnx -p VINT8 -d photos --exclude-between A B",
     "Keep the nodes from A to B float"},
    {0},
};

const struct by_command by_cmd_quantize = {
    .name = "quantize",
    .operands = "MODEL",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "Quantize a model: convert floats to integers",
    .text = "Quantize a model in these steps: fold and fuse the float graph, insert Q/DQ pairs, "
            "run the model on samples to find ranges, choose scales and zero points, apply "
            "hardware rules, and emit the model. ONNX Runtime and compilers of NPUs run the "
            "result. Use 'baryon plan' to see it without writing a model.\n\n"
            "A preset (--preset) is a set of option values; options on the command line override "
            "it. Files for --config have the same options, and maps of rules: op_types, nodes and "
            "tensors, such as 'nodes: {\"conv*\": {activation: int16, weight: int8}}'. On the "
            "command line, --op-type, --node and --tensor set such rules. Options of Quark are "
            "accepted under their own names, in a file also below extra_options.\n\n"
            "See 'baryon run' for the formats of samples. The result does not depend on the number "
            "of threads. FILE appears complete or not at all. During rounding reconstruction "
            "(--rounding), FILE.part is a checkpoint with the finished layers. After SIGINT (exit "
            "status 130) or a kill, the same command continues from the checkpoint.",
    .examples = examples,
    .settings_size = sizeof(struct settings),
    .groups = {{&group, 0},
               {&by_class_names_group, offsetof(struct settings, names)},
               {&by_verify_group, offsetof(struct settings, verify)},
               {&by_quantize_quality_group, offsetof(struct settings, quantize)},
               BY_QUANTIZING_GROUPS(struct settings)},
    .run = run_quantize,
};
