/* Gives the weights of layers a narrower type, where what meets the goals has room for that. */
#include "search/auto_internal.h"
#include "search/worth.h"

#include <math.h>
#include <string.h>

/* dB that the best point has above what is asked for: its noise may double. */
#define ROOM 3.0
/* Margin of narrower weights, in standard errors. They save bytes alone, and goals are met
 * without them, so they have to meet the goals on nearly all other samples. */
#define ERRORS 2.0

static const char *const operators[] = {"Conv", "ConvTranspose", "Gemm", "MatMul"};

/* Solving again, with fewer bits, takes longer than all else. */
static bool is_solved(const struct by_auto_point *point)
{
    return strstr(point->name, ", solved") != NULL;
}

static bool leaves_room(const struct by_auto_work *work, const struct by_auto_point *point)
{
    const struct by_auto_goals *goals = &work->out->goals;
    const struct by_auto_goal *goal = by_auto_goals_sqnr(goals);
    if (!point->allowed || !goal)
        return true;
    return point->sqnr >= goal->bound + point->margins[goal - goals->at] + ROOM;
}

/* The point's own config, as samples chose, with the narrower type. Rules for nodes stay stronger.
 */
static int narrow_config(const struct by_auto_work *work, const struct by_auto_point *point,
                         struct by_str *rest, struct baryon_error *err)
{
    by_str_puts(rest, point->pins);
    by_str_puts(rest, "op_types:\n");
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        by_str_printf(rest, "  %s: {weight: %s}\n", operators[i], work->ladder.narrow_weight);
    by_str_puts(rest, by_auto_rest(work, point));
    return by_str_error(rest, err);
}

static int try_narrow(struct by_auto_work *work, const char *rest, size_t *place,
                      struct baryon_error *err)
{
    const struct by_auto_point *point = &work->out->points.at[work->best];
    struct by_str name;
    by_str_init(&name);
    by_str_printf(&name, "%s, %s weights", point->name, work->ladder.narrow_weight);
    int status = by_str_error(&name, err);
    if (status == 0)
        status = by_auto_try(work, by_str_text(&name), "weights of all layers in a narrower type",
                             rest, place, err);
    by_str_release(&name);
    return status;
}

/* Single weights have the wider type again. */
static int widen(struct by_auto_work *work, size_t place, const char *rest,
                 struct baryon_error *err)
{
    struct by_auto_layers *layers = NULL;
    work->ladder.decisions.alternatives = work->ladder.back;
    work->ladder.decisions.alternative_count = work->ladder.back_count;
    const struct by_auto_layers_of of = {.place = place, .rest = rest, .bytes = true};
    int status = by_auto_layers_open(&layers, work, &of, err);
    if (status == 0 && !by_auto_is_over(work))
        status = by_auto_layers_search(layers, err);
    by_auto_layers_close(layers);
    return status;
}

static bool may_suffice(const struct by_auto_work *work, const struct by_auto_point *wide,
                        const struct by_auto_point *narrow)
{
    const struct by_auto_goal *goal = by_auto_goals_sqnr(&work->out->goals);
    const struct by_worth_back of = {.needed = !wide->allowed,
                                     .late = work->measured > 0 &&
                                             work->options->settings->effort != BY_EFFORT_THOROUGH,
                                     .sqnr = narrow->sqnr,
                                     .goal = goal ? goal->bound : (double)NAN,
                                     .wide = (double)wide->bytes,
                                     .narrow = (double)narrow->bytes,
                                     .smallest = by_auto_smaller_bytes(wide)};
    return by_worth_going_back(&of);
}

/* It would be smaller, and only the goals are in the way. */
static bool may_widen(const struct by_auto_work *work, size_t before, size_t place)
{
    const struct by_auto_point *wide = &work->out->points.at[before];
    const struct by_auto_point *narrow = &work->out->points.at[place];
    return !narrow->why && !(narrow->sure && narrow->allowed) && !by_auto_is_over(work) &&
           (wide->allowed ? by_auto_is_smaller(narrow, wide) : narrow->bytes < wide->bytes) &&
           may_suffice(work, wide, narrow);
}

int by_auto_down(struct by_auto_work *work, struct baryon_error *err)
{
    const struct by_auto_point *best = &work->out->points.at[work->best];
    const size_t before = work->best;
    struct by_str rest;
    size_t place;
    if (!work->ladder.narrow_weight || !best->sure || is_solved(best) || !leaves_room(work, best))
        return 0;
    by_str_init(&rest);
    if (best->allowed)
        work->errors = ERRORS;
    int status = narrow_config(work, best, &rest, err);
    if (status == 0)
        status = try_narrow(work, by_str_text(&rest), &place, err);
    if (status == 0 && may_widen(work, before, place))
        status = widen(work, place, by_str_text(&rest), err);
    work->errors = 1;
    by_str_release(&rest);
    return status;
}
