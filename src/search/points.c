/* Quantizes by a config, measures the result and compares it with the best so far. */
#include "search/auto_internal.h"

#include "base/format.h"
#include "base/thread.h"
#include "onnx/load.h"
#include "quant/plan_view.h"

#include <math.h>
#include <string.h>

/* --- Comparing --- */

/* Costs that differ by less are equal, and the size decides. */
#define SAME_COST 1e-9
#define SMALLER   0.1

double by_auto_smaller_bytes(const struct by_auto_point *than)
{
    return (1 - SMALLER) * (double)than->bytes;
}

bool by_auto_is_smaller(const struct by_auto_point *one, const struct by_auto_point *other)
{
    return (double)one->bytes < by_auto_smaller_bytes(other);
}

bool by_auto_is_better(const struct by_auto *search, const struct by_auto_point *one,
                       const struct by_auto_point *other)
{
    const bool can = !one->why && one->allowed, could = !other->why && other->allowed;
    if (can != could)
        return can;
    if (!one->why != !other->why)
        return !one->why;
    if (one->sure != other->sure)
        return one->sure;
    if (one->met != other->met)
        return one->met;
    if (one->sure) {
        const double less = other->figures.cost - one->figures.cost;
        if (fabs(less) > SAME_COST)
            return less > 0;
        return by_auto_is_smaller(one, other) ||
               (!by_auto_is_smaller(other, one) && one->sqnr > other->sqnr);
    }
    if (one->doubted != other->doubted) /* only what has the margin where it chooses is doubted */
        return one->doubted;
    const double lacks = by_auto_goals_lack(&search->goals, one->choose, one->margins);
    const double lacked = by_auto_goals_lack(&search->goals, other->choose, other->margins);
    return lacks != lacked ? lacks < lacked : one->sqnr > other->sqnr;
}

bool by_auto_is_over_time(const struct by_auto_work *work)
{
    const double limit = work->options->settings->time_limit;
    return limit > 0 && by_seconds() - work->begin > limit;
}

/* --- A new point --- */

static const char *keep_text(struct by_auto_work *work, const char *text, struct baryon_error *err)
{
    return by_arena_text(&work->out->arena, text, strlen(text), err);
}

static const double *keep_values(struct by_auto_work *work, const double *values,
                                 struct baryon_error *err)
{
    const size_t count = work->out->goals.count;
    double *kept = by_arena_alloc(&work->out->arena, count + 1, sizeof *kept, err);
    if (kept)
        memcpy(kept, values, count * sizeof *kept);
    return kept;
}

static bool is_allowed(const struct by_auto_work *work, const struct by_auto_known *known)
{
    const struct by_auto_settings *settings = work->options->settings;
    return known->figures.wide_share <= settings->max_wide &&
           (!settings->max_size || known->bytes <= settings->max_size);
}

static int add_point(struct by_auto_work *work, const char *name, const char *text,
                     const char *yaml, const struct by_auto_known *known, bool taken_up,
                     size_t *place, struct baryon_error *err)
{
    struct by_auto *out = work->out;
    if (by_list_reserve(&out->arena, &out->points, 1, sizeof *out->points.at, err) < 0)
        return -1;
    struct by_auto_point point = {
        .name = keep_text(work, name, err),
        .text = keep_text(work, text, err),
        .yaml = keep_text(work, yaml, err),
        .pins = keep_text(work, known->pins[0], err),
        .pins_by_name = keep_text(work, known->pins[1], err),
        .why = *known->why ? keep_text(work, known->why, err) : NULL,
        .choose = keep_values(work, known->choose, err),
        .last = keep_values(work, known->last, err),
        .margins = keep_values(work, known->margins, err),
        .sqnr = known->sqnr,
        .last_sqnr = known->last_sqnr,
        .figures = known->figures,
        .bytes = known->bytes,
        .seconds = known->seconds,
        .taken_up = taken_up,
    };
    if (!point.name || !point.text || !point.yaml || !point.pins || !point.pins_by_name ||
        !point.choose || !point.last || !point.margins)
        return -1;
    point.met = !point.why && by_auto_goals_are_met(&out->goals, point.choose, NULL);
    point.sure = point.met && by_auto_goals_are_met(&out->goals, point.choose, point.margins);
    point.doubted = known->doubted;
    point.allowed = is_allowed(work, known);
    *place = out->points.count;
    out->points.at[out->points.count++] = point;
    return 0;
}

/* --- Measuring --- */

bool by_auto_watch(void *context, const struct by_calibrate_progress *now)
{
    struct by_auto_work *work = context;
    const struct by_auto_options *options = work->options;
    struct by_calibrate_progress shown = *now;
    shown.keeps = true; /* finished points are kept */
    if (options->progress && options->progress(options->context, &shown))
        work->interrupted = true;
    const bool late =
        !work->finishing && work->best != BY_AUTO_NO_POINT && by_auto_is_over_time(work);
    work->out->timed_out = work->out->timed_out || late;
    return work->interrupted || late;
}

static int value_of(struct by_auto_work *work, struct baryon_model *model,
                    struct by_auto_value *value, struct baryon_error *err)
{
    const struct by_auto_options *options = work->options;
    if (!options->value)
        return by_auto_command_value(&work->command, model, value, err);
    value->error = 0;
    if (options->value(options->context, model, &value->value, err) < 0)
        return -1;
    return isfinite(value->value)
               ? 0
               : by_fail(err, BARYON_ERR_INPUT,
                         "the goal's function returned %g, must be a finite number", value->value);
}

/* On the samples of a part, in standard errors. */
static int measure_part(struct by_auto_work *work, struct baryon_model *model,
                        enum by_auto_part part, struct by_auto_measured *measured,
                        struct baryon_error *err)
{
    if (by_auto_samples_measure(work->samples, model, part, measured, err) < 0)
        return -1;
    for (size_t i = 0; measured->margins && i < work->out->goals.count; i++)
        measured->margins[i] *= work->errors;
    return 0;
}

int by_auto_measure_values(struct by_auto_work *work, struct baryon_model *model,
                           struct by_auto_measured *measured, struct baryon_error *err)
{
    const struct by_auto_goals *goals = &work->out->goals;
    if (measure_part(work, model, BY_PART_CHOOSE, measured, err) < 0)
        return -1;
    for (size_t i = 0; !*measured->why && i < goals->count; i++) {
        struct by_auto_value value;
        if (goals->at[i].metric)
            continue;
        if (value_of(work, model, &value, err) < 0)
            return -1;
        measured->values[i] = value.value;
        if (measured->margins)
            measured->margins[i] = work->errors * value.error;
    }
    return 0;
}

/* What all samples say for sure takes as much off what those that choose say. */
static void take_again(const struct by_auto_goal *goal, double value, double margin,
                       double *measured, double *asked)
{
    if (!isfinite(*measured)) {
        *measured = value;
        *asked = margin;
        return;
    }
    const double sure = by_auto_goal_less(goal, value, margin);
    *asked = fmax(*asked, goal->most ? sure - *measured : *measured - sure);
}

int by_auto_measure_again(struct by_auto_work *work, struct baryon_model *model,
                          struct by_auto_measured *measured, bool *doubted,
                          struct baryon_error *err)
{
    const struct by_auto_goals *goals = &work->out->goals;
    double values[BY_AUTO_GOALS_MAX], margins[BY_AUTO_GOALS_MAX];
    struct by_auto_measured seen = {.values = values, .margins = margins};
    *doubted = false;
    if (work->out->parts.shared ||
        !by_auto_goals_are_met(goals, measured->values, measured->margins))
        return 0;
    if (measure_part(work, model, BY_PART_SEEN, &seen, err) < 0)
        return -1;
    memcpy(measured->why, seen.why, sizeof measured->why);
    for (size_t i = 0; !*seen.why && i < goals->count; i++)
        if (goals->at[i].metric)
            take_again(&goals->at[i], values[i], margins[i], &measured->values[i],
                       &measured->margins[i]);
    *doubted = !*seen.why && !by_auto_goals_are_met(goals, measured->values, measured->margins);
    return 0;
}

int by_auto_hold(struct by_auto_work *work, struct baryon_model *model, bool *holds,
                 struct baryon_error *err)
{
    const struct by_auto_goals *goals = &work->out->goals;
    double values[BY_AUTO_GOALS_MAX], margins[BY_AUTO_GOALS_MAX];
    struct by_auto_measured seen = {.values = values, .margins = margins};
    *holds = true;
    if (work->out->parts.shared)
        return 0;
    if (measure_part(work, model, BY_PART_SEEN, &seen, err) < 0)
        return -1;
    for (size_t i = 0; i < goals->count; i++)
        if (goals->at[i].metric)
            *holds = *holds && !*seen.why &&
                     by_auto_goal_is_met(&goals->at[i],
                                         by_auto_goal_less(&goals->at[i], values[i], -margins[i]));
    return 0;
}

static int refuse_metric(const struct by_auto_goal *goal, struct baryon_error *err)
{
    const char *asks = goal->metric->asks;
    by_fail(err, BARYON_ERR_USAGE, "--goal %s: no output of this model has %s, which requires %s",
            goal->text, goal->name, asks ? asks : goal->metric->help);
    return by_err_hint(err, "--goal-command measures anything else");
}

/* A measure that no output has is an error of the user's. */
static int check_values(const struct by_auto_goals *goals, const struct by_auto_known *known,
                        struct baryon_error *err)
{
    for (size_t i = 0; !*known->why && i < goals->count; i++)
        if (isnan(known->choose[i]))
            return refuse_metric(&goals->at[i], err);
    return 0;
}

static bool leads(const struct by_auto_work *work, const struct by_auto_known *known)
{
    if (work->best == BY_AUTO_NO_POINT)
        return true;
    const struct by_auto_goals *goals = &work->out->goals;
    const struct by_auto_point point = {
        .choose = known->choose,
        .margins = known->margins,
        .sqnr = known->sqnr,
        .figures = known->figures,
        .bytes = known->bytes,
        .allowed = is_allowed(work, known),
        .met = by_auto_goals_are_met(goals, known->choose, NULL),
        .sure = by_auto_goals_are_met(goals, known->choose, known->margins),
    };
    return by_auto_is_better(work->out, &point, &work->out->points.at[work->best]);
}

/* The last samples are run for those that lead alone; what they say changes nothing. */
static int measure_last(struct by_auto_work *work, struct baryon_model *model,
                        struct by_auto_known *known, struct baryon_error *err)
{
    char why[300];
    const struct by_auto_goals *goals = &work->out->goals;
    struct by_auto_measured measured = {.values = known->last};
    if (by_auto_samples_measure(work->samples, model, BY_PART_LAST, &measured, err) < 0)
        return -1;
    known->last_sqnr = measured.sqnr;
    memcpy(why, measured.why, sizeof why);
    for (size_t i = 0; i < goals->count; i++)
        if (!goals->at[i].metric) /* the command has samples of its own */
            known->last[i] = known->choose[i];
    return 0;
}

static int measure_model(struct by_auto_work *work, struct baryon_model *model,
                         struct by_auto_known *known, struct baryon_error *err)
{
    struct by_auto_measured measured = {.values = known->choose, .margins = known->margins};
    if (by_auto_measure_values(work, model, &measured, err) < 0)
        return -1;
    known->sqnr = measured.sqnr;
    memcpy(known->why, measured.why, sizeof known->why);
    if (check_values(&work->out->goals, known, err) < 0)
        return -1;
    if (!*known->why && leads(work, known)) {
        if (by_auto_measure_again(work, model, &measured, &known->doubted, err) < 0)
            return -1;
        memcpy(known->why, measured.why, sizeof known->why);
    }
    return !*known->why && leads(work, known) ? measure_last(work, model, known, err) : 0;
}

static int keep_pins(const struct by_auto_candidate *candidate, struct by_auto_known *known,
                     struct baryon_error *err)
{
    for (size_t i = 0; i < 2; i++) {
        struct by_str pins;
        by_str_init(&pins);
        by_auto_pin(&candidate->q, candidate->options.recipe, i > 0, &pins);
        const int status = by_str_error(&pins, err);
        if (status == 0 && pins.size < sizeof known->pins[i])
            by_format(known->pins[i], sizeof known->pins[i], "%s", by_str_text(&pins));
        by_str_release(&pins);
        if (status < 0)
            return -1;
    }
    return 0;
}

static int quantize_and_measure(struct by_auto_work *work, struct by_auto_candidate *candidate,
                                const char *yaml, struct by_auto_known *known,
                                struct baryon_error *err)
{
    if (by_auto_candidate_open(candidate, &work->base, yaml, false, err) < 0)
        return -1;
    known->bytes = by_plan_predict_size(candidate->q.plan, work->options->bytes_before);
    by_auto_figures_of(candidate->q.plan, &work->ladder.decisions, (double)known->bytes,
                       &known->figures);
    if (keep_pins(candidate, known, err) < 0 || by_auto_candidate_emit(candidate, err) < 0)
        return -1;
    const int status = measure_model(work, candidate->model, known, err);
    by_auto_samples_leave(work->samples);
    return status;
}

/* --- Trying --- */

static bool is_lost(const struct baryon_error *err)
{
    return err->code == BARYON_ERR_UNSUPPORTED || err->code == BARYON_ERR_ENGINE;
}

static void forget_values(struct by_auto_known *known)
{
    for (size_t i = 0; i < BY_AUTO_GOALS_MAX; i++)
        known->choose[i] = known->last[i] = (double)NAN;
    known->sqnr = known->last_sqnr = (double)NAN;
}

static void say_point(const struct by_auto_work *work, const struct by_auto_point *point)
{
    const struct by_auto_goal *goal = work->out->goals.at;
    if (point->why)
        by_log(work->options->log, BY_LOG_NOTICE, "%s: not possible: %s", point->name, point->why);
    else
        by_log(work->options->log, BY_LOG_NOTICE, "%s: %s %.4g, goal %s %g%s", point->name,
               goal->name, point->choose[0], goal->most ? "<=" : ">=", goal->bound,
               point->sure      ? ": met"
               : point->doubted ? ", but missed with the samples that calibrate"
               : point->met     ? ", met without the margin that few samples require"
                                : "");
}

static void take_best(struct by_auto_work *work, size_t place, struct baryon_model *model)
{
    struct by_auto *out = work->out;
    struct by_auto_point *point = &out->points.at[place];
    if (!point->why && (work->best == BY_AUTO_NO_POINT ||
                        by_auto_is_better(out, point, &out->points.at[work->best]))) {
        point->state = BY_AUTO_BEST;
        work->best = place;
        by_model_free(work->model);
        work->model = model;
        return;
    }
    by_model_free(model);
}

/* Options of the user are refused with the first point; later ones have rules of the search. A rung
 * may have a type for none of the model's operators. */
static bool is_own_refusal(const struct by_auto_work *work,
                           const struct by_auto_candidate *candidate,
                           const struct baryon_error *err)
{
    const struct by_quant_plan *plan = candidate->q.plan;
    return err->code == BARYON_ERR_USAGE &&
           (work->out->points.count > 0 || (plan && plan->node_count && !plan->rows.count));
}

static void keep_reason(struct by_auto_known *known, const struct baryon_error *err)
{
    by_format(known->why, sizeof known->why, "%s%s%s", err->message, *err->hint ? "; " : "",
              err->hint);
}

static int try_new(struct by_auto_work *work, const char *name, const char *text, const char *yaml,
                   size_t *place, struct baryon_error *err)
{
    struct by_auto_candidate *candidate = by_alloc_zero(1, sizeof *candidate, err);
    struct by_auto_known *known = by_alloc_zero(1, sizeof *known, err);
    struct baryon_model *model = NULL;
    int status = candidate && known ? 0 : -1;
    if (status == 0) {
        known->config = by_auto_config_hash(yaml);
        forget_values(known);
        status = quantize_and_measure(work, candidate, yaml, known, err);
        if (status < 0 && (is_lost(err) || is_own_refusal(work, candidate, err))) {
            keep_reason(known, err);
            by_err_clear(err);
            status = 0;
        }
        model = *known->why ? NULL : by_auto_candidate_take(candidate);
        known->seconds = by_seconds() - work->stepped;
        work->stepped += known->seconds;
    }
    if (status == 0)
        status = by_auto_known_add(work, known, err);
    if (status == 0)
        status = add_point(work, name, text, yaml, known, false, place, err);
    if (status == 0)
        take_best(work, *place, model);
    else
        by_model_free(model);
    if (candidate)
        by_auto_candidate_close(candidate);
    by_free(candidate);
    by_free(known);
    return status;
}

static int try_yaml(struct by_auto_work *work, const char *name, const char *text, const char *yaml,
                    size_t *place, struct baryon_error *err)
{
    const struct by_auto *out = work->out;
    for (*place = 0; *place < out->points.count; ++*place)
        if (!strcmp(out->points.at[*place].yaml, yaml))
            return 0;
    const struct by_auto_known *known = by_auto_known_find(work, by_auto_config_hash(yaml));
    if (known) {
        if (add_point(work, name, text, yaml, known, true, place, err) < 0)
            return -1;
        take_best(work, *place, NULL);
    } else if (try_new(work, name, text, yaml, place, err) < 0) {
        return -1;
    }
    say_point(work, &out->points.at[*place]);
    return 0;
}

int by_auto_try(struct by_auto_work *work, const char *name, const char *text, const char *rest,
                size_t *place, struct baryon_error *err)
{
    struct by_str yaml;
    by_str_init(&yaml);
    by_auto_yaml(work, rest, &yaml);
    int status = by_str_error(&yaml, err);
    if (status == 0)
        status = try_yaml(work, name, text, by_str_text(&yaml), place, err);
    by_str_release(&yaml);
    return status;
}
