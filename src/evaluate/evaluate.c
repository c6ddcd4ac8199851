/* Computes the measures of pairs of outputs, one sample after the other. */
#include "evaluate/evaluate.h"

#include "base/text.h"
#include "input/match.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define HUGE_VALUE 1e75
#define TINY_VALUE 1e-75

/* --- Measures and goals --- */

static bool is_wanted(const struct by_setting_texts *names, const char *name)
{
    bool found = !names->count;
    for (size_t i = 0; i < names->count; i++)
        found = found || !strcmp(names->at[i], name);
    return found;
}

static int take_metrics(struct by_evaluation *evaluation, struct baryon_error *err)
{
    size_t count, differ;
    const struct by_metric *all = by_metrics(&count), *compat = by_metrics_compat(&differ);
    evaluation->metrics =
        by_arena_alloc(&evaluation->arena, count, sizeof(struct by_metric *), err);
    if (!evaluation->metrics)
        return -1;
    for (size_t i = 0; i < count; i++) {
        if (!is_wanted(&evaluation->settings.metrics, all[i].name))
            continue;
        const struct by_metric **metric = &evaluation->metrics[evaluation->metric_count++];
        *metric = &all[i];
        for (size_t k = 0; evaluation->settings.compat && k < differ; k++)
            if (!strcmp(compat[k].name, all[i].name))
                *metric = &compat[k];
    }
    return 0;
}

static int take_goal(struct by_evaluation *evaluation, const struct by_setting_pair *pair,
                     bool most, struct by_goal *goal, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const char *end = strstr(pair->name, ".worst");
    goal->worst = end && !end[strlen(".worst")];
    goal->most = most;
    const size_t length = goal->worst ? (size_t)(end - pair->name) : strlen(pair->name);
    const char *name = by_arena_text(&evaluation->arena, pair->name, length, err);
    if (!name || !(goal->metric = by_metric_find(name, err)))
        return -1;
    if (!by_parse_double(pair->value, &goal->bound) || isnan(goal->bound))
        return by_fail(err, BARYON_ERR_USAGE, "the bound of %s is %s, must be a number", name,
                       by_quote(quoted, pair->value));
    return 0;
}

static int take_goals(struct by_evaluation *evaluation, struct baryon_error *err)
{
    const struct by_setting_pairs *min = &evaluation->settings.min;
    const struct by_setting_pairs *max = &evaluation->settings.max;
    struct by_goal *goals =
        by_arena_alloc(&evaluation->arena, min->count + max->count, sizeof *evaluation->goals, err);
    if (!goals)
        return -1;
    evaluation->goals = goals;
    evaluation->goal_count = min->count + max->count;
    for (size_t i = 0; i < min->count; i++)
        if (take_goal(evaluation, &min->at[i], false, &goals[i], err) < 0)
            return by_err_in(err, "--min");
    for (size_t i = 0; i < max->count; i++)
        if (take_goal(evaluation, &max->at[i], true, &goals[min->count + i], err) < 0)
            return by_err_in(err, "--max");
    return 0;
}

static int make_scores(struct by_evaluation *evaluation, const char *const *outputs, size_t count,
                       struct baryon_error *err)
{
    struct by_arena *arena = &evaluation->arena;
    evaluation->output_count = count;
    evaluation->outputs = by_arena_alloc(arena, count, sizeof *evaluation->outputs, err);
    evaluation->scores =
        by_arena_alloc(arena, count * evaluation->metric_count, sizeof *evaluation->scores, err);
    if (!evaluation->outputs || !evaluation->scores)
        return -1;
    for (size_t i = 0; i < count; i++) {
        if (outputs[i] &&
            !(evaluation->outputs[i] = by_arena_text(arena, outputs[i], strlen(outputs[i]), err)))
            return -1;
        for (size_t k = 0; k < evaluation->metric_count; k++)
            evaluation->scores[i * evaluation->metric_count + k] = (struct by_score){
                .metric = evaluation->metrics[k], .output = evaluation->outputs[i]};
    }
    return 0;
}

int by_evaluation_open(struct by_evaluation **out, const struct by_evaluate_settings *settings,
                       const char *const *outputs, size_t output_count, struct baryon_error *err)
{
    struct by_evaluation *evaluation = by_alloc_zero(1, sizeof *evaluation, err);
    if (!evaluation)
        return -1;
    by_arena_init(&evaluation->arena, 0);
    evaluation->settings = *settings;
    if (take_metrics(evaluation, err) < 0 || take_goals(evaluation, err) < 0 ||
        make_scores(evaluation, outputs, output_count, err) < 0) {
        by_evaluation_close(evaluation);
        return -1;
    }
    *out = evaluation;
    return 0;
}

void by_evaluation_close(struct by_evaluation *evaluation)
{
    if (!evaluation)
        return;
    by_arena_release(&evaluation->arena);
    by_free(evaluation);
}

/* --- One pair --- */

static const char *shape_text(const struct by_array *array, char *buf, size_t size)
{
    struct by_text text;
    by_text_init(&text, buf, size);
    for (size_t i = 0; i < array->rank; i++)
        by_text_add(&text, "%s%" PRId64, i ? "," : "[", array->dims[i]);
    by_text_add(&text, array->rank ? "]" : "[]");
    return buf;
}

static int check_shapes(const struct by_array *baseline, const struct by_array *result,
                        struct baryon_error *err)
{
    char one[BY_SHAPE_TEXT_MAX], other[BY_SHAPE_TEXT_MAX];
    if (baseline->rank == result->rank &&
        !memcmp(baseline->dims, result->dims, baseline->rank * sizeof *baseline->dims))
        return 0;
    return by_fail(err, BARYON_ERR_INPUT,
                   "the baseline is %.180s, but the quantized result is %.180s",
                   shape_text(baseline, one, sizeof one), shape_text(result, other, sizeof other));
}

/* Squares of squares stay within a double: what is tiny is nothing, what is huge is refused. */
static int bound(double *values, size_t count, struct baryon_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (fabs(values[i]) > HUGE_VALUE)
            return by_fail(err, BARYON_ERR_UNSUPPORTED,
                           "a value is %g, magnitudes must be at most %g", values[i], HUGE_VALUE);
        if (fabs(values[i]) < TINY_VALUE)
            values[i] = 0;
    }
    return 0;
}

static const double *as_doubles(const struct by_evaluation *evaluation, struct by_arena *arena,
                                const struct by_array *array, size_t count,
                                struct baryon_error *err)
{
    const struct by_elem_info *info = by_elem_info(array->elem);
    if (!info || (info->class != BY_CLASS_FLOAT && info->class != BY_CLASS_INT &&
                  array->elem != BY_ELEM_BOOL)) {
        by_fail(err, BARYON_ERR_UNSUPPORTED, "values of type %s cannot be compared",
                by_elem_name(array->elem));
        return NULL;
    }
    if (!evaluation->settings.compat &&
        by_check_finite(array->elem, array->data, count, array->dims, array->rank, err) < 0)
        return NULL;
    double *out = by_arena_alloc(arena, count, sizeof *out, err);
    if (!out || by_elem_to_doubles(array->elem, array->data, 0, count, out, err) < 0)
        return NULL;
    return evaluation->settings.compat || bound(out, count, err) == 0 ? out : NULL;
}

/* Quark's tool rounds to float32 first, but for the result in PSNR. */
static int round_both(struct by_compared *pair, struct baryon_error *err)
{
    const double **both[] = {&pair->baseline, &pair->result};
    for (size_t i = 0; i < 2; i++) {
        double *rounded = by_arena_alloc(pair->arena, pair->count, sizeof *rounded, err);
        if (!rounded)
            return -1;
        for (size_t k = 0; k < pair->count; k++)
            rounded[k] = (double)(float)(*both[i])[k];
        *both[i] = rounded;
    }
    return 0;
}

/* What its type can differ by; of floats and long integers what the baseline does, or its
 * magnitude where all is one value. */
static double peak_of(const struct by_evaluation *evaluation, int64_t elem, const double *values,
                      size_t count)
{
    const struct by_elem_info *info = by_elem_info(elem);
    if (evaluation->settings.peak > 0)
        return evaluation->settings.peak;
    if (info->class == BY_CLASS_INT && info->bits <= 16)
        return (double)((1u << info->bits) - 1);
    double low = values[0], high = values[0];
    for (size_t i = 1; i < count; i++) {
        low = fmin(low, values[i]);
        high = fmax(high, values[i]);
    }
    const double magnitude = fabs(high) > 0 ? fabs(high) : 1;
    return high > low ? high - low : magnitude;
}

static int keep_value(struct by_evaluation *evaluation, struct by_score *score,
                      struct by_fraction value, struct baryon_error *err)
{
    if (!evaluation->keeps_each)
        return 0;
    if (by_list_reserve(&evaluation->arena, &score->each, 1, sizeof *score->each.at, err) < 0)
        return -1;
    score->each.at[score->each.count++] = value;
    return 0;
}

static void note(struct by_score *score, const char *sample, struct by_fraction value)
{
    const struct by_metric *metric = score->metric;
    double number = value.over;
    if (metric->pooled)
        number = metric->finish ? metric->finish(value) : value.over / value.under;
    /* NaN, which only compat gives, is worst and stays. */
    const bool worse = metric->higher ? number < score->worst : number > score->worst;
    if (!score->samples || (!isnan(score->worst) && (worse || isnan(number)))) {
        score->worst = number;
        snprintf(score->worst_sample, sizeof score->worst_sample, "%s", sample);
    }
    score->samples++;
    score->sum.over += value.over;
    score->sum.under += value.under;
}

static int measure_output(struct by_evaluation *evaluation, size_t output, const char *sample,
                          const struct by_compared *pair, struct baryon_error *err)
{
    struct by_score *scores = evaluation->scores + output * evaluation->metric_count;
    for (size_t i = 0; i < evaluation->metric_count; i++) {
        const struct by_metric *metric = scores[i].metric;
        struct by_fraction value = {0};
        if (metric->applies && !metric->applies(pair))
            continue;
        if (metric->measure(pair, &value, err) < 0)
            return -1;
        note(&scores[i], sample, value);
        if (keep_value(evaluation, &scores[i], value, err) < 0)
            return -1;
    }
    return 0;
}

static int compare_output(struct by_evaluation *evaluation, size_t output, const char *sample,
                          const struct by_array *baseline, const struct by_array *result,
                          const int64_t *labels, struct by_arena *arena, struct baryon_error *err)
{
    size_t count;
    if (check_shapes(baseline, result, err) < 0 ||
        by_dims_count(baseline->dims, baseline->rank, &count, err) < 0)
        return -1;
    if (!count)
        return by_fail(err, BARYON_ERR_INPUT, "there are no values to compare");
    struct by_compared pair = {.count = count,
                               .rank = baseline->rank,
                               .dims = baseline->dims,
                               .where = (enum by_channel_place)evaluation->settings.channels,
                               .logits = evaluation->settings.logits,
                               .labels = labels,
                               .arena = arena};
    if (!(pair.baseline = as_doubles(evaluation, arena, baseline, count, err)))
        return by_err_in(err, "baseline");
    if (!(pair.result = as_doubles(evaluation, arena, result, count, err)))
        return by_err_in(err, "quantized result");
    pair.unrounded = pair.result;
    if (evaluation->settings.compat && round_both(&pair, err) < 0)
        return -1;
    pair.peak = peak_of(evaluation, baseline->elem, pair.baseline, count);
    return measure_output(evaluation, output, sample, &pair, err);
}

int by_evaluation_add(struct by_evaluation *evaluation, size_t output, const char *sample,
                      const struct by_array *baseline, const struct by_array *result,
                      const int64_t *labels, struct baryon_error *err)
{
    struct by_arena arena;
    by_arena_init(&arena, 0);
    const int status =
        compare_output(evaluation, output, sample, baseline, result, labels, &arena, err);
    by_arena_release(&arena);
    return status;
}

/* --- All of them --- */

static double mean_of(const struct by_metric *metric, struct by_fraction sum, uint64_t samples)
{
    if (!metric->pooled)
        return sum.over / (double)samples;
    return metric->finish ? metric->finish(sum) : sum.over / sum.under;
}

/* What errors are computed of: noise over signal where the mean is in dB. */
static double plain_of(const struct by_metric *metric, struct by_fraction sum, uint64_t samples)
{
    return metric->finish ? sum.under / sum.over : mean_of(metric, sum, samples);
}

static double plain_error(const struct by_score *score)
{
    const double count = (double)score->each.count;
    const double all = plain_of(score->metric, score->sum, score->samples);
    double sum = 0, squares = 0;
    for (size_t i = 0; i < score->each.count; i++) {
        const struct by_fraction *left = &score->each.at[i];
        const struct by_fraction rest = {score->sum.over - left->over,
                                         score->sum.under - left->under};
        const double off = plain_of(score->metric, rest, score->samples - 1) - all;
        sum += off;
        squares += off * off;
    }
    return sqrt((count - 1) * fmax(squares / count - sum / count * (sum / count), 0));
}

double by_score_margin(const struct by_score *score, double errors)
{
    if (score->each.count < 2)
        return 0;
    const double error = errors * plain_error(score);
    if (!score->metric->finish)
        return isfinite(error) ? error : 0;
    const struct by_fraction worse = {score->sum.over, score->sum.under + error * score->sum.over};
    const double margin = score->mean - score->metric->finish(worse);
    return isfinite(margin) ? margin : 0;
}

static int judge_goal(struct by_evaluation *evaluation, const struct by_goal *goal,
                      struct baryon_error *err)
{
    size_t looked = 0;
    const struct by_score *score;
    for (size_t i = 0; (score = by_evaluation_score(evaluation, i)); i++) {
        if (strcmp(score->metric->name, goal->metric->name) != 0)
            continue;
        looked++;
        const double value = goal->worst ? score->worst : score->mean;
        if (goal->most ? value <= goal->bound : value >= goal->bound)
            continue;
        if (by_list_reserve(&evaluation->arena, &evaluation->missed, 1,
                            sizeof *evaluation->missed.at, err) < 0)
            return -1;
        evaluation->missed.at[evaluation->missed.count++] =
            (struct by_missed_goal){.goal = goal, .score = score};
    }
    if (looked)
        return 0;
    by_fail(err, BARYON_ERR_USAGE, "%s is not available for the compared results: %s",
            goal->metric->name, goal->metric->help);
    return by_err_in(err, goal->most ? "--max" : "--min");
}

int by_evaluation_finish(struct by_evaluation *evaluation, struct baryon_error *err)
{
    for (size_t i = 0; i < evaluation->output_count * evaluation->metric_count; i++)
        if (evaluation->scores[i].samples)
            evaluation->scores[i].mean =
                mean_of(evaluation->scores[i].metric, evaluation->scores[i].sum,
                        evaluation->scores[i].samples);
    for (size_t i = 0; i < evaluation->goal_count; i++)
        if (judge_goal(evaluation, &evaluation->goals[i], err) < 0)
            return -1;
    return 0;
}

const struct by_score *by_evaluation_score(const struct by_evaluation *evaluation, size_t place)
{
    for (size_t i = 0; i < evaluation->output_count * evaluation->metric_count; i++)
        if (evaluation->scores[i].samples && place-- == 0)
            return &evaluation->scores[i];
    return NULL;
}

int by_evaluation_judge(const struct by_evaluation *evaluation, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    if (!evaluation->missed.count)
        return 0;
    const struct by_goal *goal = evaluation->missed.at[0].goal;
    const struct by_score *score = evaluation->missed.at[0].score;
    by_fail(err, BARYON_ERR_GOAL, "the %s %s is %.7g, must be at %s %.7g",
            goal->worst ? "worst" : "mean", goal->metric->name,
            goal->worst ? score->worst : score->mean, goal->most ? "most" : "least", goal->bound);
    if (score->output)
        by_err_in(err, "output %s", by_quote(quoted, score->output));
    if (evaluation->missed.count > 1)
        by_err_hint(err, "%zu goals were missed", evaluation->missed.count);
    return -1;
}
