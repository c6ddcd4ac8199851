/* Judges the quantized model before and after its layers are solved, and takes them back. */
#include "adjust/bias_correct.h"
#include "base/thread.h"
#include "onnx/load.h"
#include "quant/lower.h"
#include "quant/plan_copy.h"
#include "rounding/rounding_internal.h"
#include "trial/biases.h"
#include "trial/verdict.h"

static bool has_steps(const struct by_rounding_run *run)
{
    for (size_t i = 0; i < run->layer_count; i++)
        if (by_rounding_has_steps(run->q->plan, &run->layers[i]))
            return true;
    return false;
}

/* --- What may be taken back --- */

/* Biases that are solved, and those that may be corrected. */
static int list_biases(struct by_rounding_run *run, const struct by_bias_job *job,
                       struct baryon_error *err)
{
    const size_t count = run->layer_count + job->layer_count;
    struct baryon_value **biases = by_alloc(count + 1, sizeof *biases, err);
    if (!biases)
        return -1;
    for (size_t i = 0; i < run->layer_count; i++)
        biases[i] = run->layers[i].bias;
    for (size_t i = 0; i < job->layer_count; i++)
        biases[run->layer_count + i] = by_node_in(job->layers[i].node, 2);
    const int status = by_snapshot_take(&run->as_came, run->q->plan, biases, count, err);
    by_free(biases);
    return status;
}

int by_rounding_remember(struct by_rounding_run *run, struct baryon_error *err)
{
    struct by_bias_job job;
    int status = by_bias_survey(run->q->plan, &job, err);
    if (status == 0)
        status = list_biases(run, &job, err);
    by_bias_close(&job);
    return status;
}

/* --- Judging --- */

/* What sessions that are closed had, and pages of the model's file, which copies look at as well.
 */
void by_rounding_give_back(const struct by_rounding_run *run)
{
    by_trim_memory();
    by_model_pages_done(run->q->model);
}

struct resting {
    const struct by_rounding_run *run;
    const struct by_stages_rest *rest;
    struct by_judgement *each;
};

static int judge_values(void *context, size_t sample, const struct by_array *values, size_t count,
                        struct baryon_error *err)
{
    const struct resting *resting = context;
    const size_t place = sample - resting->run->train;
    return by_judge_outputs(resting->run->judge, place, values, count, &resting->each[place], err);
}

static int run_rest(void *context, size_t begin, size_t end, unsigned worker,
                    struct baryon_error *err)
{
    struct resting *resting = context;
    for (size_t i = begin; i < end; i++)
        if (by_stages_rest_run(resting->rest, resting->run->train + i, worker, judge_values,
                               resting, err) < 0)
            return -1;
    return 0;
}

static int judge_values_of(const struct by_rounding_run *run, struct baryon_value **values,
                           size_t count, struct by_judgement *each, struct baryon_error *err)
{
    struct by_stages_rest *rest;
    if (by_stages_rest_open(&rest, run->rounded, values, count, err) < 0)
        return -1;
    struct resting resting = {run, rest, each};
    const int status = by_par_for(run->q->pool, run->judging, 1, run_rest, &resting, err);
    by_stages_rest_close(rest);
    return status;
}

/* After all layers: what the stages have not run yet. done: false where some of what is judged
 * has gone, or is a constant. */
static int judge_rest(const struct by_rounding_run *run, struct by_judgement *each, bool *done,
                      struct baryon_error *err)
{
    struct baryon_graph *graph = run->copy.model->graph;
    struct baryon_value **values =
        by_alloc(graph->output.count + BY_JUDGE_MORE, sizeof *values, err);
    if (!values)
        return -1;
    const size_t count = by_judge_values(run->judge, graph, values);
    *done = true;
    for (size_t i = 0; i < count; i++)
        *done = *done && values[i] && by_stages_may_reach(run->rounded, values[i]);
    const int status = *done ? judge_values_of(run, values, count, each, err) : 0;
    by_free(values);
    return status;
}

static int judge_model(const struct by_rounding_run *run, struct baryon_model *model,
                       struct by_judgement *each, struct baryon_error *err)
{
    by_rounding_give_back(run);
    const int status = by_judge_model(run->judge, model, run->q->pool, each, err);
    by_rounding_give_back(run);
    return status;
}

/* --- Nearest integers, with biases that are corrected as they are where nothing is solved --- */

static bool may_correct(const struct by_rounding_run *run)
{
    const struct by_recipe *recipe = run->q->options->recipe;
    return run->q->stats && recipe->approach == BY_APPROACH_STATIC && !recipe->compat &&
           recipe->rounding_biases && recipe->bias_correction == BY_BIASES_KEPT &&
           !recipe->rounding_op_types.count && by_biases_need_means(recipe) && !has_steps(run);
}

static int correct(const struct by_rounding_run *run, const struct by_log *log,
                   struct baryon_error *err)
{
    return by_biases_correct(run->q->plan, run->q->stats, run->q->pool, log, err);
}

static int judge_draft(const struct by_rounding_run *run, struct by_judgement *each,
                       struct baryon_error *err)
{
    struct by_frame frame = {0};
    struct by_draft draft = {0};
    int status = by_frame_take(&frame, run->q->model, err);
    if (status == 0)
        status = by_draft_open_planned(&draft, &frame, run->q->plan,
                                       BY_ROLES_WEIGHTS | BY_ROLES_ACTIVATIONS, NULL, err);
    if (status == 0)
        status = by_lower(draft.plan, run->q->pool, err);
    if (status == 0)
        status = judge_model(run, draft.model, each, err);
    by_draft_close(&draft);
    by_frame_release(&frame);
    return status;
}

static int try_corrected(const struct by_rounding_run *run, struct by_judgement *corrected,
                         struct baryon_error *err)
{
    return correct(run, NULL, err) < 0 || judge_draft(run, corrected, err) < 0
               ? -1
               : by_snapshot_restore(&run->as_came, run->q->plan, err);
}

static int judge_corrected(const struct by_rounding_run *run, struct baryon_error *err)
{
    const struct by_judgement *nearest = run->shared->nearest;
    struct by_judgement *corrected = by_alloc_zero(run->judging + 1, sizeof *corrected, err);
    if (!corrected || try_corrected(run, corrected, err) < 0) {
        by_free(corrected);
        return -1;
    }
    by_log(run->q->options->log, BY_LOG_INFO,
           "nearest rounding: %.2f dB, with corrected biases %.2f",
           by_judge_sqnr(nearest, run->judging), by_judge_sqnr(corrected, run->judging));
    if (by_verdict_of(by_threshold(BY_VERDICT_BIASES, false), corrected, nearest, run->judging))
        run->shared->corrected = corrected;
    else
        by_free(corrected);
    return 0;
}

static int judge_nearest(const struct by_rounding_run *run, struct baryon_error *err)
{
    struct by_judgement **nearest = &run->shared->nearest;
    *nearest = by_alloc_zero(run->judging + 1, sizeof **nearest, err);
    if (!*nearest || judge_model(run, run->copy.model, *nearest, err) < 0)
        return -1;
    return may_correct(run) ? judge_corrected(run, err) : 0;
}

/* All ways start from the same. */
static int judge_before(struct by_rounding_run *run, struct by_reconstruct_score *score,
                        struct baryon_error *err)
{
    if (!run->shared->nearest && judge_nearest(run, err) < 0)
        return -1;
    run->before = run->shared->nearest;
    *score = (struct by_reconstruct_score){.sqnr = by_judge_sqnr(run->before, run->judging)};
    return 0;
}

/* Better than nearest integers, and not clearly worse than these with corrected biases. */
static void compare_solved(const struct by_rounding_run *run, const struct by_judgement *solved,
                           struct by_reconstruct_score *score)
{
    const struct by_threshold *threshold = by_threshold(BY_VERDICT_SOLVED, has_steps(run));
    const struct by_judgement *corrected = run->shared->corrected;
    score->better = by_verdict_of(threshold, solved, run->before, run->judging);
    if (corrected && score->better)
        score->better = !by_verdict_of(by_threshold(BY_VERDICT_UNSOLVED, false), corrected, solved,
                                       run->judging);
    score->against =
        by_judge_sqnr(corrected && !score->better ? corrected : run->before, run->judging);
}

int by_rounding_judge(void *context, struct by_reconstruct_score *score, struct baryon_error *err)
{
    struct by_rounding_run *run = context;
    if (!run->before)
        return judge_before(run, score, err);
    struct by_judgement *each = by_alloc_zero(run->judging + 1, sizeof *each, err);
    bool done = false;
    int status = each ? judge_rest(run, each, &done, err) : -1;
    if (status == 0 && !done)
        status = judge_model(run, run->copy.model, each, err);
    if (status == 0) {
        score->sqnr = by_judge_sqnr(each, run->judging);
        compare_solved(run, each, score);
    }
    by_free(each);
    return status;
}

int by_rounding_undo(void *context, struct baryon_error *err)
{
    struct by_rounding_run *run = context;
    if (by_snapshot_restore(&run->as_came, run->q->plan, err) < 0)
        return -1;
    return run->shared->corrected ? correct(run, run->q->options->log, err) : 0;
}
