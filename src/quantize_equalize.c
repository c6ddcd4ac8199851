#include "quantize_equalize.h"

#include "ir/infer.h"
#include "onnx/load.h"
#include "onnx/save.h"
#include "quant/lower.h"
#include "quant/params.h"
#include "quant/place.h"
#include "quant/refine.h"
#include "report/judge.h"
#include "solve/cle.h"

#define LOOK  4   /* samples that candidates get their ranges from */
#define ASIDE 4   /* samples behind those, which judge */
#define GAIN  0.1 /* dB that a change of the model has to bring */
#define WORTH 1.0 /* bits of spread below which there is nothing to win by trying */

static const char *mode_name(enum by_cle_mode mode)
{
    static const char *const names[] = {
        [BY_CLE_OFF] = "off",         [BY_CLE_AUTO] = "auto", [BY_CLE_EXACT] = "exact",
        [BY_CLE_REPLACE] = "replace", [BY_CLE_KEEP] = "keep",
    };
    return names[mode];
}

/* --- A model with its plan; the candidates' are copies --- */

struct candidate {
    struct by_quantization *q; /* what it is a copy of */
    struct by_str bytes;       /* that the model is a view of */
    struct baryon_model *model;
    struct by_origins *origins;
    struct by_quant_plan *plan;
    struct by_stats *stats;
    double sqnr;
};

static void candidate_close(struct candidate *candidate)
{
    by_stats_close(candidate->stats);
    by_quant_plan_close(candidate->plan);
    by_origins_close(candidate->origins);
    by_model_free(candidate->model);
    by_str_release(&candidate->bytes);
}

static int copy_model(struct candidate *candidate, struct baryon_error *err)
{
    struct by_str *bytes = &candidate->bytes;
    if (by_model_settle(candidate->q->model, err) < 0 ||
        by_model_save_bytes(candidate->q->model, bytes, err) < 0)
        return -1;
    return by_model_load_bytes(&candidate->model, bytes->text, bytes->size, NULL, NULL, err);
}

/* Nodes of a copy stand where the original's do, and stay float where those do. */
static int copy_exclusions(struct candidate *candidate, struct baryon_error *err)
{
    const struct by_ptrs *nodes = &candidate->q->model->graph->node;
    if (by_origins_open(&candidate->origins, candidate->model, err) < 0)
        return -1;
    size_t count;
    struct by_user_node *user = by_origins_user(candidate->origins, &count);
    for (size_t i = 0; i < candidate->model->graph->node.count; i++) {
        size_t from_count;
        const char *why = by_origins_excluded(candidate->q->origins, nodes->at[i]);
        const size_t *from =
            by_origins_of(candidate->origins, candidate->model->graph->node.at[i], &from_count);
        for (size_t k = 0; why && k < from_count; k++) {
            user[from[k]].excluded = true;
            user[from[k]].why = why;
        }
    }
    return 0;
}

static int place(struct candidate *candidate, struct baryon_error *err)
{
    by_quant_plan_close(candidate->plan);
    candidate->plan = NULL;
    if (by_model_settle(candidate->model, err) < 0 ||
        by_model_infer(candidate->model, NULL, err) < 0)
        return -1;
    const struct by_recipe *recipe = candidate->q->options->recipe;
    if (by_quant_plan_open(&candidate->plan, candidate->model, recipe, err) < 0)
        return -1;
    return by_place(candidate->plan, candidate->origins, err);
}

/* --- Looking at a few samples --- */

static int look(const struct by_quantization *q, struct baryon_model *model,
                struct by_quant_plan *plan, struct by_stats **stats, struct baryon_error *err)
{
    struct by_calibrate_options options = q->options->calibrate;
    if (by_quant_wanted(plan, &options.names, &options.name_count, err) < 0)
        return -1;
    options.model = options.data = "";
    options.per_channel = true;
    options.checkpoint = NULL;
    options.progress = NULL;
    options.input.log = NULL; /* calibration says the same of the same samples */
    options.input.count =
        options.input.count && options.input.count < LOOK ? options.input.count : LOOK;
    return by_calibrate(stats, model, q->options->data, &options, NULL, err);
}

static int open_judge(const struct by_quantization *q, struct by_judge **judge,
                      struct baryon_error *err)
{
    const struct by_calibrate_options *calibrate = &q->options->calibrate;
    struct by_judge_options options = {
        .data = q->options->data,
        .samples = calibrate->samples,
        .input = calibrate->input,
        .session = calibrate->session,
        .first = LOOK,
        .count = ASIDE,
    };
    options.input.log = NULL;
    if (options.input.random)
        options.input.count = LOOK + ASIDE;
    if (by_judge_open(judge, q->model, &options, err) < 0)
        return -1;
    if (by_judge_samples(*judge))
        return 0;
    by_judge_close(*judge);
    options.first = 0;
    return by_judge_open(judge, q->model, &options, err);
}

/* --- Candidates --- */

static int equalize(struct by_quant_plan *plan, struct by_stats *stats, enum by_cle_mode mode,
                    struct by_cle_report *report, struct baryon_error *err)
{
    bool replaced;
    const struct by_cle_options options = {
        .mode = mode,
        .threshold = plan->recipe->cle_threshold,
        .steps = plan->recipe->cle_steps,
    };
    return by_cle_run(plan, stats, &options, report, &replaced, err);
}

/* `seen` are the unchanged model's statistics. */
static int finish(struct candidate *candidate, struct by_stats *seen, enum by_cle_mode mode,
                  struct baryon_error *err)
{
    struct by_cle_report report;
    struct by_pool *pool = candidate->q->pool;
    if (mode != BY_CLE_OFF &&
        (equalize(candidate->plan, seen, mode, &report, err) < 0 || place(candidate, err) < 0 ||
         look(candidate->q, candidate->model, candidate->plan, &candidate->stats, err) < 0))
        return -1;
    struct by_stats *stats = mode == BY_CLE_OFF ? seen : candidate->stats;
    if (by_quant_find_params(candidate->plan, stats, pool, err) < 0 ||
        by_refine(candidate->plan, err) < 0)
        return -1;
    return by_lower(candidate->plan, pool, err);
}

static int try_mode(struct by_quantization *q, struct by_judge *judge, struct by_stats *seen,
                    enum by_cle_mode mode, double *sqnr, struct baryon_error *err)
{
    struct candidate candidate = {.q = q};
    struct by_judgement judgement;
    int status = copy_model(&candidate, err);
    if (status == 0)
        status = by_model_link(candidate.model, err);
    if (status == 0)
        status = copy_exclusions(&candidate, err);
    if (status == 0)
        status = place(&candidate, err);
    if (status == 0)
        status = finish(&candidate, seen, mode, err);
    if (status == 0)
        status = by_judge_model(judge, candidate.model, &judgement, err);
    candidate_close(&candidate);
    *sqnr = status == 0 ? judgement.sqnr : 0;
    if (status == 0)
        by_log(q->options->log, BY_LOG_INFO, "equalization %s: %.2f dB on %zu samples",
               mode_name(mode), *sqnr, by_judge_samples(judge));
    return status;
}

/* Ways through Relu6 are worth a trial where there is one. */
static bool is_worth_it(enum by_cle_mode mode, const struct by_cle_report *survey)
{
    switch (mode) {
    case BY_CLE_REPLACE:
        return survey->relu6 > 0;
    case BY_CLE_KEEP:
        return survey->relu6 > 0 && survey->relu6 < survey->pairs;
    default:
        return true;
    }
}

static int choose(struct by_quantization *q, struct by_stats *seen,
                  const struct by_cle_report *survey, enum by_cle_mode *best,
                  struct baryon_error *err)
{
    static const enum by_cle_mode modes[] = {BY_CLE_OFF, BY_CLE_EXACT, BY_CLE_REPLACE, BY_CLE_KEEP};
    struct by_judge *judge;
    double best_sqnr = 0;
    int status = open_judge(q, &judge, err);
    *best = BY_CLE_OFF;
    for (size_t i = 0; status == 0 && i < sizeof modes / sizeof *modes; i++) {
        double sqnr;
        if (!is_worth_it(modes[i], survey))
            continue;
        status = try_mode(q, judge, seen, modes[i], &sqnr, err);
        if (modes[i] == BY_CLE_OFF || sqnr > best_sqnr + GAIN) {
            *best = modes[i];
            best_sqnr = sqnr;
        }
    }
    by_judge_close(judge);
    return status;
}

/* --- The stage --- */

static int refuse_stats(const struct by_quantization *q, struct baryon_error *err)
{
    if (q->options->recipe->cle == BY_CLE_AUTO) {
        by_log(q->options->log, BY_LOG_NOTICE,
               "no equalization: statistics of an earlier run are of the model as it is");
        return 0;
    }
    by_fail(err, BARYON_ERR_USAGE,
            "equalization changes what flows through the model, statistics of an earlier run do "
            "not hold then");
    return by_err_hint(err, "give samples (--data) instead of --stats, or --cle off");
}

int by_quantize_equalize(struct by_quantization *q, bool *changed, struct baryon_error *err)
{
    enum by_cle_mode mode = q->options->recipe->cle;
    struct by_cle_report report;
    struct by_stats *seen = NULL;
    *changed = false;
    if (mode == BY_CLE_OFF || q->options->recipe->approach != BY_APPROACH_STATIC)
        return 0;
    if (by_cle_survey(q->plan, &report, err) < 0)
        return -1;
    if (!report.pairs)
        return 0;
    if (mode == BY_CLE_AUTO && report.spread < WORTH) {
        by_log(q->options->log, BY_LOG_INFO,
               "equalization off: channels differ by %.2f bits only in %zu pairs of layers",
               report.spread, report.pairs);
        return 0;
    }
    if (q->options->stats)
        return refuse_stats(q, err);
    int status = look(q, q->model, q->plan, &seen, err);
    if (status == 0 && mode == BY_CLE_AUTO)
        status = choose(q, seen, &report, &mode, err);
    if (status == 0 && mode != BY_CLE_OFF) {
        *changed = true;
        status = equalize(q->plan, seen, mode, &report, err);
    }
    by_stats_close(seen);
    if (status == 0)
        by_log(q->options->log, BY_LOG_INFO, "equalization %s: %zu pairs of layers",
               mode_name(mode), mode == BY_CLE_OFF ? 0 : report.pairs);
    return status;
}
