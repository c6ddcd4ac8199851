/* Opens and runs sessions that show chosen tensors to a callback. */
#include "engine/tap_internal.h"

#include "ir/graph.h"

#include <string.h>

static int copy_names(struct by_tapped *tapped, struct by_tap_point *point,
                      const struct by_tap *tap, struct baryon_error *err)
{
    point->values = by_arena_alloc(&tapped->arena, tap->value_count, sizeof *point->values, err);
    if (!point->values)
        return -1;
    for (point->count = 0; point->count < tap->value_count; point->count++) {
        const char *name = tap->values[point->count];
        if (!(point->values[point->count].name =
                  by_arena_text(&tapped->arena, name, strlen(name), err)))
            return -1;
    }
    return 0;
}

static int copy_taps(struct by_tapped *tapped, const struct by_tap *taps, size_t count,
                     struct baryon_error *err)
{
    tapped->taps = by_arena_alloc(&tapped->arena, count, sizeof *tapped->taps, err);
    if (!tapped->taps)
        return -1;
    for (tapped->count = 0; tapped->count < count; tapped->count++) {
        const struct by_tap *tap = &taps[tapped->count];
        struct by_tap_point *point = &tapped->taps[tapped->count];
        *point = (struct by_tap_point){.tapped = tapped,
                                       .hands = tap->hands,
                                       .look = tap->look,
                                       .context = tap->context,
                                       .any_layout = tap->any_layout};
        if (copy_names(tapped, point, tap, err))
            return by_err_in(err, "tap %zu", tapped->count);
    }
    return 0;
}

static int add_ops(void *context, struct by_session *session, OrtSessionOptions *built,
                   struct baryon_error *err)
{
    struct by_tapped *tapped = context;
    return by_tap_ops_add(tapped, session, built, err);
}

/* What went wrong in a tap, rather than what the runtime makes of it. */
static int own_error(const struct by_tapped *tapped, struct baryon_error *err)
{
    if (tapped->failed && err)
        *err = tapped->error;
    return -1;
}

static int open_session(struct by_tapped *tapped, struct baryon_model *model,
                        const struct by_session_options *options, struct baryon_error *err)
{
    struct by_tap_edit edit = {.model = NULL};
    by_arena_init(&edit.arena, 0);
    int failed =
        by_taps_put_in(&edit, tapped, model, err) ||
        by_session_open_extended(&tapped->session, model, 0, options, add_ops, tapped, err);
    by_taps_take_out(&edit);
    by_arena_release(&edit.arena);
    return failed || tapped->failed ? own_error(tapped, err) : 0;
}

/* The runtime takes time in the square of the nodes to optimize, and that many do little each. */
#define NODES_MOST 8000

static int open_inside_or_not(struct by_tapped *tapped, struct baryon_model *model,
                              const struct by_session_options *options, struct baryon_error *err)
{
    struct by_session_options as_it_is = options ? *options : (struct by_session_options){0};
    struct by_optimized inside;
    as_it_is.optimization = 0;
    if (model->graph->node.count > NODES_MOST)
        return open_session(tapped, model, &as_it_is, err);
    if (by_tap_inside_open(&inside, tapped, model, options, err))
        return -1;
    int failed = inside.model ? open_session(tapped, inside.model, &as_it_is, err)
                              : open_session(tapped, model, options, err);
    by_optimized_close(&inside);
    return failed;
}

/* Nobody else needs to know of the output that the runs ask for. */
static void hide_done(struct by_tapped *tapped)
{
    tapped->session->outputs.count--;
}

static int open_tapped(struct by_tapped *tapped, struct baryon_model *model,
                       const struct by_tap *taps, size_t tap_count,
                       const struct by_session_options *options, struct baryon_error *err)
{
    tapped->threads = options && options->threads ? options->threads : by_cpu_count();
    tapped->side_by_side = tapped->threads == 1 && !(options && options->cuts);
    if (options && options->branches > 1)
        return by_fail(err, BARYON_ERR_USAGE, "%u branches, must be 1 for a session with taps",
                       options->branches);
    if (by_model_link(model, err) || by_model_settle(model, err) ||
        copy_taps(tapped, taps, tap_count, err) || by_taps_check(tapped, model, err) ||
        open_inside_or_not(tapped, model, options, err))
        return -1;
    hide_done(tapped);
    return 0;
}

int by_tapped_open(struct by_tapped **out, struct baryon_model *model, const struct by_tap *taps,
                   size_t tap_count, const struct by_session_options *options,
                   struct baryon_error *err)
{
    *out = NULL;
    struct by_tapped *tapped = by_alloc_zero(1, sizeof *tapped, err);
    if (!tapped)
        return -1;
    by_arena_init(&tapped->arena, 0);
    tapped->lane.tapped = tapped;
    pthread_mutex_init(&tapped->turn, NULL);
    if (open_tapped(tapped, model, taps, tap_count, options, err)) {
        by_tapped_close(tapped);
        return -1;
    }
    *out = tapped;
    return 0;
}

void by_tapped_close(struct by_tapped *tapped)
{
    if (!tapped)
        return;
    by_session_close(tapped->session);
    by_free(tapped->lane.plain);
    pthread_mutex_destroy(&tapped->turn);
    by_arena_release(&tapped->arena);
    by_free(tapped);
}

struct by_session *by_tapped_session(const struct by_tapped *tapped)
{
    return tapped->session;
}

/* --- running --- */

_Thread_local struct by_tap_lane *by_tap_lane_here;

int by_tap_lane_open(struct by_tap_lane **lane, struct by_tapped *tapped, void *context,
                     struct baryon_error *err)
{
    *lane = by_alloc_zero(1, sizeof **lane, err);
    if (!*lane)
        return -1;
    (*lane)->tapped = tapped;
    (*lane)->context = context;
    return 0;
}

void by_tap_lane_close(struct by_tap_lane *lane)
{
    if (!lane)
        return;
    by_free(lane->plain);
    by_free(lane);
}

static int run_lane(struct by_tap_lane *lane, const struct by_array *inputs, size_t input_count,
                    uint64_t sample, struct baryon_error *err)
{
    const struct by_tapped *tapped = lane->tapped;
    struct by_tap_lane *before = by_tap_lane_here;
    struct by_run *run;
    lane->sample = sample;
    lane->failed = false;
    by_tap_lane_here = lane;
    int failed =
        by_session_run(tapped->session, inputs, input_count, &tapped->done_name, 1, &run, err);
    by_tap_lane_here = before;
    if (!failed)
        by_run_free(run);
    else if (lane->failed && err)
        *err = lane->error;
    return failed;
}

int by_tap_lane_run(struct by_tap_lane *lane, const struct by_array *inputs, size_t input_count,
                    uint64_t sample, struct baryon_error *err)
{
    struct by_tapped *tapped = lane->tapped;
    if (tapped->side_by_side)
        return run_lane(lane, inputs, input_count, sample, err);
    pthread_mutex_lock(&tapped->turn);
    int failed = run_lane(lane, inputs, input_count, sample, err);
    pthread_mutex_unlock(&tapped->turn);
    return failed;
}

int by_tapped_run(struct by_tapped *tapped, const struct by_array *inputs, size_t input_count,
                  uint64_t sample, struct baryon_error *err)
{
    pthread_mutex_lock(&tapped->turn);
    int failed = run_lane(&tapped->lane, inputs, input_count, sample, err);
    pthread_mutex_unlock(&tapped->turn);
    return failed;
}
