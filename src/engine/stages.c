/* Runs a model in pieces on all samples and stores the values between the pieces. */
#include "engine/stages_internal.h"

/* --- What waits --- */

static void release_held_value(struct by_stages *stages, struct by_held *held)
{
    for (size_t i = 0; held->parked && !held->given && i < stages->samples; i++) {
        stages->bytes -= held->parked[i].array.size;
        by_park_drop(stages->options.depot, &held->parked[i]);
    }
    by_free(held->parked);
    *held = (struct by_held){0};
}

static void release_idle(struct by_stages *stages)
{
    const struct by_ptrs *values = &stages->model->graph->all_values;
    for (size_t i = 0; i < stages->value_count; i++)
        if (stages->held[i].parked && !stages->held[i].wanted &&
            !by_stage_is_awaited(stages, NULL, values->at[i]))
            release_held_value(stages, &stages->held[i]);
}

static int hold_input(struct by_stages *stages, const struct by_parked *const *inputs, size_t place,
                      struct baryon_error *err)
{
    const char *name = inputs[0][place].array.name;
    const struct baryon_value *value = by_map_get(&stages->model->graph->values, name);
    if (!value || !value->is_input)
        return by_fail(err, BARYON_ERR_INTERNAL, "the model has no input '%s'", name);
    struct by_held *held = &stages->held[value->index];
    held->given = true;
    held->parked = by_alloc(stages->samples, sizeof *held->parked, err);
    for (size_t i = 0; held->parked && i < stages->samples; i++)
        held->parked[i] = inputs[i][place];
    return held->parked ? 0 : -1;
}

/* --- Opening --- */

static int open_stage_tables(struct by_stages *stages, const struct by_parked *const *inputs,
                             size_t input_count, struct baryon_error *err)
{
    const struct baryon_graph *graph = stages->model->graph;
    stages->value_count = graph->all_values.count;
    stages->node_count = graph->node.count;
    stages->held = by_alloc_zero(stages->value_count, sizeof *stages->held, err);
    stages->done = by_alloc_zero(stages->node_count, sizeof *stages->done, err);
    if (!stages->held || !stages->done)
        return -1;
    for (size_t i = 0; i < input_count; i++)
        if (hold_input(stages, inputs, i, err) < 0)
            return -1;
    return 0;
}

int by_stages_open(struct by_stages **out, struct baryon_model *model,
                   const struct by_parked *const *inputs, size_t input_count, size_t samples,
                   const struct by_stages_options *options, struct baryon_error *err)
{
    *out = NULL;
    struct by_stages *stages = by_alloc_zero(1, sizeof *stages, err);
    if (!stages)
        return -1;
    stages->options = *options;
    stages->options.session.threads = 1;
    stages->options.session.branches = stages->options.session.cuts = 0;
    stages->model = model;
    stages->samples = samples;
    if (open_stage_tables(stages, inputs, samples ? input_count : 0, err) < 0) {
        by_stages_close(stages);
        return -1;
    }
    *out = stages;
    return 0;
}

void by_stages_close(struct by_stages *stages)
{
    if (!stages)
        return;
    for (size_t i = 0; stages->held && i < stages->value_count; i++)
        release_held_value(stages, &stages->held[i]);
    by_free(stages->held);
    by_free(stages->done);
    by_free(stages);
}

/* --- Running a piece --- */

struct piece {
    struct by_stages *stages;
    const struct by_stage *stage;
    struct by_session *session;
    const char **names;                /* of the outputs */
    struct by_stage_reading *readings; /* by worker */
};

static int keep_all(const struct piece *piece, size_t sample, const struct by_run *run,
                    struct baryon_error *err)
{
    size_t count;
    const struct by_array *outputs = by_run_outputs(run, &count);
    for (size_t i = 0; i < count; i++) {
        const struct baryon_value *value = piece->stage->outputs.at[i];
        struct by_parked *to = &piece->stages->held[value->index].parked[sample];
        if (by_park(piece->stages->options.depot, &outputs[i], false, to, err) < 0)
            return -1;
        to->array.name = value->name;
    }
    return 0;
}

int by_stage_run(const struct by_stages *stages, const struct by_stage *stage,
                 struct by_session *session, const char *const *names, size_t sample,
                 const struct by_stage_reading *reading, struct by_run **run,
                 struct baryon_error *err)
{
    const struct by_value_list *reads = &stage->inputs;
    for (size_t i = 0; i < reads->count; i++)
        if (by_stages_look(stages, reads->at[i], sample, &reading->rooms[i], &reading->inputs[i],
                           err) < 0)
            return -1;
    return by_session_run(session, reading->inputs, reads->count, names, stage->outputs.count, run,
                          err);
}

static int run_sample(const struct piece *piece, size_t sample,
                      const struct by_stage_reading *reading, struct baryon_error *err)
{
    struct by_run *run;
    if (by_stage_run(piece->stages, piece->stage, piece->session, piece->names, sample, reading,
                     &run, err) < 0)
        return -1;
    const int status = keep_all(piece, sample, run, err);
    by_run_free(run);
    return status;
}

static int run_each(void *context, size_t begin, size_t end, unsigned worker,
                    struct baryon_error *err)
{
    const struct piece *piece = context;
    for (size_t i = begin; i < end; i++)
        if (run_sample(piece, i, &piece->readings[worker], err) < 0)
            return -1;
    return 0;
}

static unsigned threads(const struct by_stages *stages)
{
    return stages->options.pool ? by_pool_threads(stages->options.pool) : 1;
}

int by_stage_readings_open(struct by_stage_reading **readings, const struct by_stages *stages,
                           struct by_stage *stage, struct baryon_error *err)
{
    const unsigned count = threads(stages);
    const size_t reads = stage->inputs.count + 1;
    struct by_stage_reading *all = by_arena_alloc(&stage->arena, count, sizeof *all, err);
    *readings = all;
    for (unsigned i = 0; all && i < count; i++) {
        all[i].rooms = by_arena_alloc(&stage->arena, reads, sizeof *all[i].rooms, err);
        all[i].inputs = by_arena_alloc(&stage->arena, reads, sizeof *all[i].inputs, err);
        if (!all[i].rooms || !all[i].inputs)
            return -1;
    }
    return all ? 0 : -1;
}

void by_stage_readings_close(struct by_stage_reading *readings, const struct by_stages *stages,
                             const struct by_stage *stage)
{
    for (unsigned i = 0; readings && i < threads(stages); i++)
        for (size_t k = 0; readings[i].rooms && k < stage->inputs.count; k++)
            by_unpark_room_release(&readings[i].rooms[k]);
}

static int make_piece_room(struct piece *piece, struct by_stage *stage, struct baryon_error *err)
{
    struct by_stages *stages = piece->stages;
    const struct by_value_list *outputs = &stage->outputs;
    piece->names = by_arena_alloc(&stage->arena, outputs->count + 1, sizeof *piece->names, err);
    if (!piece->names || by_stage_readings_open(&piece->readings, stages, stage, err) < 0)
        return -1;
    for (size_t i = 0; i < outputs->count; i++) {
        struct by_held *held = &stages->held[outputs->at[i]->index];
        piece->names[i] = outputs->at[i]->name;
        held->parked = by_alloc_zero(stages->samples, sizeof *held->parked, err);
        if (!held->parked)
            return -1;
    }
    return 0;
}

static void count_bytes(struct by_stages *stages, const struct by_stage *stage)
{
    for (size_t i = 0; i < stage->outputs.count; i++) {
        const struct by_held *held = &stages->held[stage->outputs.at[i]->index];
        for (size_t k = 0; held->parked && k < stages->samples; k++)
            stages->bytes += held->parked[k].array.size;
    }
}

static int run_piece(struct by_stages *stages, struct by_stage *stage, struct baryon_error *err)
{
    struct piece piece = {.stages = stages, .stage = stage};
    if (by_stage_open(&piece.session, stage, stages, err) < 0)
        return -1;
    int status = make_piece_room(&piece, stage, err);
    if (status == 0)
        status = by_par_for(stages->options.pool, stages->samples, 1, run_each, &piece, err);
    count_bytes(stages, stage);
    by_stage_readings_close(piece.readings, stages, stage);
    by_session_close(piece.session);
    return status;
}

static void settle_stage_nodes(struct by_stages *stages, const struct by_stage *stage)
{
    const struct by_ptrs *nodes = &stages->model->graph->node;
    for (size_t i = 0; i < stages->node_count; i++)
        if (stage->needed[i] && !by_stage_is_free(nodes->at[i]))
            stages->done[i] = true;
    release_idle(stages);
}

int by_stages_reach(struct by_stages *stages, struct baryon_value *const *values, size_t count,
                    struct baryon_error *err)
{
    struct by_stage stage = {0};
    if (by_model_settle(stages->model, err) < 0)
        return -1;
    int status = by_stage_find(&stage, stages, values, count, err);
    if (status == 0 && stage.outputs.count && stages->samples)
        status = run_piece(stages, &stage, err);
    for (size_t i = 0; status == 0 && i < count; i++)
        stages->held[values[i]->index].wanted = true;
    if (status == 0)
        settle_stage_nodes(stages, &stage);
    by_arena_release(&stage.arena);
    return status;
}

bool by_stages_has(const struct by_stages *stages, const struct baryon_value *value)
{
    return value->index < stages->value_count && stages->held[value->index].parked;
}

bool by_stages_may_reach(const struct by_stages *stages, const struct baryon_value *value)
{
    while (!by_stages_has(stages, value)) {
        const struct baryon_node *producer = value->producer;
        if (!producer)
            return false;
        if (!by_stage_is_free(producer))
            return !stages->done[producer->index];
        if (!by_node_dequantizes(producer))
            return false;
        value = by_node_in(producer, 0);
    }
    return true;
}

int by_stages_look(const struct by_stages *stages, const struct baryon_value *value, size_t sample,
                   struct by_unpark_room *room, struct by_array *array, struct baryon_error *err)
{
    return by_unpark(stages->options.depot, &stages->held[value->index].parked[sample], room, array,
                     err);
}

void by_stages_let_go(struct by_stages *stages, const struct baryon_value *value)
{
    struct by_held *held = &stages->held[value->index];
    held->wanted = false;
    if (held->parked && !by_stage_is_awaited(stages, NULL, value))
        release_held_value(stages, held);
}

uint64_t by_stages_bytes(const struct by_stages *stages)
{
    return stages->bytes;
}
