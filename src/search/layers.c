/* Gives single tensors and layers of a point wider types, where that meets the goals. */
#include "search/auto_internal.h"

#include "base/decibels.h"
#include "base/thread.h"
#include "onnx/load.h"
#include "search/decision.h"
#include "search/worth.h"
#include "trial/judge.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TRIES 3    /* times that the goal is raised, where the whole quantization falls short */
#define MORE  0.25 /* dB on top of what it fell short */
#define BYTES_SHARE                                                                                \
    1e-3 /* of the multiply-adds' cost: that of all bytes where types cost the same */
/* Runs of the session with switches, by effort: for each of all samples so many, as a search is
 * to take no more than some dozens of runs of the float model on all of them; within limits. */
#define RUNS_EACH       10
#define RUNS_LEAST      240
#define RUNS_MOST       600
#define RUNS_WORK       3e11 /* multiply-adds, some seconds: more runs of small models */
#define CHECKED         12   /* sources that are run alone again, to tell how good their order is */
#define CHECKED_SAMPLES 2
static const size_t verifications[] = {
    [BY_EFFORT_QUICK] = 4, [BY_EFFORT_NORMAL] = 8, [BY_EFFORT_THOROUGH] = 24};

struct by_auto_layers {
    struct by_auto_work *work;
    struct baryon_model *user; /* the float model, whose names rules of a config have */
    const char *name;          /* of the point that they change */
    struct by_str rest;        /* of its config, with what samples chose */
    struct by_target_ladder ladder;
    bool narrows;       /* weights alone, for their bytes */
    double other_bytes; /* of the model, beside weights of layers */
    double margin;      /* of the point, dB of the first SQNR that is a goal */
    struct by_auto_candidate candidate;
    struct by_auto_reader reader;
    struct by_input_callback inputs;
    struct by_judge *judge;
    struct by_decisions decisions;
    bool *on;
    bool gives_up; /* before anything is measured */
    bool idle;     /* nothing is to be gained */
};

/* --- Opening --- */

static int open_judge(struct by_auto_layers *layers, struct baryon_error *err)
{
    struct by_auto_work *work = layers->work;
    if (by_auto_samples_read(work->samples, BY_PART_CHOOSE, &layers->reader, &layers->inputs, err) <
        0)
        return -1;
    const struct by_judge_options options = {
        .samples = &layers->inputs,
        .input = {.allow_nonfinite = true},
        .session = work->source.session,
        .aside = layers->inputs.count,
    };
    if (by_judge_open(&layers->judge, layers->user, &options, err) < 0)
        return -1;
    return by_judge_references(layers->judge, work->pool, err);
}

static bool go_on(void *context, const char *what, size_t done, size_t all)
{
    struct by_auto_layers *layers = context;
    const struct by_calibrate_progress now = {
        .stage = what, .unit = "runs", .done = done, .total = all, .keeps = true};
    return !layers->work->base.progress(layers->work, &now);
}

/* 0: no limit. */
static size_t runs_of(const struct by_auto_work *work)
{
    const size_t each = RUNS_EACH * work->out->parts.total;
    if (work->options->settings->effort == BY_EFFORT_THOROUGH)
        return 0;
    return each < RUNS_LEAST ? RUNS_LEAST : each > RUNS_MOST ? RUNS_MOST : each;
}

/* A model that meets the goals has to become cheaper. */
static bool may_save(const struct by_decisions *d)
{
    for (size_t i = 0; i < d->decision_count; i++)
        if (d->decisions[i].extra_cost < 0)
            return true;
    return false;
}

static int check_order(struct by_auto_layers *layers, struct by_checked *order,
                       struct baryon_error *err)
{
    struct by_alone_source alone[CHECKED];
    if (by_decisions_check(&layers->decisions, CHECKED, CHECKED_SAMPLES, alone, order, err) < 0)
        return -1;
    by_log(layers->work->options->log, BY_LOG_DEBUG,
           "%zu of %zu tensors and layers alone on %zu further samples: rank correlation %.2f",
           order->sources, layers->decisions.source_count, order->samples, order->share);
    return 0;
}

static int open_decisions(struct by_auto_layers *layers, struct by_auto_point *point,
                          struct baryon_error *err)
{
    const bool sure = point->sure && point->allowed;
    struct by_auto_work *work = layers->work;
    const struct by_auto_goal *goal = by_auto_goals_sqnr(&work->out->goals);
    const struct by_decide_options options = {.runs = runs_of(work),
                                              .worst = true,
                                              .least = goal && layers->gives_up ? goal->bound : 0,
                                              .work = RUNS_WORK,
                                              .names = &layers->user->graph->values,
                                              .progress = go_on,
                                              .context = layers};
    if (by_decisions_open(&layers->decisions, &layers->candidate.q, layers->judge, &layers->ladder,
                          &options, err) < 0)
        return -1;
    layers->idle = sure && !may_save(&layers->decisions);
    work->measured += !layers->idle;
    if (!layers->idle && (by_decisions_measure(&layers->decisions, err) < 0 ||
                          check_order(layers, &point->order, err) < 0))
        return -1;
    layers->on = by_alloc_zero(layers->decisions.decision_count + 1, sizeof *layers->on, err);
    if (!layers->on)
        return -1;
    struct by_prediction prediction;
    by_decisions_predict(&layers->decisions, layers->on, &prediction);
    layers->other_bytes = (double)point->bytes - prediction.bytes;
    return 0;
}

static bool names_all(const struct by_auto_layers *layers)
{
    const struct baryon_graph *user = layers->user->graph;
    const struct by_quant_plan *plan = layers->candidate.q.plan;
    for (size_t i = 0; i < plan->rows.count; i++)
        if (plan->rows.at[i].role == BY_ROLE_ACTIVATION &&
            !by_graph_value(user, plan->rows.at[i].value->name))
            return false;
    return true;
}

static int open_yaml(struct by_auto_layers *layers, const char *rest, struct baryon_error *err)
{
    struct by_auto_work *work = layers->work;
    struct by_str yaml;
    by_str_init(&yaml);
    by_auto_yaml(work, rest, &yaml);
    int status = by_str_error(&yaml, err);
    if (status == 0)
        status =
            by_auto_candidate_open(&layers->candidate, &work->base, by_str_text(&yaml), true, err);
    by_str_release(&yaml);
    return status;
}

static int open_pinned(struct by_auto_layers *layers, const char *rest, const char *pins,
                       struct baryon_error *err)
{
    by_str_clear(&layers->rest);
    by_str_puts(&layers->rest, rest);
    by_str_puts(&layers->rest, pins);
    const char *more = layers->work->ladder.layer_options;
    if (more && !layers->narrows && !strstr(rest, more))
        by_str_puts(&layers->rest, more);
    return by_str_error(&layers->rest, err) < 0
               ? -1
               : open_yaml(layers, by_str_text(&layers->rest), err);
}

/* All bytes together cost as much as some of the multiply-adds, where they cost nothing else. */
static double cost_of_bytes(const struct by_auto_layers *layers, const struct by_auto_point *point)
{
    const struct by_quant_plan *plan = layers->candidate.q.plan;
    double macs = 0;
    for (size_t i = 0; i < plan->node_count; i++)
        macs += plan->nodes[i].macs;
    return BYTES_SHARE * macs / (double)(point->bytes + 1);
}

/* What samples chose stands in the pins, so it is not tried again. Once more without tensors that
 * equalization added, since rules of a config cannot name them. */
static int open_candidate(struct by_auto_layers *layers, const struct by_auto_point *point,
                          const char *rest, const char *by_name, struct baryon_error *err)
{
    if (open_pinned(layers, rest, point->pins, err) < 0)
        return -1;
    const enum by_cle_mode mode = layers->candidate.q.report.equalized;
    if (!by_name || (mode != BY_CLE_EXACT && mode != BY_CLE_REPLACE) || names_all(layers))
        return 0;
    by_auto_candidate_close(&layers->candidate);
    return open_pinned(layers, by_name, point->pins_by_name, err);
}

int by_auto_layers_open(struct by_auto_layers **out, struct by_auto_work *work,
                        const struct by_auto_layers_of *of, struct baryon_error *err)
{
    struct by_auto_point *point = &work->out->points.at[of->place];
    struct by_auto_layers *layers = by_alloc_zero(1, sizeof *layers, err);
    if (!layers)
        return -1;
    *layers = (struct by_auto_layers){
        .work = work,
        .name = point->name,
        .ladder = work->ladder.decisions,
        .narrows = of->bytes,
        .gives_up = of->gives_up,
    };
    const struct by_auto_goal *goal = by_auto_goals_sqnr(&work->out->goals);
    if (goal)
        layers->margin = point->margins[goal - work->out->goals.at];
    by_str_init(&layers->rest);
    *out = layers;
    int status = by_frame_copy(&work->out->frame, &layers->user, err);
    if (status == 0)
        status = open_candidate(layers, point, of->rest, of->name, err);
    if (status == 0 && layers->narrows && layers->ladder.byte_cost == 0)
        layers->ladder.byte_cost = cost_of_bytes(layers, point);
    if (status == 0)
        status = open_judge(layers, err);
    if (status == 0)
        status = open_decisions(layers, point, err);
    return status;
}

bool by_auto_layers_are_in_vain(const struct by_auto_layers *layers)
{
    const struct by_auto_goal *goal = by_auto_goals_sqnr(&layers->work->out->goals);
    return !by_worth_deciding(by_decisions_ceiling(&layers->decisions),
                              goal ? goal->bound : (double)NAN);
}

void by_auto_layers_close(struct by_auto_layers *layers)
{
    if (!layers)
        return;
    by_decisions_close(&layers->decisions);
    by_judge_close(layers->judge);
    by_auto_candidate_close(&layers->candidate);
    by_model_free(layers->user);
    by_str_release(&layers->rest);
    by_free(layers->on);
    by_free(layers);
}

/* --- Limits --- */

/* The best point meets all that was asked for, and bytes are all that is to be saved. */
static bool saves_bytes_alone(const struct by_auto_layers *layers)
{
    const struct by_auto_point *best = &layers->work->out->points.at[layers->work->best];
    return layers->narrows && best->allowed && best->sure;
}

static struct by_choice_goal limits_of(const struct by_auto_layers *layers)
{
    const struct by_auto_work *work = layers->work;
    const struct by_auto_settings *settings = work->options->settings;
    const double asked = settings->max_size ? (double)settings->max_size : INFINITY;
    const double smaller = by_auto_smaller_bytes(&work->out->points.at[work->best]);
    const double most = saves_bytes_alone(layers) ? fmin(asked, smaller) : asked;
    return (struct by_choice_goal){
        .sqnr = (double)NAN, .wide_share = settings->max_wide, .bytes = most - layers->other_bytes};
}

/* --- What is to blame --- */

static double gain_without(double share)
{
    return -10 * log10(fmin(fmax(1 - share, 1e-6), 1));
}

/* Of what sources do one by one, weights do so much. */
static double weights_alone(const struct by_decisions *d)
{
    double weights = 0, all = 0;
    for (size_t i = 0; i < d->source_count; i++)
        for (size_t k = 0; k < d->output_count; k++) {
            const double noise = d->signal[k] > 0 ? d->sources[i].alone[k] / d->signal[k] : 0;
            weights += d->sources[i].weight ? noise : 0;
            all += noise;
        }
    return all > 0 ? weights / all : 0;
}

/* With exact activations, by the worst output. */
double by_auto_layers_weights_sqnr(const struct by_auto_layers *layers)
{
    const struct by_decisions *d = &layers->decisions;
    double least = INFINITY;
    for (size_t k = 0; k < d->output_count; k++) {
        double noise = 0;
        for (size_t i = 0; i < d->source_count; i++)
            noise += d->sources[i].weight ? d->sources[i].alone[k] : 0;
        least = fmin(least, by_decibels(d->signal[k], noise));
    }
    return least;
}

/* Where errors do not add, what they do together may say that weights are to blame though they do
 * little alone. */
double by_auto_layers_weights_gain(const struct by_auto_layers *layers)
{
    const struct by_decisions *d = &layers->decisions;
    double share = 0;
    for (size_t i = 0; i < d->source_count; i++)
        share += d->sources[i].weight ? d->sources[i].share : 0;
    return fmin(gain_without(share), gain_without(weights_alone(d)));
}

int by_auto_layers_are_cheap(const struct by_auto_layers *layers, bool *cheap,
                             struct baryon_error *err)
{
    const struct by_auto_work *work = layers->work;
    const struct by_decisions *d = &layers->decisions;
    const struct by_auto_goal *goal = by_auto_goals_sqnr(&work->out->goals);
    struct by_choice_goal limits = limits_of(layers);
    struct by_prediction none, some;
    bool reached = false;
    *cheap = false;
    if (!goal || work->out->goals.count > 1 || layers->idle)
        return 0;
    bool *on = by_alloc_zero(d->decision_count + 1, sizeof *on, err);
    if (!on)
        return -1;
    limits.sqnr = goal->bound + layers->margin;
    by_decisions_predict(d, on, &none);
    const int status = by_decisions_choose(d, &limits, on, &reached, err);
    by_decisions_predict(d, on, &some);
    *cheap = status == 0 && reached && by_worth_few_changes(some.cost, none.cost);
    by_free(on);
    return status;
}

/* --- Searching --- */

/* The better of two by goals, then by dB. */
static bool is_better(const struct by_auto_work *work, const struct by_auto_measured *one,
                      const struct by_auto_measured *other)
{
    const struct by_auto_goals *goals = &work->out->goals;
    if (*one->why || *other->why)
        return !*one->why;
    const double lacks = by_auto_goals_lack(goals, one->values, one->margins);
    const double lacked = by_auto_goals_lack(goals, other->values, other->margins);
    return lacks != lacked ? lacks < lacked : one->sqnr > other->sqnr;
}

struct measured {
    double values[BY_AUTO_GOALS_MAX], margins[BY_AUTO_GOALS_MAX];
    struct by_auto_measured of;
};

/* In each way that there is; the model of the best one comes out. */
static int measure_ways(struct by_auto_layers *layers, const bool *on, struct measured *best,
                        struct baryon_model **model, struct baryon_error *err)
{
    const struct by_decisions *d = &layers->decisions;
    *model = NULL;
    for (size_t way = 0; way < by_decisions_ways(d, on); way++) {
        struct measured now;
        struct baryon_model *candidate;
        now.of = (struct by_auto_measured){.values = now.values, .margins = now.margins};
        if (by_decisions_candidate(d, on, (enum by_decide_kept)way, &candidate, err) < 0 ||
            by_auto_measure_values(layers->work, candidate, &now.of, err) < 0) {
            by_auto_samples_leave(layers->work->samples);
            by_model_free(candidate);
            return -1;
        }
        if (*model && !is_better(layers->work, &now.of, &best->of)) {
            by_auto_samples_leave(layers->work->samples); /* whose model it is */
            by_model_free(candidate);
            continue;
        }
        by_model_free(*model);
        *model = candidate;
        *best = now;
        best->of.values = best->values;
        best->of.margins = best->margins;
    }
    return 0;
}

static int verify_layers(void *context, const struct by_decisions *d, const bool *on,
                         struct by_verified *verified, struct baryon_error *err)
{
    struct by_auto_layers *layers = context;
    struct by_auto_work *work = layers->work;
    struct baryon_model *model;
    struct measured best;
    bool doubted;
    const struct by_auto_goal *goal = by_auto_goals_sqnr(&work->out->goals);
    (void)d;
    *verified = (struct by_verified){.sqnr = -INFINITY};
    int status = measure_ways(layers, on, &best, &model, err);
    if (status == 0 && !*best.of.why)
        status = by_auto_measure_again(work, model, &best.of, &doubted, err);
    by_auto_samples_leave(work->samples);
    by_model_free(model);
    if (status < 0)
        return -1;
    if (*best.of.why) {
        by_log(work->options->log, BY_LOG_DEBUG, "a candidate is out: %s", best.of.why);
        return 0;
    }
    verified->sqnr = best.of.sqnr;
    verified->meets = by_auto_goals_are_met(&work->out->goals, best.values, best.margins);
    verified->nearly = by_auto_goals_are_met(&work->out->goals, best.values, NULL);
    verified->asks = goal ? best.margins[goal - work->out->goals.at] : 0;
    return 0;
}

static int confirm_layers(void *context, const struct by_decisions *d, const bool *on, bool *holds,
                          struct baryon_error *err)
{
    struct by_auto_layers *layers = context;
    struct baryon_model *model;
    struct measured best;
    (void)d;
    *holds = false;
    int status = measure_ways(layers, on, &best, &model, err);
    if (status == 0 && !*best.of.why)
        status = by_auto_hold(layers->work, model, holds, err);
    layers->work->out->spared = layers->work->out->spared || *holds;
    by_auto_samples_leave(layers->work->samples);
    by_model_free(model);
    return status;
}

static int say_step(void *context, const struct by_decisions *d, const bool *on,
                    const struct by_search_step *step, struct baryon_error *err)
{
    const struct by_auto_layers *layers = context;
    (void)d;
    (void)on;
    (void)err;
    char measured[64] = "no layer left to quantize";
    if (!step->verified.empty)
        snprintf(measured, sizeof measured, "measured %.2f dB", step->verified.sqnr);
    by_log(layers->work->options->log, BY_LOG_DEBUG,
           "%s: %zu changes, predicted %.2f dB at cost %.4g, %s%s", step->what, step->chosen,
           step->predicted.sqnr, step->predicted.cost, measured,
           step->verified.meets ? ", met" : "");
    return 0;
}

static struct by_search_options search_options(struct by_auto_layers *layers, double more)
{
    const struct by_auto_settings *settings = layers->work->options->settings;
    const struct by_auto_goal *goal = by_auto_goals_sqnr(&layers->work->out->goals);
    struct by_choice_goal limits = limits_of(layers);
    limits.sqnr = goal ? goal->bound + more : (double)NAN;
    return (struct by_search_options){
        .limits = limits,
        .verify = verify_layers,
        .confirm = confirm_layers,
        .context = layers,
        .verifications = verifications[settings->effort],
        .narrows = settings->effort != BY_EFFORT_QUICK,
        .brief = saves_bytes_alone(layers),
        .step = say_step,
    };
}

static size_t count_chosen(const struct by_auto_layers *layers)
{
    size_t count = 0;
    for (size_t i = 0; i < layers->decisions.decision_count; i++)
        count += layers->on[i];
    return count;
}

/* "int16 activation: 3, float layer: 1" */
static void say_chosen(const struct by_auto_layers *layers, struct by_str *text)
{
    const struct by_target_ladder *ladder = &layers->ladder;
    for (size_t i = 0; i < ladder->alternative_count; i++) {
        size_t count = 0;
        for (size_t k = 0; k < layers->decisions.decision_count; k++)
            count += layers->on[k] &&
                     layers->decisions.decisions[k].alternative == &ladder->alternatives[i];
        if (count)
            by_str_printf(text, "%s%s: %zu", text->size ? ", " : "", ladder->alternatives[i].name,
                          count);
    }
}

static int try_chosen(struct by_auto_layers *layers, size_t *place, struct baryon_error *err)
{
    struct by_str rules, rest, name, text;
    by_str_init(&rules);
    by_str_init(&rest);
    by_str_init(&name);
    by_str_init(&text);
    by_str_printf(&name, "%s, ", layers->name);
    by_plural(&name, count_chosen(layers), "change");
    say_chosen(layers, &text);
    int status = by_decisions_write(&layers->decisions, layers->on, &rules, err);
    if (status == 0) {
        by_auto_merge(by_str_text(&layers->rest), by_str_text(&rules), &rest);
        status = by_str_error(&rest, err);
    }
    if (status == 0)
        status = by_str_error(&name, err);
    if (status == 0)
        status = by_auto_try(layers->work, by_str_text(&name), by_str_text(&text),
                             by_str_text(&rest), place, err);
    by_str_release(&rules);
    by_str_release(&rest);
    by_str_release(&name);
    by_str_release(&text);
    return status;
}

/* What is to save bytes has to save some beside the best point. */
static bool is_worth_trying(const struct by_auto_layers *layers, bool met)
{
    return !saves_bytes_alone(layers) || met;
}

/* The set that fell short is not chosen again: what it had when it was verified is not enough. */
static double raised(const struct by_auto_layers *layers, double more, double asked, double got)
{
    const double verified = by_decisions_verified(&layers->decisions, layers->on);
    return fmax(more + asked - got, verified - got) + MORE;
}

/* The whole quantization may differ from what was verified, as samples choose again. */
int by_auto_layers_search(struct by_auto_layers *layers, struct baryon_error *err)
{
    double more = 0;
    const struct by_auto_goal *goal = by_auto_goals_sqnr(&layers->work->out->goals);
    for (unsigned i = 0; !layers->idle && i < TRIES; i++) {
        bool met;
        size_t place;
        const struct by_search_options options = search_options(layers, more);
        if (by_decisions_search(&layers->decisions, &options, layers->on, &met, err) < 0)
            return -1;
        if (!count_chosen(layers) || !is_worth_trying(layers, met))
            return 0;
        if (try_chosen(layers, &place, err) < 0)
            return -1;
        const struct by_auto_point *point = &layers->work->out->points.at[place];
        if (point->sure || !met || !goal || by_auto_is_over_time(layers->work))
            return 0;
        const double margin = point->margins[goal - layers->work->out->goals.at];
        if (!(goal->bound + margin > point->sqnr))
            return 0;
        more = raised(layers, more, goal->bound + margin, point->sqnr);
    }
    return 0;
}
