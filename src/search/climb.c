/* Climbs the target's rungs until the goals are met. */
#include "search/auto_internal.h"
#include "search/worth.h"

#include <math.h>
#include <string.h>

/* Layers are looked at beside a model that meets the goals if the rung that they can come down to
 * costs less than this share of it. */
#define CHEAPER 0.75
/* And where those of another rung were looked at, which takes as long again: about half of the
 * layers remain wide as a rule. */
#define CHEAPER_AGAIN 0.625

static bool begins_with(const char *name, const char *other)
{
    return !strncmp(name, other, strlen(other));
}

/* --- Rungs --- */

static const struct by_auto_point *point_called(const struct by_auto_work *work, const char *name)
{
    for (size_t i = 0; name && i < work->out->points.count; i++)
        if (!strcmp(work->out->points.at[i].name, name) && !work->out->points.at[i].why)
            return &work->out->points.at[i];
    return NULL;
}

static bool has_value(const struct by_rung *rung, const char *line)
{
    for (const struct by_preset_value *row = rung->values; row->option; row++)
        if (begins_with(line, row->option) && line[strlen(row->option)] == ':')
            return true;
    return false;
}

/* Of the lines that say what samples chose, those about weights and float computations; and about
 * peaks of channels, for which wide activations have room. */
static bool is_shared(const struct by_rung *rung, const char *line)
{
    static const char *const shared[] = {"cle:", "bias-correction:", "logarithm-inputs:"};
    bool is = rung->when != BY_RUNG_WIDE &&
              (begins_with(line, "smooth:") || begins_with(line, "split-outliers:"));
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        is = is || begins_with(line, shared[i]);
    return is && !has_value(rung, line);
}

static void take_choices(const struct by_rung *rung, const char *pins, struct by_str *rest)
{
    for (const char *line = pins; *line;) {
        const size_t length = strcspn(line, "\n") + 1;
        if (is_shared(rung, line))
            by_str_add(rest, line, length);
        line += length;
    }
}

/* by_name: without what would add tensors that the user's model lacks. */
static int rung_config(const struct by_auto_work *work, const struct by_rung *rung, bool by_name,
                       struct by_str *rest, struct baryon_error *err)
{
    const struct by_auto_point *before = point_called(work, rung->choices_of);
    by_str_clear(rest);
    for (const struct by_preset_value *row = rung->values; row->option; row++)
        by_str_printf(rest, "%s: %s\n", row->option, row->value);
    if (before)
        take_choices(rung, by_name ? before->pins_by_name : before->pins, rest);
    return by_str_error(rest, err);
}

static int try_rung(struct by_auto_work *work, const struct by_rung *rung, size_t *place,
                    struct baryon_error *err)
{
    struct by_str rest;
    by_str_init(&rest);
    int status = rung_config(work, rung, false, &rest, err);
    if (status == 0)
        status = by_auto_try(work, rung->name, rung->text, by_str_text(&rest), place, err);
    by_str_release(&rest);
    return status;
}

static const struct by_auto_point *best_of(const struct by_auto_work *work)
{
    return work->best == BY_AUTO_NO_POINT ? NULL : &work->out->points.at[work->best];
}

static bool is_met(const struct by_auto_work *work)
{
    const struct by_auto_point *best = best_of(work);
    return best && best->sure && best->allowed;
}

bool by_auto_is_over(const struct by_auto_work *work)
{
    if (!best_of(work) || !by_auto_is_over_time(work))
        return false;
    work->out->timed_out = true;
    return true;
}

/* What is climbed on from. */
struct level {
    const struct by_rung *rung; /* the best of the level; NULL: all are lost */
    size_t place;
};

static bool takes_over(const struct by_auto_work *work, const struct level *level, size_t place)
{
    const struct by_auto_point *points = work->out->points.at;
    return !points[place].why &&
           (!level->rung || by_auto_is_better(work->out, &points[place], &points[level->place]));
}

/* Nothing is known that meets the goals, or only at a greater cost. */
static bool may_gain(const struct by_auto_work *work, const struct by_rung *rung)
{
    return !by_auto_is_over(work) && (!is_met(work) || best_of(work)->figures.cost > rung->cost);
}

static double cheaper(const struct by_auto_work *work)
{
    const bool again = work->measured > 0 && work->options->settings->effort != BY_EFFORT_THOROUGH;
    return again ? CHEAPER_AGAIN : CHEAPER;
}

/* Going down from wide types ends anywhere above the cheapest rung, also below what is known. */
static bool may_narrow(const struct by_auto_work *work)
{
    const struct by_auto_goal *goal = by_auto_goals_sqnr(&work->out->goals);
    return by_worth_wide_activations(work->weights_sqnr, goal ? goal->bound : (double)NAN) &&
           work->options->settings->effort != BY_EFFORT_QUICK && work->ladder.narrower_count &&
           !by_auto_is_over(work) && is_met(work) &&
           work->ladder.rungs[0].cost < cheaper(work) * best_of(work)->figures.cost;
}

/* A wide rung that misses them itself, or the margin, has no room to give. */
static bool is_narrowed(const struct by_auto_work *work, const struct level *level)
{
    return may_narrow(work) && work->out->points.at[level->place].sure;
}

/* In order, until one meets the goals. of: a rung that they have to be variants of; NULL: any. */
static int try_rungs(struct by_auto_work *work, enum by_rung_when when, const struct by_rung *of,
                     struct level *level, struct baryon_error *err)
{
    for (size_t i = 0; i < work->ladder.rung_count; i++) {
        const struct by_rung *rung = &work->ladder.rungs[i];
        size_t place;
        if (rung->when != when || (of && !begins_with(rung->name, of->name)) ||
            !(may_gain(work, rung) || (when == BY_RUNG_WIDE && !level->rung && may_narrow(work))))
            continue;
        if (try_rung(work, rung, &place, err) < 0)
            return -1;
        if (takes_over(work, level, place))
            *level = (struct level){rung, place};
    }
    return 0;
}

/* Tried already; rung NULL: there is none. */
static struct level find_sparing(const struct by_auto_work *work, const struct by_rung *rung)
{
    const struct by_rung *sparing = by_ladder_sparing(&work->ladder, rung);
    const struct by_auto_point *point = sparing ? point_called(work, sparing->name) : NULL;
    return point && !point->why ? (struct level){sparing, (size_t)(point - work->out->points.at)}
                                : (struct level){0};
}

static int open_layers(struct by_auto_work *work, const struct level *level,
                       struct by_auto_layers **layers, struct baryon_error *err)
{
    struct by_str rest, by_name;
    by_str_init(&rest);
    by_str_init(&by_name);
    int status = rung_config(work, level->rung, false, &rest, err);
    if (status == 0)
        status = rung_config(work, level->rung, true, &by_name, err);
    const struct by_auto_layers_of of = {.place = level->place,
                                         .rest = by_str_text(&rest),
                                         .name = by_str_text(&by_name),
                                         .gives_up = find_sparing(work, level->rung).rung != NULL};
    if (status == 0)
        status = by_auto_layers_open(layers, work, &of, err);
    by_str_release(&rest);
    by_str_release(&by_name);
    return status;
}

static int try_solved(struct by_auto_work *work, struct level *level, struct baryon_error *err)
{
    const struct by_rung *of = level->rung;
    if (try_rungs(work, BY_RUNG_SOLVED, of, level, err) < 0)
        return -1;
    return work->options->settings->effort == BY_EFFORT_THOROUGH
               ? try_rungs(work, BY_RUNG_TUNED, of, level, err)
               : 0;
}

static bool widens_weights(const struct by_auto_work *work)
{
    const struct by_target_ladder *ladder = &work->ladder.decisions;
    for (size_t i = 0; i < ladder->alternative_count; i++)
        if (ladder->alternatives[i].kind == BY_DECIDE_WEIGHT)
            return true;
    return false;
}

static bool is_worth_solving(const struct by_auto_work *work, const struct level *level,
                             const struct by_auto_layers *layers)
{
    const struct by_auto_goal *goal = by_auto_goals_sqnr(&work->out->goals);
    const struct by_worth_solving of = {.gain = by_auto_layers_weights_gain(layers),
                                        .sqnr = work->out->points.at[level->place].sqnr,
                                        .goal = goal ? goal->bound : (double)NAN,
                                        .widens = widens_weights(work)};
    return level->rung->when == BY_RUNG_FIRST && by_worth_solving(&of);
}

/* Where what a pass put in place of an operator misses the goal by itself, no decision helps. */
static int open_hopeful(struct by_auto_work *work, struct level *level,
                        struct by_auto_layers **layers, struct baryon_error *err)
{
    if (open_layers(work, level, layers, err) < 0)
        return -1;
    const struct level sparing = find_sparing(work, level->rung);
    if (!sparing.rung || !by_auto_layers_are_in_vain(*layers))
        return 0;
    by_auto_layers_close(*layers);
    *layers = NULL;
    *level = sparing;
    return open_layers(work, level, layers, err);
}

/* Where a few changes do, which cost about nothing. */
static int try_few(struct by_auto_work *work, struct by_auto_layers *layers, bool *tried,
                   struct baryon_error *err)
{
    *tried = false;
    if (by_auto_is_over(work))
        return 0;
    if (by_auto_layers_are_cheap(layers, tried, err) < 0)
        return -1;
    return *tried ? by_auto_layers_search(layers, err) : 0;
}

static int solve_and_search(struct by_auto_work *work, struct level level,
                            struct by_auto_layers **layers, bool searched, struct baryon_error *err)
{
    const size_t before = level.place;
    if (is_worth_solving(work, &level, *layers) && try_solved(work, &level, err) < 0)
        return -1;
    const bool solved = level.place != before;
    if (by_auto_is_over(work) || (solved ? work->out->points.at[level.place].sure : searched))
        return 0;
    if (solved) {
        by_auto_layers_close(*layers);
        *layers = NULL;
        if (open_layers(work, &level, layers, err) < 0)
            return -1;
    }
    return by_auto_is_over(work) ? 0 : by_auto_layers_search(*layers, err);
}

/* Solved rounding costs nothing where the model runs, so it comes before wider types that do; but
 * it takes long, so weights have to be the cause. */
static int climb_from(struct by_auto_work *work, struct level level, struct baryon_error *err)
{
    const size_t best = work->best;
    struct by_auto_layers *layers = NULL;
    bool searched = false;
    int status = open_hopeful(work, &level, &layers, err);
    if (status == 0 && level.rung->when == BY_RUNG_FIRST)
        work->weights_sqnr = by_auto_layers_weights_sqnr(layers);
    if (status == 0)
        status = try_few(work, layers, &searched, err);
    if (status == 0 && !(searched && is_met(work) && work->best != best))
        status = solve_and_search(work, level, &layers, searched, err);
    by_auto_layers_close(layers);
    return status;
}

/* From wider types some tensors go down again, others up. */
static int climb_wide(struct by_auto_work *work, struct baryon_error *err)
{
    struct level level = {0};
    if (try_rungs(work, BY_RUNG_WIDE, NULL, &level, err) < 0)
        return -1;
    if (!level.rung || by_auto_is_over(work) ||
        work->options->settings->effort == BY_EFFORT_QUICK ||
        (is_met(work) && work->best != level.place && !is_narrowed(work, &level)))
        return 0;
    if (work->ladder.narrower_count) {
        work->ladder.decisions.alternatives = work->ladder.narrower;
        work->ladder.decisions.alternative_count = work->ladder.narrower_count;
    }
    return climb_from(work, level, err);
}

/* The best rung that misses the goals, and costs less than what meets them. */
static struct level find_missed(const struct by_auto_work *work, enum by_rung_when when)
{
    struct level level = {0};
    for (size_t i = 0; i < work->ladder.rung_count; i++) {
        const struct by_rung *rung = &work->ladder.rungs[i];
        for (size_t place = 0; rung->when == when && place < work->out->points.count; place++) {
            const struct by_auto_point *point = &work->out->points.at[place];
            if (!strcmp(point->name, rung->name) && !point->sure &&
                takes_over(work, &level, place) &&
                (!is_met(work) || point->figures.cost < CHEAPER * best_of(work)->figures.cost))
                level = (struct level){rung, place};
        }
    }
    return level;
}

int by_auto_climb(struct by_auto_work *work, struct baryon_error *err)
{
    struct level level = {0};
    work->weights_sqnr = (double)NAN;
    const bool layers = work->options->settings->effort != BY_EFFORT_QUICK;
    if (try_rungs(work, BY_RUNG_FIRST, NULL, &level, err) < 0 ||
        (!layers && try_rungs(work, BY_RUNG_SOLVED, NULL, &level, err) < 0))
        return -1;
    level = find_missed(work, BY_RUNG_FIRST);
    if (layers && level.rung && !by_auto_is_over(work) && climb_from(work, level, err) < 0)
        return -1;
    if (climb_wide(work, err) < 0)
        return -1;
    return layers && best_of(work) && !by_auto_is_over(work) ? by_auto_down(work, err) : 0;
}
