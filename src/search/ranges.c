/* Chooses factors of ranges, and has held-out samples confirm them. */
#include "search/ranges.h"

#include "onnx/load.h"
#include "quant/floats.h"
#include "quant/range_factor.h"
#include "search/decision.h"
#include "trial/trial.h"

#include <math.h>

#define SAMPLES ((size_t)8)   /* to measure on, at most */
#define RUNS    ((size_t)480) /* that the noise of all activations takes, about */
#define TUNED   ((size_t)24)  /* activations that are measured with each factor, at most */
#define WORK    3e11 /* multiply-adds that the noise takes, about: fewer runs of large models */
#define FEWEST  ((size_t)64) /* runs */
#define WORTH   0.05         /* dB on the samples that chose: less is not judged */

struct choosing {
    struct by_quantization *q;
    struct baryon_model *exact; /* before passes that simulate hardware; NULL: the model itself */
    struct by_judge *judge;
    struct by_decisions d;
    double *chosen; /* by source */
    double gain;    /* dB of activations alone, on the samples that chose */
};

/* --- Samples --- */

static bool asks(const struct by_quantization *q)
{
    for (size_t i = 0; i < q->plan->rows.count; i++)
        if (by_range_factor_fits(&q->plan->rows.at[i]))
            return true;
    return false;
}

static int refuse(const struct by_quantization *q, struct baryon_error *err)
{
    if (by_trial_has_samples(q))
        return 0;
    by_fail(err, BARYON_ERR_USAGE, "--activation-method output requires samples, %s",
            q->options->stats ? "statistics (--stats) contain none"
                              : "those of the caller come only once");
    return by_err_hint(err, q->options->stats ? "give samples with --data, or another method"
                                              : "provide rewind, or another method");
}

static int begin_samples_again(const struct by_quantization *q, struct baryon_error *err)
{
    const struct by_input_callback *samples = q->options->calibrate.samples;
    return samples ? samples->rewind(samples->context, err) : 0;
}

static int open_measuring_judge(struct choosing *choosing, struct baryon_error *err)
{
    const struct by_quantization *q = choosing->q;
    struct by_judge_options options = {
        .data = q->options->data,
        .samples = q->options->calibrate.samples,
        .input = q->options->calibrate.input,
        .session = q->options->calibrate.session,
        .aside = SAMPLES,
        .most = SAMPLES,
        .unsaturated = true,
    };
    options.input.log = NULL;
    if (begin_samples_again(q, err) < 0 ||
        (q->exact.count && by_frame_copy(&q->exact, &choosing->exact, err) < 0) ||
        by_judge_open(&choosing->judge, choosing->exact ? choosing->exact : q->model, &options,
                      err) < 0 ||
        by_judge_references(choosing->judge, q->pool, err) < 0)
        return -1;
    return begin_samples_again(q, err);
}

/* --- Measuring --- */

static bool go_on_with_ranges(void *context, const char *what, size_t done, size_t all)
{
    const struct by_calibrate_options *calibrate = context;
    const struct by_calibrate_progress now = {
        .stage = what, .unit = "activations", .done = done, .total = all};
    return !calibrate->progress || !calibrate->progress(calibrate->context, &now);
}

static size_t runs_of(const struct by_quantization *q)
{
    double macs = 1;
    for (size_t i = 0; i < q->plan->node_count; i++)
        macs += q->plan->nodes[i].macs;
    const double most = WORK / macs;
    return most > (double)RUNS ? RUNS : most > (double)FEWEST ? (size_t)most : FEWEST;
}

static int measure(struct choosing *choosing, struct baryon_error *err)
{
    static const struct by_target_ladder none;
    struct by_quantization *q = choosing->q;
    struct by_calibrate_options calibrate = q->options->calibrate;
    const struct by_decide_options options = {.activations = true,
                                              .runs = runs_of(q),
                                              .progress = go_on_with_ranges,
                                              .context = &calibrate};
    struct by_decisions *d = &choosing->d;
    if (by_decisions_open(d, q, choosing->judge, &none, &options, err) < 0)
        return -1;
    choosing->chosen = by_alloc(d->source_count + 1, sizeof *choosing->chosen, err);
    return !choosing->chosen || by_decisions_measure(d, err) < 0
               ? -1
               : by_decisions_ranges(d, TUNED, choosing->chosen, &choosing->gain, err);
}

/* --- What comes of it --- */

static int list_choice(struct choosing *choosing, size_t *sources, struct baryon_error *err)
{
    struct by_quantization *q = choosing->q;
    const struct by_quant_plan *plan = q->plan;
    size_t count = 0;
    q->factors = by_alloc(plan->rows.count + 1, sizeof *q->factors, err);
    if (!q->factors)
        return -1;
    *sources = 0;
    for (size_t i = 0; i < choosing->d.source_count; i++) {
        *sources += choosing->chosen[i] != 1;
        for (size_t k = 0; choosing->chosen[i] != 1 && k < plan->rows.count; k++)
            if (by_decisions_has_range(&choosing->d, i, k))
                q->factors[count++] =
                    (struct by_range_factor){plan->rows.at[k].value->name, choosing->chosen[i]};
    }
    by_range_factors_sort(q->factors, count);
    q->recipe.factors.at = q->factors;
    q->recipe.factors.count = count;
    return 0;
}

static int choose_factors(struct choosing *choosing, size_t *sources, struct baryon_error *err)
{
    struct by_quantization *q = choosing->q;
    const bool borrows = q->floats.count > 0; /* decisions read the float model there */
    if (!borrows && by_frame_take(&q->floats, q->model, err) < 0)
        return -1;
    int status = open_measuring_judge(choosing, err);
    if (status == 0)
        status = measure(choosing, err);
    if (status == 0)
        status = list_choice(choosing, sources, err);
    by_decisions_close(&choosing->d);
    by_judge_close(choosing->judge);
    by_model_free(choosing->exact);
    by_free(choosing->chosen);
    if (!borrows)
        by_frame_release(&q->floats);
    return status;
}

/* --- Judging --- */

static void report_ranges(struct by_quantization *q, size_t sources,
                          const struct by_trial_score *with, const struct by_trial_score *without)
{
    struct by_choice_made *made =
        by_trial_report_choice(q, BY_EDIT_RANGES, (int)sources, with, without);
    made->tensors = sources;
    made->undone = !q->recipe.factors.on;
    by_log(q->options->log, BY_LOG_NOTICE,
           made->undone ? "%s: %.1f dB better on held-out samples, which is not sure; the step is "
                          "undone"
                        : "%s: %.1f dB better on held-out samples",
           made->text, made->gain);
}

static int judge(struct by_quantization *q, size_t sources, struct baryon_error *err)
{
    struct by_candidate candidates[2] = {{.edits = {[BY_EDIT_BIASES] = q->corrects}}};
    struct by_trial_score scores[2];
    struct by_trial *trial;
    candidates[1] = candidates[0];
    candidates[1].edits[BY_EDIT_RANGES] = (int)sources;
    const struct by_trial_question question = {BY_VERDICT_RANGES, 1, 0};
    if (by_trial_open_calibrated(&trial, q, 2, true, err) < 0)
        return -1;
    const int status = by_trial_ask(trial, candidates, 2, &question, 1, scores, err);
    if (status == 0) {
        q->recipe.factors.on = by_trial_prefers(q, BY_VERDICT_RANGES, &scores[1], &scores[0]);
        report_ranges(q, sources, &scores[1], &scores[0]);
    }
    by_trial_close(trial);
    return status;
}

int by_output_ranges(struct by_quantization *q, struct baryon_error *err)
{
    struct choosing choosing = {.q = q};
    size_t sources = 0;
    if (!asks(q) || q->options->recipe != &q->recipe)
        return 0;
    if (refuse(q, err) < 0)
        return -1;
    if (q->plan->node_count > BY_TRIAL_NODES_MOST) {
        by_log(q->options->log, BY_LOG_NOTICE,
               "--activation-method output: ranges are those of the tensors' own error, as the "
               "model has more than %d nodes",
               BY_TRIAL_NODES_MOST);
        return 0;
    }
    if (by_floats_align(q->model, err) < 0 || choose_factors(&choosing, &sources, err) < 0)
        return -1;
    by_log(q->options->log, BY_LOG_INFO,
           "ranges by the outputs: %zu activations change, %.2f dB better with float weights",
           sources, choosing.gain);
    return sources && choosing.gain > WORTH ? judge(q, sources, err) : 0;
}
