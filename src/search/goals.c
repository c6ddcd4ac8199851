/* Reads goals, and says whether values meet them. */
#include "search/goals.h"

#include <math.h>
#include <string.h>

#define DEFAULT_GOAL "sqnr>=20"
#define COMMAND_NAME "value"

/* --- One goal --- */

static int bad_goal(const char *text, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    by_fail(err, BARYON_ERR_USAGE, "--goal: %s is no goal", by_quote(quoted, text));
    return by_err_hint(err, "write METRIC>=NUMBER or METRIC<=NUMBER in quotes, such as 'sqnr>=20'");
}

/* Shares of rows, and measures that are 1 for equal results. */
static bool ends_at_one(const struct by_metric *metric)
{
    static const char *const names[] = {"cosine", "ssim", "top1", "top5", "accuracy", "accuracy5"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(metric->name, names[i]))
            return true;
    return false;
}

static int check_metric(const struct by_auto_goal *goal, bool has_labels, struct baryon_error *err)
{
    const struct by_metric *metric = goal->metric;
    if (!strncmp(metric->name, "baseline-", strlen("baseline-")))
        return by_fail(err, BARYON_ERR_USAGE,
                       "--goal %s: %s is of the float model alone, no search changes it",
                       goal->text, metric->name);
    if (!strncmp(metric->name, "accuracy", strlen("accuracy")) && !has_labels)
        return by_fail(err, BARYON_ERR_USAGE, "--goal %s requires --labels FILE", goal->text);
    if (metric->higher == goal->most)
        return by_fail(err, BARYON_ERR_USAGE,
                       "--goal %s: a better model has a %s %s, so the goal is a %s bound (%s%s)",
                       goal->text, metric->higher ? "greater" : "lower", metric->name,
                       metric->higher ? "lower" : "upper", metric->name,
                       metric->higher ? ">=" : "<=");
    if (goal->most ? goal->bound < 0 : ends_at_one(metric) && goal->bound > 1)
        return by_fail(err, BARYON_ERR_USAGE,
                       "--goal %s cannot be met: %s is %s for a model that equals the float one",
                       goal->text, metric->name, goal->most ? "0" : "1");
    return 0;
}

static int take_name(struct by_auto_goal *goal, const char *text, size_t length, bool has_command,
                     struct by_arena *arena, struct baryon_error *err)
{
    static const char suffix[] = ".worst";
    const size_t end = sizeof suffix - 1;
    goal->worst = length > end && !strncmp(text + length - end, suffix, end);
    goal->name = by_arena_text(arena, text, goal->worst ? length - end : length, err);
    if (!goal->name)
        return -1;
    if (strcmp(goal->name, COMMAND_NAME) != 0) {
        goal->metric = by_metric_find(goal->name, err);
        return goal->metric ? 0 : by_err_in(err, "--goal %s", text);
    }
    if (!has_command)
        return by_fail(err, BARYON_ERR_USAGE,
                       "--goal %s requires --goal-command: the command prints the value", text);
    return goal->worst ? bad_goal(text, err) : 0;
}

static int read_goal(struct by_auto_goal *goal, const char *text, bool has_command, bool has_labels,
                     struct by_arena *arena, struct baryon_error *err)
{
    const size_t length = strcspn(text, "<>=");
    const char *sign = text + length;
    *goal = (struct by_auto_goal){.most = *sign == '<'};
    if (!length || (strncmp(sign, ">=", 2) != 0 && strncmp(sign, "<=", 2) != 0) ||
        !by_parse_double(sign + 2, &goal->bound) || !isfinite(goal->bound))
        return bad_goal(text, err);
    goal->text = by_arena_text(arena, text, strlen(text), err);
    if (!goal->text || take_name(goal, text, length, has_command, arena, err) < 0)
        return -1;
    return goal->metric ? check_metric(goal, has_labels, err) : 0;
}

/* --- All of them --- */

/* A lower bound above an upper one of the same. */
static int refuse_contradiction(const struct by_setting_texts *texts, struct baryon_error *err)
{
    for (size_t i = 0; i < texts->count; i++)
        for (size_t k = 0; k < texts->count; k++) {
            const char *low = texts->at[i], *high = texts->at[k];
            double least, most;
            const size_t length = strcspn(low, "<>=");
            if (strncmp(low + length, ">=", 2) != 0 || strncmp(high, low, length) != 0 ||
                strncmp(high + length, "<=", 2) != 0 ||
                !by_parse_double(low + length + 2, &least) ||
                !by_parse_double(high + length + 2, &most) || least <= most)
                continue;
            return by_fail(err, BARYON_ERR_USAGE,
                           "the goals %s and %s contradict each other: no model meets both", low,
                           high);
        }
    return 0;
}

static int check_command(const struct by_auto_goals *goals, bool has_command,
                         struct baryon_error *err)
{
    if (!has_command || goals->has_command)
        return 0;
    by_fail(err, BARYON_ERR_USAGE, "--goal-command requires a goal for the value that it prints");
    return by_err_hint(err, "add --goal 'value>=NUMBER'");
}

int by_auto_goals_read(struct by_auto_goals *goals, const struct by_setting_texts *texts,
                       bool has_command, bool has_labels, struct by_arena *arena,
                       struct baryon_error *err)
{
    const char *fallback[] = {DEFAULT_GOAL};
    const struct by_setting_texts defaults = {.at = fallback, .count = 1};
    *goals = (struct by_auto_goals){0};
    if (!texts->count && !has_command)
        texts = &defaults;
    if (texts->count > BY_AUTO_GOALS_MAX)
        return by_fail(err, BARYON_ERR_USAGE, "%zu goals are given, at most %d are possible",
                       texts->count, BY_AUTO_GOALS_MAX);
    if (refuse_contradiction(texts, err) < 0 ||
        by_list_reserve(arena, goals, texts->count, sizeof *goals->at, err) < 0)
        return -1;
    for (size_t i = 0; i < texts->count; i++) {
        struct by_auto_goal *goal = &goals->at[goals->count++];
        if (read_goal(goal, texts->at[i], has_command, has_labels, arena, err) < 0)
            return -1;
        goals->has_command = goals->has_command || !goal->metric;
    }
    return check_command(goals, has_command, err);
}

/* --- Values --- */

bool by_auto_goal_is_met(const struct by_auto_goal *goal, double value)
{
    return goal->most ? value <= goal->bound : value >= goal->bound;
}

double by_auto_goal_less(const struct by_auto_goal *goal, double value, double margin)
{
    return goal->most ? value + margin : value - margin;
}

double by_auto_goal_lacks(const struct by_auto_goal *goal, double value)
{
    if (by_auto_goal_is_met(goal, value))
        return 0;
    if (isnan(value))
        return INFINITY;
    const double lacks = fabs(goal->bound - value), unit = fabs(goal->bound);
    return unit > 0 ? lacks / unit : lacks;
}

bool by_auto_goals_are_met(const struct by_auto_goals *goals, const double *values,
                           const double *margins)
{
    return by_auto_goals_lack(goals, values, margins) == 0;
}

double by_auto_goals_lack(const struct by_auto_goals *goals, const double *values,
                          const double *margins)
{
    double most = 0;
    for (size_t i = 0; i < goals->count; i++) {
        const struct by_auto_goal *goal = &goals->at[i];
        const double value = by_auto_goal_less(goal, values[i], margins ? margins[i] : 0);
        most = fmax(most, by_auto_goal_lacks(goal, value));
    }
    return most;
}

const struct by_auto_goal *by_auto_goals_sqnr(const struct by_auto_goals *goals)
{
    for (size_t i = 0; i < goals->count; i++)
        if (goals->at[i].metric && !strcmp(goals->at[i].metric->name, "sqnr") &&
            !goals->at[i].worst)
            return &goals->at[i];
    return NULL;
}
