/* Runs the stages of a quantization in order. */
#include "quantize/quantize.h"
#include "quantize/contradict.h"

#include "base/capacity.h"
#include "base/file.h"
#include "base/thread.h"
#include "convert/convert.h"
#include "ir/infer.h"
#include "ir/tensor.h"
#include "pass/retype.h"
#include "quant/known.h"
#include "quant/lower.h"
#include "quant/params.h"
#include "quant/place.h"
#include "quant/plan_view.h"
#include "quant/refine.h"
#include "quantize/contradict.h"
#include "quantize/half.h"
#include "quantize/narrow.h"
#include "quantize/refuse.h"
#include "quantize/sizes.h"
#include "quantize/twice.h"
#include "rounding/rounding.h"
#include "trial/biases.h"
#include "trial/choices.h"
#include "trial/equalize.h"
#include "trial/rotate.h"
#include "trial/smooth.h"
#include "trial/split.h"
#include "trial/trial.h"
#include "trial/weight_rows.h"

#include <string.h>

/* --- Stages and their times --- */

typedef int stage_fn(struct by_quantization *q, struct baryon_error *err);

static int run_stage(struct by_quantization *q, const char *name, stage_fn *stage,
                     struct baryon_error *err)
{
    const double begin = by_seconds();
    const int status = stage(q, err);
    struct by_quantize_report *report = &q->report;
    report->stages[report->stage_count].stage = name;
    report->stages[report->stage_count++].seconds = by_seconds() - begin;
    return status;
}

/* --- Refuse, exclude, passes --- */

static int settle_half(struct by_quantization *q, struct baryon_error *err)
{
    const bool widens = by_quantize_widens(q->model, q->options->recipe);
    q->recipe = *q->options->recipe;
    q->settled = *q->options;
    q->settled.recipe = &q->recipe;
    q->options = &q->settled;
    q->recipe.half_floats = widens ? BY_HALF_TO_FLOAT32 : BY_HALF_KEPT;
    return by_quantize_refuse_half(q->model, &q->recipe, err);
}

/* What a file of passes makes of the model; all that follows speaks of that. */
static int apply_file_of_passes(struct by_quantization *q, struct baryon_error *err)
{
    struct by_arena arena;
    struct by_convert steps = {.arena = &arena};
    const char *path = q->options->recipe->passes_from;
    if (!path)
        return 0;
    by_arena_init(&arena, 0);
    int status = by_convert_read_passes(&steps, path, q->options->log, err);
    if (status == 0)
        status = by_convert_run(&steps, q->model, &q->options->calibrate.session, q->options->log,
                                NULL, err);
    by_arena_release(&arena);
    return status;
}

static int refuse_unfit_model(struct by_quantization *q, struct baryon_error *err)
{
    if (apply_file_of_passes(q, err) < 0 || by_quantize_refuse(q->model, q->options, err) < 0 ||
        settle_half(q, err) < 0)
        return -1;
    return q->options->stats ? by_model_content_hash(q->model, &q->original, err) : 0;
}

static int exclude(struct by_quantization *q, struct baryon_error *err)
{
    if (by_origins_open(&q->origins, q->model, err) < 0)
        return -1;
    return by_exclude_resolve(q->options->recipe, q->model, q->origins, q->options->log, err);
}

/* To convert to, 0: none. Raised by itself where nothing could be written otherwise; the peer
 * never does. */
static int64_t wanted_opset(const struct by_quantization *q)
{
    const struct by_recipe *recipe = q->options->recipe;
    const int64_t least = by_quant_least_opset(recipe), has = by_model_opset(q->model, "");
    if (recipe->opset || recipe->compat || !by_quant_must_raise(recipe, has))
        return recipe->opset;
    by_log(q->options->log, BY_LOG_NOTICE,
           "the model is converted from opset %lld to %lld, which supports the requested types",
           (long long)has, (long long)least);
    return least;
}

/* Whoever compares on samples compares with what the model computes, not with what simulates
 * hardware. */
static bool compares(const struct by_recipe *recipe)
{
    return recipe->rounding != BY_ROUNDING_NEAREST || recipe->cle != BY_CLE_OFF ||
           recipe->smooth != BY_SMOOTH_OFF || recipe->rotate != BY_ROTATE_OFF ||
           recipe->split != BY_SPLIT_OFF;
}

static int keep_exact(void *context, struct baryon_error *err)
{
    struct by_quantization *q = context;
    return by_frame_take(&q->exact, q->model, err);
}

/* What is float16 or bfloat16 becomes float32, but for what is excluded. */
static int widen_half_floats(const struct by_quantization *q, struct by_pass_context *context,
                             bool *on, struct baryon_error *err)
{
    static const struct by_retype_options around = {.keep_io = true, .keep_excluded = true};
    if (q->options->recipe->half_floats != BY_HALF_TO_FLOAT32)
        return 0;
    by_log(q->options->log, BY_LOG_NOTICE,
           "16-bit float computations of the model become float32; its inputs and outputs keep "
           "their types");
    context->retype = &around;
    return by_pass_switch(on, "fp16-to-fp32", true, err) < 0
               ? -1
               : by_pass_switch(on, "bf16-to-fp32", true, err);
}

static int run_passes(struct by_quantization *q, struct baryon_error *err)
{
    struct by_pass_context context = {
        .model = q->model,
        .origins = q->origins,
        .log = q->options->log,
        .session = &q->options->calibrate.session,
        .opset = wanted_opset(q),
        .compat = q->options->recipe->compat,
        .exact = compares(q->options->recipe) ? keep_exact : NULL,
        .exact_context = q,
    };
    size_t count;
    by_passes(&count);
    bool *on = by_alloc_zero(count, sizeof *on, err);
    int status = on ? by_quantize_choose_passes(q->options->recipe, on, err) : -1;
    if (status == 0)
        status = widen_half_floats(q, &context, on, err);
    if (status == 0)
        status = by_passes_run(&context, on, q->options->dump_passes, err);
    by_free(on);
    return status;
}

/* --- Placement --- */

static int place_with(struct by_quantization *q, const struct by_log *log, struct baryon_error *err)
{
    if (by_model_settle(q->model, err) < 0 || by_model_infer(q->model, NULL, err) < 0 ||
        by_quant_plan_open(&q->plan, q->model, q->options->recipe, err) < 0 ||
        by_place(q->plan, q->origins, log, err) < 0)
        return -1;
    return by_quantize_refuse_empty(q->plan, err);
}

static int place_pairs(struct by_quantization *q, struct baryon_error *err)
{
    return place_with(q, q->options->log, err);
}

static int place_again(struct by_quantization *q, struct baryon_error *err)
{
    by_quant_plan_close(q->plan);
    q->plan = NULL;
    return place_with(q, NULL, err);
}

static int choose_config(struct by_quantization *q, struct baryon_error *err)
{
    bool changed;
    if (by_choose(q, &changed, err) < 0)
        return -1;
    return changed ? place_again(q, err) : 0;
}

/* After weights have changed. */
static int begin_again(struct by_quantization *q, bool changed, struct baryon_error *err)
{
    if (!changed)
        return 0;
    by_frame_release(&q->exact); /* it has other weights now */
    return place_again(q, err);
}

static int rotate(struct by_quantization *q, struct baryon_error *err)
{
    bool changed = false;
    return by_rotate(q, &changed, err) < 0 ? -1 : begin_again(q, changed, err);
}

static int smooth(struct by_quantization *q, struct baryon_error *err)
{
    bool changed = false;
    return by_smooth(q, &changed, err) < 0 ? -1 : begin_again(q, changed, err);
}

static int split_outliers(struct by_quantization *q, struct baryon_error *err)
{
    bool changed = false;
    return by_split_outliers(q, &changed, err) < 0 ? -1 : begin_again(q, changed, err);
}

static int split_weight_rows(struct by_quantization *q, struct baryon_error *err)
{
    bool changed = false;
    return by_split_rows_of_weights(q, &changed, err) < 0 ? -1 : begin_again(q, changed, err);
}

static int equalize(struct by_quantization *q, struct baryon_error *err)
{
    bool changed = false;
    const int status = by_equalize(q, &changed, err);
    by_trial_end(q->trial, changed || status < 0);
    q->trial = NULL;
    by_trial_rest(q);
    if (status < 0)
        return -1;
    if (changed) {
        by_frame_release(&q->exact); /* it has other weights now */
        if (place_again(q, err) < 0)
            return -1;
    }
    q->report.excluded.nodes = by_place_spared(q->plan);
    by_quantize_tell_narrow(q);
    return 0;
}

/* --- Room on the disk --- */

/* Weights are nearly all that a large model has. */
static uint64_t bytes_of_weights(const struct baryon_graph *graph)
{
    uint64_t all = 0;
    for (size_t i = 0; i < graph->initializer.count; i++) {
        const struct baryon_tensor *tensor = graph->initializer.at[i];
        size_t count, bytes;
        if (tensor && by_tensor_count(tensor, &count, NULL) == 0 &&
            by_elem_bytes(tensor->data_type, count, &bytes, NULL) == 0)
            all += bytes;
    }
    return all;
}

/* Before samples run, and not when the result is written. */
static int check_disk(const struct by_quantization *q, struct baryon_error *err)
{
    if (!q->options->folder)
        return 0;
    const uint64_t bytes = by_plan_predict_size(q->plan, bytes_of_weights(q->model->graph));
    return by_check_disk(q->options->folder, bytes, "the quantized model", err);
}

/* --- Statistics and parameters --- */

static int load_stats(struct by_quantization *q, struct baryon_error *err)
{
    const char *const *names;
    size_t count;
    if (by_quant_wanted(q->plan, &names, &count, err) < 0)
        return -1;
    if (!count && q->options->recipe->rounding == BY_ROUNDING_NEAREST)
        return 0;
    if (by_stats_load(&q->stats, q->options->stats, err) < 0)
        return -1;
    return by_stats_check_use(q->stats, &q->original, names, count, q->options->stats, err);
}

static int calibrate(struct by_quantization *q, struct baryon_error *err)
{
    struct by_calibrate_options options = q->options->calibrate;
    if (check_disk(q, err) < 0)
        return -1;
    if (q->options->stats)
        return load_stats(q, err);
    /* What was begun has means where samples were to judge corrected biases; solving asks samples
     * whether these are better than what it found. */
    const bool judges = q->begun || q->options->recipe->rounding != BY_ROUNDING_NEAREST;
    if ((q->begun_by_channel
             ? by_trial_want_channels(q->plan, &options, err)
             : by_trial_want(q->plan,
                             judges ? by_biases_need_means(q->options->recipe) : q->corrects,
                             &options, err)) < 0)
        return -1;
    if (!options.name_count)
        return 0;
    options.model = options.data = "";
    options.begun = &q->begun;
    options.lanes = q->lanes;
    options.store = q->options->store;
    if (by_choose_holds_out(q)) {
        options.part = &q->part;
        options.aside = BY_TRIAL_ASIDE;
    }
    return by_calibrate(&q->stats, q->model, q->options->data, &options, &q->report.calibration,
                        err);
}

static int find_params(struct by_quantization *q, struct baryon_error *err)
{
    q->plan->known = q->known;
    return by_quantize_count_macs(q, err) ? -1
                                          : by_quant_find_params(q->plan, q->stats, q->pool, err);
}

#define CONTRADICTIONS_MAX 64

static int refine(struct by_quantization *q, struct baryon_error *err)
{
    bool left = true;
    for (unsigned i = 0; left && i < CONTRADICTIONS_MAX; i++) {
        if (by_refine(q->plan, err) < 0 || by_quantize_leave_contradiction(q, &left, err) < 0)
            return -1;
        if (!left)
            return 0;
        if (place_again(q, err) < 0 || find_params(q, err) < 0)
            return -1;
    }
    return by_refine(q->plan, err);
}

/* Choices that share what calibration saw. */
static int plan_again(struct by_quantization *q, bool changed, struct baryon_error *err)
{
    if (!changed)
        return 0;
    return place_again(q, err) < 0 || find_params(q, err) < 0 || refine(q, err) < 0 ? -1 : 0;
}

static int choose_again(struct by_quantization *q, struct baryon_error *err)
{
    bool changed, more;
    if (by_choose_calibrated(q, &changed, &more, err) < 0 || plan_again(q, changed, err) < 0)
        return -1;
    if (!more)
        return 0;
    return by_choose_methods(q, &changed, err) < 0 ? -1 : plan_again(q, changed, err);
}

static int choose_ranges(struct by_quantization *q, struct baryon_error *err)
{
    if (!q->options->choose_ranges)
        return 0;
    if (q->options->choose_ranges(q, err) < 0)
        return -1;
    return plan_again(q, q->recipe.factors.on, err);
}

static int correct(struct by_quantization *q, struct baryon_error *err)
{
    if (q->options->keeps_float && by_frame_take(&q->floats, q->model, err) < 0)
        return -1;
    if (!q->corrects || !q->stats)
        return 0;
    return by_biases_correct(q->plan, q->stats, q->pool, q->options->log, err);
}

static int lower_quantized(struct by_quantization *q, struct baryon_error *err)
{
    by_quantize_tell_twice(q);
    if (by_lower(q->plan, q->pool, err) < 0)
        return -1;
    if (!q->options->recipe->all_value_info)
        return 0;
    return by_model_settle(q->model, err) < 0 || by_model_infer(q->model, NULL, err) < 0
               ? -1
               : by_model_declare(q->model, err);
}

/* --- The whole --- */

int by_quantization_open(struct by_quantization *q, struct baryon_model *model,
                         const struct by_quantize_options *options, struct baryon_error *err)
{
    *q = (struct by_quantization){
        .model = model,
        .options = options,
        .corrects = by_biases_corrected(options->recipe),
    };
    if (by_pool_open(&q->pool, options->calibrate.session.threads, err) < 0 ||
        by_known_open(&q->known, err) < 0 || run_stage(q, "check", refuse_unfit_model, err) < 0 ||
        run_stage(q, "exclude", exclude, err) < 0 || run_stage(q, "passes", run_passes, err) < 0 ||
        run_stage(q, "place", place_pairs, err) < 0 ||
        run_stage(q, "choose", choose_config, err) < 0 || run_stage(q, "rotate", rotate, err) < 0 ||
        run_stage(q, "smooth", smooth, err) < 0 || run_stage(q, "split", split_outliers, err) < 0 ||
        run_stage(q, "rows", split_weight_rows, err) < 0 ||
        run_stage(q, "equalize", equalize, err) < 0 ||
        run_stage(q, "calibrate", calibrate, err) < 0 ||
        run_stage(q, "parameters", find_params, err) < 0 ||
        run_stage(q, "refine", refine, err) < 0 || run_stage(q, "compare", choose_again, err) < 0 ||
        choose_ranges(q, err) < 0 || run_stage(q, "biases", correct, err) < 0 ||
        run_stage(q, "round", by_rounding_solve, err) < 0)
        return -1;
    return 0;
}

#define SPILL_FROM ((uint64_t)64 << 20)

void by_quantization_spill(struct by_quantization *q, const char *out, uint64_t bytes)
{
    char folder[4096];
    if (bytes >= SPILL_FROM && by_folder_of(out, folder, sizeof folder))
        (void)by_model_spill(q->model, folder, (size_t)bytes * 2, NULL);
}

int by_quantization_lower(struct by_quantization *q, struct baryon_error *err)
{
    return run_stage(q, "lower", lower_quantized, err);
}

void by_quantization_close(struct by_quantization *q)
{
    by_frame_release(&q->exact);
    by_frame_release(&q->floats);
    by_free(q->report.solved.layers);
    by_free(q->own);
    by_free((void *)q->joins);
    by_free(q->factors);
    by_known_close(q->known);
    by_trial_close(q->trial);
    by_trial_forget(q);
    by_stats_close(q->begun);
    by_stats_close(q->part);
    by_stats_close(q->stats);
    by_quant_plan_close(q->plan);
    by_origins_close(q->origins);
    by_pool_close(q->pool);
    *q = (struct by_quantization){0};
}
