/* Runs the part of a model that follows the pieces which have already run. */
#include "engine/stages_internal.h"

#define WAITS SIZE_MAX /* it is no output of the session */

struct by_stages_rest {
    const struct by_stages *stages;
    struct by_stage stage;
    struct by_session *session; /* NULL: nothing is left to run */
    const char **names;         /* of the stage's outputs */
    struct by_stage_reading *readings;
    struct baryon_value *const *values;
    size_t *places; /* by value, among the stage's outputs; WAITS */
    size_t count;
};

/* --- Opening --- */

static size_t place_in_stage_outputs(const struct by_stage *stage, const struct baryon_value *value)
{
    for (size_t i = 0; i < stage->outputs.count; i++)
        if (stage->outputs.at[i] == value)
            return i;
    return WAITS;
}

static int make_lists(struct by_stages_rest *rest, struct baryon_error *err)
{
    struct by_stage *stage = &rest->stage;
    rest->names = by_arena_alloc(&stage->arena, stage->outputs.count + 1, sizeof(char *), err);
    rest->places = by_arena_alloc(&stage->arena, rest->count + 1, sizeof *rest->places, err);
    if (!rest->names || !rest->places ||
        by_stage_readings_open(&rest->readings, rest->stages, stage, err) < 0)
        return -1;
    for (size_t i = 0; i < stage->outputs.count; i++)
        rest->names[i] = stage->outputs.at[i]->name;
    for (size_t i = 0; i < rest->count; i++)
        rest->places[i] = place_in_stage_outputs(stage, rest->values[i]);
    return 0;
}

static int open_rest(struct by_stages_rest *rest, struct baryon_error *err)
{
    if (by_stage_find(&rest->stage, rest->stages, rest->values, rest->count, err) < 0 ||
        make_lists(rest, err) < 0)
        return -1;
    return rest->stage.outputs.count && rest->stages->samples
               ? by_stage_open(&rest->session, &rest->stage, rest->stages, err)
               : 0;
}

int by_stages_rest_open(struct by_stages_rest **out, const struct by_stages *stages,
                        struct baryon_value *const *values, size_t count, struct baryon_error *err)
{
    *out = NULL;
    struct by_stages_rest *rest = by_alloc_zero(1, sizeof *rest, err);
    if (!rest)
        return -1;
    rest->stages = stages;
    rest->values = values;
    rest->count = count;
    by_arena_init(&rest->stage.arena, 0);
    if (by_model_settle(stages->model, err) < 0 || open_rest(rest, err) < 0) {
        by_stages_rest_close(rest);
        return -1;
    }
    *out = rest;
    return 0;
}

void by_stages_rest_close(struct by_stages_rest *rest)
{
    if (!rest)
        return;
    by_stage_readings_close(rest->readings, rest->stages, &rest->stage);
    by_session_close(rest->session);
    by_arena_release(&rest->stage.arena);
    by_free(rest);
}

/* --- Running --- */

static int gather_rest_values(const struct by_stages_rest *rest, size_t sample,
                              const struct by_run *run, struct by_array *values,
                              struct by_unpark_room *rooms, struct baryon_error *err)
{
    size_t count;
    const struct by_array *outputs = run ? by_run_outputs(run, &count) : NULL;
    for (size_t i = 0; i < rest->count; i++)
        if (rest->places[i] != WAITS)
            values[i] = outputs[rest->places[i]];
        else if (by_stages_has(rest->stages, rest->values[i]) &&
                 by_stages_look(rest->stages, rest->values[i], sample, &rooms[i], &values[i], err) <
                     0)
            return -1;
    return 0;
}

static int pass_rest_values(const struct by_stages_rest *rest, size_t sample,
                            const struct by_run *run, by_stages_seen_fn *seen, void *context,
                            struct baryon_error *err)
{
    struct by_array *values = by_alloc_zero(rest->count + 1, sizeof *values, err);
    struct by_unpark_room *rooms = by_alloc_zero(rest->count + 1, sizeof *rooms, err);
    int status = values && rooms ? gather_rest_values(rest, sample, run, values, rooms, err) : -1;
    if (status == 0)
        status = seen(context, sample, values, rest->count, err);
    for (size_t i = 0; rooms && i < rest->count; i++)
        by_unpark_room_release(&rooms[i]);
    by_free(values);
    by_free(rooms);
    return status;
}

int by_stages_rest_run(const struct by_stages_rest *rest, size_t sample, unsigned worker,
                       by_stages_seen_fn *seen, void *context, struct baryon_error *err)
{
    struct by_run *run = NULL;
    if (rest->session && by_stage_run(rest->stages, &rest->stage, rest->session, rest->names,
                                      sample, &rest->readings[worker], &run, err) < 0)
        return -1;
    const int status = pass_rest_values(rest, sample, run, seen, context, err);
    by_run_free(run);
    return status;
}
