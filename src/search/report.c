/* What came of a search, in sentences, as JSON and as a config. */
#include "search/auto_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- Frontier --- */

static bool is_beaten(const struct by_auto *search, const struct by_auto_point *point)
{
    for (size_t i = 0; i < search->points.count; i++) {
        const struct by_auto_point *other = &search->points.at[i];
        if (other->why || other == point)
            continue;
        const double lacks = by_auto_goals_lack(&search->goals, point->choose, NULL);
        const double lacked = by_auto_goals_lack(&search->goals, other->choose, NULL);
        const bool as_good = lacked < lacks || (lacked == lacks && other->sqnr >= point->sqnr);
        const bool as_cheap = other->figures.cost <= point->figures.cost;
        const bool same = other->figures.cost == point->figures.cost &&
                          other->sqnr == point->sqnr && other > point;
        if (as_good && as_cheap && !same)
            return true;
    }
    return false;
}

static int find_frontier(struct by_auto *search, struct baryon_error *err)
{
    search->frontier =
        by_arena_alloc(&search->arena, search->points.count, sizeof *search->frontier, err);
    if (!search->frontier)
        return -1;
    for (size_t i = 0; i < search->points.count; i++) {
        size_t at = search->frontier_count;
        if (search->points.at[i].why || is_beaten(search, &search->points.at[i]))
            continue;
        while (at && search->points.at[search->frontier[at - 1]].figures.cost >
                         search->points.at[i].figures.cost) {
            search->frontier[at] = search->frontier[at - 1];
            at--;
        }
        search->frontier[at] = i;
        search->frontier_count++;
    }
    return 0;
}

/* --- Sentences --- */

static void put_values(struct by_str *text, const struct by_auto *search, const double *values)
{
    for (size_t i = 0; i < search->goals.count; i++) {
        const struct by_auto_goal *goal = &search->goals.at[i];
        by_str_printf(text, "%s%s%s %.4g", i ? ", " : "", goal->name, goal->worst ? ".worst" : "",
                      values[i]);
        by_str_puts(text, goal->metric && !strcmp(goal->name, "sqnr") ? " dB" : "");
    }
}

static const char *keep(struct by_auto *search, struct by_str *text, struct baryon_error *err)
{
    const char *kept = by_str_error(text, err) < 0
                           ? NULL
                           : by_arena_text(&search->arena, by_str_text(text), text->size, err);
    by_str_release(text);
    return kept;
}

/* What the last samples take back. */
static void say_last(const struct by_auto *search, const struct by_auto_point *best,
                     struct by_str *text)
{
    const char *before = "; on the last samples ";
    for (size_t i = 0; i < search->goals.count; i++) {
        const struct by_auto_goal *goal = &search->goals.at[i];
        if (isnan(best->last[i]) || by_auto_goal_is_met(goal, best->last[i]))
            continue;
        by_str_printf(text, "%s%s is missed with %.4g", before, goal->text, best->last[i]);
        before = ", ";
    }
}

static int say_outcome(struct by_auto *search, struct baryon_error *err)
{
    const struct by_auto_point *best = &search->points.at[search->best];
    struct by_str text;
    by_str_init(&text);
    by_str_printf(&text, "%s ", best->name);
    by_str_puts(&text, search->met ? "meets the goals with " : "is the best, with ");
    put_values(&text, search, best->choose);
    by_str_printf(&text, " and %.1f %% of multiply-adds in 8 bits or less",
                  100 * best->figures.low_share);
    if (search->met && !best->sure)
        by_str_puts(&text, search->spared
                               ? "; with the margin that so few samples require, hardly anything "
                                 "could be quantized"
                               : "; no candidate meets them with the margin that so few samples "
                                 "require");
    if (search->met)
        say_last(search, best, &text);
    search->outcome = keep(search, &text, err);
    return search->outcome ? 0 : -1;
}

/* The cheapest point that has the quality and breaks a limit. */
static const struct by_auto_point *beyond_limits(const struct by_auto *search)
{
    const struct by_auto_point *found = NULL;
    for (size_t i = 0; i < search->points.count; i++) {
        const struct by_auto_point *point = &search->points.at[i];
        if (point->met && (!found || point->figures.cost < found->figures.cost))
            found = point;
    }
    return found;
}

static void say_missed(struct by_str *text, const struct by_auto *search)
{
    const struct by_auto_point *best = &search->points.at[search->best];
    bool first = true;
    for (size_t i = 0; i < search->goals.count; i++) {
        const struct by_auto_goal *goal = &search->goals.at[i];
        if (by_auto_goal_is_met(goal, best->choose[i]))
            continue;
        by_str_printf(text, "%s%s is %.4g", first ? "" : ", ", goal->text, best->choose[i]);
        first = false;
    }
}

static void say_limits(struct by_str *text, const struct by_auto_settings *settings,
                       const struct by_auto_point *beyond)
{
    const bool wide = beyond->figures.wide_share > settings->max_wide;
    const bool large = settings->max_size && beyond->bytes > settings->max_size;
    by_str_puts(text, "the goals require ");
    if (wide)
        by_str_printf(text, "--max-wide %.1f%%", 100 * beyond->figures.wide_share);
    if (large)
        by_str_printf(text, "%s--max-size %llu", wide ? " and " : "",
                      (unsigned long long)beyond->bytes);
    by_str_printf(text, ", as %s has it", beyond->name);
}

static int say_needs(struct by_auto_work *work, struct baryon_error *err)
{
    struct by_auto *search = work->out;
    const struct by_auto_settings *settings = work->options->settings;
    const struct by_auto_point *beyond = beyond_limits(search);
    struct by_str text;
    by_str_init(&text);
    if (beyond)
        say_limits(&text, settings, beyond);
    else if (search->timed_out)
        by_str_printf(&text,
                      "the time limit of %g s ended the search; run it with a greater --time-limit",
                      settings->time_limit);
    else
        by_str_printf(&text, "nothing that target %s has reaches that; %s", search->ladder->name,
                      strcmp(search->ladder->name, "any") != 0
                          ? "--target any has wider types"
                          : "give more samples to calibrate, or a lower goal");
    search->needs = keep(search, &text, err);
    return search->needs ? 0 : -1;
}

int by_auto_conclude(struct by_auto_work *work, struct baryon_error *err)
{
    if (find_frontier(work->out, err) < 0 || say_outcome(work->out, err) < 0)
        return -1;
    return work->out->met ? 0 : say_needs(work, err);
}

int by_auto_judge(const struct by_auto *search, struct baryon_error *err)
{
    struct by_str text;
    if (search->met)
        return 0;
    by_str_init(&text);
    say_missed(&text, search);
    if (!text.size)
        by_str_puts(&text, "no candidate is within the limits");
    by_fail(err, BARYON_ERR_GOAL, "%s", by_str_text(&text));
    by_str_release(&text);
    return by_err_hint(err, "%s", search->needs);
}

/* --- Config --- */

void by_auto_write_config(const struct by_auto *search, const char *model, struct by_str *out)
{
    by_str_printf(
        out,
        "# Found by baryon auto %s for target %s.\n"
        "# The same model without a search: baryon quantize %s --config THIS_FILE -o OUT\n",
        baryon_version(), search->ladder->name, model);
    by_str_puts(out, search->points.at[search->best].yaml);
}

/* --- JSON --- */

static void goals_json(const struct by_auto *search, struct by_json *json)
{
    const struct by_auto_point *best = &search->points.at[search->best];
    by_json_open(json, "goals", '[');
    for (size_t i = 0; i < search->goals.count; i++) {
        const struct by_auto_goal *goal = &search->goals.at[i];
        by_json_open(json, NULL, '{');
        by_json_text(json, "metric", goal->name);
        by_json_text(json, "of", goal->worst ? "worst" : "mean");
        by_json_double(json, goal->most ? "most" : "least", goal->bound);
        by_json_double(json, "chosen", best->choose[i]);
        by_json_double(json, "value", best->last[i]);
        by_json_double(json, "margin", best->margins[i]);
        by_json_bool(json, "chosen_met", by_auto_goal_is_met(goal, best->choose[i]));
        by_json_bool(json, "met", by_auto_goal_is_met(goal, best->last[i]));
        by_json_close(json, '}');
    }
    by_json_close(json, ']');
}

static void parts_json(const struct by_auto *search, struct by_json *json)
{
    by_json_open(json, "splits", '{');
    by_json_int(json, "samples", (int64_t)search->parts.total);
    by_json_bool(json, "shared", search->parts.shared);
    for (size_t i = 0; i < BY_AUTO_PARTS; i++) {
        by_json_open(json, by_auto_part_name((enum by_auto_part)i), '{');
        by_json_int(json, "first", (int64_t)search->parts.of[i].first);
        by_json_int(json, "count", (int64_t)search->parts.of[i].count);
        by_json_close(json, '}');
    }
    by_json_close(json, '}');
}

static void values_json(const struct by_auto *search, const char *key, const double *values,
                        double sqnr, struct by_json *json)
{
    bool has_sqnr = false;
    by_json_open(json, key, '{');
    for (size_t i = 0; i < search->goals.count; i++) {
        const struct by_auto_goal *goal = &search->goals.at[i];
        char name[64];
        snprintf(name, sizeof name, "%s%s", goal->name, goal->worst ? ".worst" : "");
        has_sqnr = has_sqnr || !strcmp(name, "sqnr");
        by_json_double(json, name, values[i]);
    }
    if (!has_sqnr)
        by_json_double(json, "sqnr", sqnr);
    by_json_close(json, '}');
}

/* How well few runs tell what decisions cost. */
static void order_json(const struct by_checked *order, struct by_json *json)
{
    if (!order->sources)
        return;
    by_json_open(json, "order", '{');
    by_json_int(json, "sources", (int64_t)order->sources);
    by_json_int(json, "samples", (int64_t)order->samples);
    by_json_double(json, "noise", order->noise);
    by_json_double(json, "share", order->share);
    by_json_close(json, '}');
}

static void step_json(const struct by_auto *search, const struct by_auto_point *point,
                      struct by_json *json)
{
    static const char *const states[] = {"dropped", "best", "final"};
    by_json_open(json, NULL, '{');
    by_json_text(json, "name", point->name);
    by_json_text(json, "text", point->text);
    by_json_text(json, "state", states[point->state]);
    if (point->why) {
        by_json_text(json, "why", point->why);
    } else {
        values_json(search, "choose", point->choose, point->sqnr, json);
        if (!isnan(point->last_sqnr))
            values_json(search, "last", point->last, point->last_sqnr, json);
        by_json_bool(json, "met", point->met);
        by_json_bool(json, "met_with_margin", point->sure);
        by_json_bool(json, "within_limits", point->allowed);
        by_json_double(json, "cost", point->figures.cost);
        by_json_double(json, "low_bits_share", point->figures.low_share);
        by_json_open(json, "widths", '{');
        for (size_t i = 0; i < point->figures.width_count; i++)
            by_json_double(json, point->figures.widths[i].type, point->figures.widths[i].share);
        by_json_close(json, '}');
        by_json_int(json, "bytes", (int64_t)point->bytes);
        order_json(&point->order, json);
    }
    by_json_double(json, "seconds", point->seconds);
    by_json_text(json, "config", point->yaml);
    by_json_close(json, '}');
}

void by_auto_members_json(const struct by_auto *search, struct by_json *json)
{
    by_json_text(json, "target", search->ladder->name);
    goals_json(search, json);
    parts_json(search, json);
    by_json_open(json, "steps", '[');
    for (size_t i = 0; i < search->points.count; i++)
        step_json(search, &search->points.at[i], json);
    by_json_close(json, ']');
    by_json_open(json, "frontier", '[');
    for (size_t i = 0; i < search->frontier_count; i++) {
        const struct by_auto_point *point = &search->points.at[search->frontier[i]];
        by_json_open(json, NULL, '{');
        by_json_int(json, "step", (int64_t)search->frontier[i]);
        by_json_double(json, "cost", point->figures.cost);
        by_json_double(json, "quality", point->choose[0]);
        by_json_close(json, '}');
    }
    by_json_close(json, ']');
}

void by_auto_json(const struct by_auto *search, struct by_json *json)
{
    by_json_open(json, "outcome", '{');
    by_json_text(json, "text", search->outcome);
    by_json_text(json, "goal", search->met ? "met" : "missed");
    by_json_double(json, "quality_db", search->points.at[search->best].last_sqnr);
    by_json_double(json, "low_bits_share", search->points.at[search->best].figures.low_share);
    if (search->needs)
        by_json_text(json, "needs", search->needs);
    by_json_close(json, '}');
    by_auto_members_json(search, json);
}
