/* Where scales are solved as well: several ways, of which samples kept aside choose. */
#include "quant/floats.h"
#include "rounding/rounding_internal.h"

#include <string.h>

/* What solving changes. */
struct state {
    struct by_arena arena;
    struct by_quant_row *rows; /* as they were; scales and zeros are copies */
    float **biases;            /* by layer */
};

struct ways {
    struct by_quantization *q;
    struct by_rounding_layer *layers; /* whose biases may change */
    size_t count;
    struct state before, best;
    struct by_reconstruct_keep keep;
};

static void *copy(struct by_arena *arena, const void *from, size_t count, size_t size,
                  struct baryon_error *err)
{
    void *to = by_arena_alloc(arena, count, size, err);
    if (to && count)
        memcpy(to, from, count * size);
    return to;
}

static int save_row(struct state *state, size_t index, struct baryon_error *err)
{
    struct by_quant_row *row = &state->rows[index];
    const struct by_params *params = &row->params;
    if (!params->count || !params->scales)
        return 0;
    row->params.scales = copy(&state->arena, params->scales, params->count, sizeof(float), err);
    if (params->zeros)
        row->params.zeros = copy(&state->arena, params->zeros, params->count, sizeof(int64_t), err);
    return row->params.scales && (row->params.zeros || !params->zeros) ? 0 : -1;
}

static int save_biases(struct ways *ways, struct state *state, struct baryon_error *err)
{
    state->biases = by_arena_alloc(&state->arena, ways->count + 1, sizeof *state->biases, err);
    for (size_t i = 0; state->biases && i < ways->count; i++) {
        const struct by_rounding_layer *layer = &ways->layers[i];
        state->biases[i] = NULL;
        if (!layer->bias)
            continue;
        float *values = by_floats_copy(layer->bias->initializer, NULL, err);
        state->biases[i] =
            values ? copy(&state->arena, values, layer->groups * layer->outs, sizeof *values, err)
                   : NULL;
        by_free(values);
        if (!state->biases[i])
            return -1;
    }
    return state->biases ? 0 : -1;
}

static int save(struct ways *ways, struct state *state, struct baryon_error *err)
{
    const struct by_quant_plan *plan = ways->q->plan;
    by_arena_release(&state->arena);
    by_arena_init(&state->arena, 0);
    state->rows = copy(&state->arena, plan->rows.at, plan->rows.count, sizeof *state->rows, err);
    for (size_t i = 0; i < plan->rows.count; i++)
        if (!state->rows || save_row(state, i, err) < 0)
            return -1;
    return save_biases(ways, state, err);
}

/* The plan's own memory holds as many scales as before. */
static void restore_row(struct by_quant_row *row, const struct by_quant_row *from)
{
    float *scales = row->params.scales;
    int64_t *zeros = row->params.zeros;
    row->params = from->params;
    row->params.scales = scales;
    row->params.zeros = zeros;
    row->rounded = from->rounded;
    row->solved = from->solved;
    row->error = from->error;
    row->remarks.count = from->remarks.count;
    if (scales && from->params.scales)
        memcpy(scales, from->params.scales, from->params.count * sizeof *scales);
    if (zeros && from->params.zeros)
        memcpy(zeros, from->params.zeros, from->params.count * sizeof *zeros);
}

static int restore(const struct ways *ways, const struct state *state, struct baryon_error *err)
{
    struct by_quant_plan *plan = ways->q->plan;
    for (size_t i = 0; i < plan->rows.count; i++)
        restore_row(&plan->rows.at[i], &state->rows[i]);
    for (size_t i = 0; i < ways->count; i++)
        if (state->biases[i] &&
            by_floats_write(ways->q->model, ways->layers[i].bias->initializer, state->biases[i],
                            ways->layers[i].groups * ways->layers[i].outs, err) < 0)
            return -1;
    return 0;
}

/* --- Ways --- */

static double level_of(const struct by_solved *solved)
{
    return solved->kept ? solved->after : solved->before;
}

static int try_way(struct ways *ways, struct by_rounding_way *way, struct baryon_error *err)
{
    struct by_solved *solved = &ways->q->report.solved, best = *solved;
    if (restore(ways, &ways->before, err) < 0)
        return -1;
    *solved = (struct by_solved){0};
    const int status = by_rounding_once(ways->q, way, &ways->keep, err);
    if (status == 0 && solved->kept && solved->after > level_of(&best)) {
        by_free(best.layers);
        /* Nearest integers are those of scales as they were. */
        solved->before = best.before;
        return save(ways, &ways->best, err);
    }
    by_free(solved->layers);
    *solved = best;
    return status;
}

/* Where neither moves a scale of an activation, both are the same. */
static int try_scales(struct ways *ways, struct baryon_error *err)
{
    struct by_rounding_way layers = {.scales = BY_ROUNDING_SCALES_OF_LAYERS};
    struct by_rounding_way model = {.scales = BY_ROUNDING_SCALES_OF_MODEL};
    if (try_way(ways, &layers, err) < 0)
        return -1;
    model.has_to_move = !layers.moved;
    return try_way(ways, &model, err);
}

static int try_ways(struct ways *ways, struct baryon_error *err)
{
    struct by_quantization *q = ways->q;
    by_arena_init(&ways->before.arena, 0);
    by_arena_init(&ways->best.arena, 0);
    if (by_rounding_layers(q->plan, &ways->layers, &ways->count, err) < 0 ||
        save(ways, &ways->before, err) < 0 ||
        by_rounding_once(q, &(struct by_rounding_way){0}, &ways->keep, err) < 0 ||
        save(ways, &ways->best, err) < 0)
        return -1;
    if (q->report.solved.count && try_scales(ways, err) < 0)
        return -1;
    return restore(ways, &ways->best, err);
}

int by_rounding_best(struct by_quantization *q, struct baryon_error *err)
{
    struct ways ways = {.q = q};
    const int status = try_ways(&ways, err);
    by_reconstruct_keep_close(&ways.keep);
    by_arena_release(&ways.before.arena);
    by_arena_release(&ways.best.arena);
    by_free(ways.layers);
    return status;
}
