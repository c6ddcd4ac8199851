/* Decides by samples whether rows are split off weights. */
#include "trial/weight_rows.h"

#include "adjust/weight_rows.h"
#include "quant/own_sqnr.h"
#include "trial/trial.h"
#include "trial/wide.h"

/* Weights as they are, clipped where that may be chosen later, and without the rows. */
static size_t list_ways(const struct by_quantization *q, struct by_candidate ways[3])
{
    const struct by_recipe *recipe = &q->recipe;
    struct by_candidate as_is = by_trial_unedited(q);
    const bool clips =
        recipe->other_weight_method && recipe->weight.method == by_calibrator_find("minmax");
    as_is.edits[BY_EDIT_WIDE] = by_wide_that_judges(recipe);
    ways[0] = ways[1] = ways[2] = as_is;
    ways[0].edits[BY_EDIT_WEIGHT_ROWS] = 1;
    ways[2].edits[BY_EDIT_WEIGHT_METHOD] = 1;
    return clips ? 3 : 2;
}

static void report_rows(struct by_quantization *q, const struct by_weight_rows_report *report,
                        const struct by_trial_score *split, const struct by_trial_score *whole)
{
    struct by_choice_made *made = by_trial_report_choice(q, BY_EDIT_WEIGHT_ROWS, 1, split, whole);
    made->tensors = report->layers;
    made->macs_share = report->share;
    by_log(
        q->options->log, BY_LOG_NOTICE,
        "rows that decide the scale of a weight get a product of their own (%zu, of %zu layers): "
        "%.1f dB better on held-out samples; --weight-rows-auto=false keeps them",
        report->rows, report->layers, made->gain);
}

static int choose_rows(struct by_quantization *q, const struct by_weight_rows_report *report,
                       struct by_candidate *best, struct baryon_error *err)
{
    const struct by_trial_question questions[] = {{BY_VERDICT_WEIGHT_ROWS, 0, 1},
                                                  {BY_VERDICT_WEIGHT_ROWS, 0, 2}};
    struct by_candidate ways[3];
    struct by_trial_score scores[3];
    const size_t count = list_ways(q, ways);
    size_t other = 1, samples;
    bool good;
    if (by_trial_ask_good(q->trial, &ways[1], &good, err) < 0)
        return -1;
    if (good)
        return 0;
    if (by_trial_ask(q->trial, ways, count, questions, count - 1, scores, err) < 0)
        return -1;
    for (size_t i = 1; i < count; i++) {
        if (!by_trial_prefers(q, BY_VERDICT_WEIGHT_ROWS, &scores[0], &scores[i]))
            return 0;
        if (by_trial_gain(&scores[i], &scores[other], &samples).decibels > 0)
            other = i;
    }
    best->edits[BY_EDIT_WEIGHT_ROWS] = 1;
    report_rows(q, report, &scores[0], &scores[other]);
    return 0;
}

/* Solving finds integers, which no coarse step helps, and judges them itself. */
static bool is_open(const struct by_quantization *q)
{
    return q->recipe.weight_rows_auto && q->recipe.rounding == BY_ROUNDING_NEAREST &&
           q->options->recipe == &q->recipe && by_recipe_needs_data(&q->recipe) &&
           q->plan->node_count <= BY_TRIAL_NODES_MOST && by_trial_has_samples(q);
}

int by_split_rows_of_weights(struct by_quantization *q, bool *changed, struct baryon_error *err)
{
    struct by_candidate best = {{0}};
    struct by_weight_rows_report report;
    *changed = false;
    if (!is_open(q))
        return 0;
    if (by_weight_rows_survey(q->plan, &report, err) < 0)
        return -1;
    if (!report.layers)
        return 0;
    if ((!q->trial && by_trial_open(&q->trial, q, 3, err) < 0) ||
        choose_rows(q, &report, &best, err) < 0 ||
        by_trial_adopt(q->trial, &best, changed, err) < 0)
        return -1;
    by_log(q->options->log, BY_LOG_INFO, "rows of weights %s: %zu of %zu layers",
           *changed ? "split off" : "stay: samples do not gain by it", report.rows, report.layers);
    if (*changed) {
        by_trial_close(q->trial);
        q->trial = NULL;
    }
    return 0;
}
