/* Loads the model and makes the plan, for the commands that quantize. */
#include "cli/quantizing.h"

#include "calibrate/begin.h"
#include "cli/term.h"
#include "onnx/external.h"

#include <stdio.h>
#include <string.h>

/* --- Options --- */

static bool progress(void *context, const struct by_calibrate_progress *now)
{
    struct by_quantizing *q = context;
    if (strcmp(q->stage, now->stage) != 0) {
        const struct by_progress_style style = by_running_style(q->cli);
        if (q->stage[0])
            by_progress_end(&q->progress);
        snprintf(q->stage, sizeof q->stage, "%s", now->stage);
        by_progress_begin(&q->progress, q->stage, now->unit ? now->unit : "samples", now->before,
                          now->total, &style);
    }
    q->progress.total = now->total;
    q->progress.share = now->share;
    by_progress_step(&q->progress, now->done);
    if (!now->keeps)
        return false; /* there is nothing to keep: a signal ends the program at once */
    by_term_patient(NULL);
    return by_term_stopping();
}

int by_quantizing_take(struct by_quantizing *q, struct by_cli *cli,
                       const struct by_quantize_settings *settings, struct baryon_error *err)
{
    struct by_quantize_options *options = &q->options;
    q->cli = cli;
    q->settings = settings;
    if (by_quantize_take(&cli->config, settings, NULL, &cli->log, options, err) < 0)
        return -1;
    const char *data = settings->running.data.data;
    struct by_arena *arena = &cli->config.arena;
    options->calibrate.progress = progress;
    options->calibrate.context = q;
    options->calibrate.model = by_calibrate_label(arena, cli->operands[0], err);
    options->calibrate.data = data ? by_calibrate_label(arena, data, err) : "random";
    if (!options->calibrate.model || !options->calibrate.data)
        return -1;
    return by_quantize_take_quality(&cli->config, settings, NULL, options, &q->quality, err);
}

/* --- The model --- */

int by_quantizing_load(struct by_quantizing *q, struct baryon_error *err)
{
    const struct by_running_settings *running = &q->settings->running;
    if (by_loaded_open(&q->loaded, q->cli, &running->model, q->cli->operands[0], err) < 0)
        return -1;
    q->bytes_before = by_loaded_size(&q->loaded) + by_model_data_size(q->loaded.model);
    const bool custom = running->engine.ops_library.count > 0;
    /* What it would note of a quantized model is an error here, and told as one. */
    struct by_calibrate_options quiet = q->options.calibrate;
    quiet.session.log = NULL;
    return by_model_judge_run(q->loaded.model, q->loaded.name,
                              by_calibrate_prepare(q->loaded.model, custom, &quiet, err), err);
}

void by_quantizing_pause(struct by_quantizing *q)
{
    by_term_impatient();
    if (q->stage[0])
        by_progress_end(&q->progress);
    q->stage[0] = '\0';
}

int by_quantizing_plan(struct by_quantizing *q, struct baryon_error *err)
{
    if (by_quality_begin(&q->quality_run, q->loaded.model, &q->quality, &q->options, err) < 0)
        return -1;
    int status = by_mixed_open(&q->mixed, &q->quantization, q->loaded.model, &q->options, err);
    by_quantizing_pause(q);
    status = by_model_judge_run(q->loaded.model, q->loaded.name, status, err);
    if (status < 0)
        return -1;
    return by_plan_view_make(&q->view, q->quantization.plan, q->bytes_before, err);
}

void by_quantizing_close(struct by_quantizing *q)
{
    by_plan_view_release(&q->view);
    by_quality_end(&q->quality_run);
    by_quantization_close(&q->quantization);
    by_mixed_close(&q->mixed);
    if (q->loaded.model)
        by_loaded_close(&q->loaded);
}

/* --- What went in --- */

static const char *recipe_text(const struct by_recipe *recipe, char *buf, size_t size)
{
    char activation[160], weight[160];
    by_spec_text(&recipe->activation, activation, sizeof activation);
    by_spec_text(&recipe->weight, weight, sizeof weight);
    if (recipe->approach == BY_APPROACH_NBITS)
        snprintf(buf, size, "weights of MatMul in %d bits, blocks of %d", (int)recipe->nbits.bits,
                 (int)recipe->nbits.group);
    else if (recipe->approach == BY_APPROACH_STATIC)
        snprintf(buf, size, "activations %s; weights %s", activation, weight);
    else if (recipe->approach == BY_APPROACH_DYNAMIC)
        snprintf(buf, size, "activations uint8 at run time; weights %s", weight);
    else
        snprintf(buf, size, "weights %s", weight);
    return buf;
}

static bool needs_samples(const struct by_quantizing *q)
{
    return q->settings->measures || by_recipe_needs_data(q->options.recipe);
}

void by_quantizing_head(const struct by_quantizing *q, struct by_out *out)
{
    char text[512];
    const struct by_recipe *recipe = q->options.recipe;
    const struct by_stats *stats = q->quantization.stats;
    const char *recipe_line = recipe_text(recipe, text, sizeof text);
    by_running_line(out, "model", q->loaded.name, NULL);
    by_running_line(out, "config", recipe->preset ? recipe->preset : recipe_line,
                    recipe->preset ? recipe_line : NULL);
    if (q->options.stats)
        by_running_line(out, "stats", q->options.stats, NULL);
    else if (needs_samples(q))
        by_running_line(out, "samples",
                        q->options.data ? q->options.data : "random values, for a trial only",
                        q->options.data && stats ? stats->prepared : NULL);
}

struct by_report_head by_quantizing_report_head(const struct by_quantizing *q)
{
    return (struct by_report_head){
        .model = q->loaded.name,
        .config = &q->cli->config,
        .preset = q->options.recipe->preset,
        .stats = q->options.stats,
        .data = q->options.data,
        .random = needs_samples(q) && !q->options.stats && !q->options.data,
    };
}

const struct by_prep *by_quantizing_prep(const struct by_quantizing *q)
{
    return q->quality.input.random ? NULL : &q->quality.input.prep;
}

void by_quantizing_head_json(const struct by_quantizing *q, struct by_json *json)
{
    const struct by_recipe *recipe = q->options.recipe;
    by_json_text(json, "version", baryon_version());
    by_json_text(json, "model", q->loaded.name);
    if (recipe->preset)
        by_json_text(json, "preset", recipe->preset);
    if (q->options.stats)
        by_json_text(json, "stats", q->options.stats);
    if (q->options.data)
        by_json_text(json, "data", q->options.data);
    by_json_bool(json, "random", needs_samples(q) && !q->options.stats && !q->options.data);
    by_json_open(json, "options", '{');
    by_recipe_json(&q->cli->config, json);
    by_json_close(json, '}');
}
