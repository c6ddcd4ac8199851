/* Weights alone, activations alone and both, from one plan: rows of the other role are left out of
 * a copy of it. Biases that make up for rounded weights only stand where weights are rounded. */
#include "quant/lower.h"
#include "quant/plan_copy.h"
#include "sensitivity/sensitivity_internal.h"

static const unsigned roles[BY_STATES] = {
    [BY_STATE_WEIGHTS] = BY_ROLES_WEIGHTS,
    [BY_STATE_ACTIVATIONS] = BY_ROLES_ACTIVATIONS,
    [BY_STATE_BOTH] = BY_ROLES_WEIGHTS | BY_ROLES_ACTIVATIONS,
};

static int note_rows(struct by_sensing_model *model, const size_t *rows, size_t all,
                     struct baryon_error *err)
{
    model->row_at = by_alloc(all + 1, sizeof *model->row_at, err);
    if (!model->row_at)
        return -1;
    for (size_t i = 0; i < all; i++)
        model->row_at[i] = BY_NO_ROW;
    for (size_t i = 0; i < model->draft.plan->rows.count; i++)
        model->row_at[rows[i]] = i;
    return 0;
}

static int open_quantized(struct by_sensing *sensing, enum by_state state, struct baryon_error *err)
{
    struct by_sensing_model *model = &sensing->models[state];
    const struct by_quant_plan *plan = sensing->q->plan;
    const bool rounds = roles[state] & BY_ROLES_WEIGHTS;
    size_t *rows = by_alloc(plan->rows.count + 1, sizeof *rows, err);
    if (!rows)
        return -1;
    int status = by_draft_open_planned(&model->draft, rounds ? &sensing->now : &sensing->q->floats,
                                       plan, roles[state], rows, err);
    if (status == 0)
        status = note_rows(model, rows, plan->rows.count, err);
    by_free(rows);
    return status;
}

static int open_model(struct by_sensing *sensing, enum by_state state, struct baryon_error *err)
{
    struct by_sensing_model *model = &sensing->models[state];
    const struct baryon_model *exact = sensing->models[BY_STATE_FLOAT].draft.model;
    if (state != BY_STATE_FLOAT && !(sensing->states >> state & 1))
        return 0;
    /* The twin alone compares with the float model. */
    if (state == BY_STATE_FLOAT && !sensing->decompose && !(sensing->states & 1u << state))
        return 0;
    if (state == BY_STATE_FLOAT)
        return by_draft_open_planned(&model->draft, &sensing->q->floats, NULL, 0, NULL, err);
    if (open_quantized(sensing, state, err) < 0 ||
        (sensing->decompose && by_twin_side_open(&model->side, exact, model->draft.model,
                                                 state != BY_STATE_BOTH, err) < 0))
        return -1;
    return by_lower_qdq(model->draft.plan, sensing->q->pool, err);
}

static int open_states(void *context, size_t begin, size_t end, unsigned worker,
                       struct baryon_error *err)
{
    (void)worker;
    for (size_t i = begin; i < end; i++)
        if (open_model(context, (enum by_state)i, err) < 0)
            return -1;
    return 0;
}

/* Without a twin no state needs another one. */
int by_sensing_open_models(struct by_sensing *sensing, struct baryon_error *err)
{
    if (by_frame_take(&sensing->now, sensing->q->model, err) < 0)
        return -1;
    return by_par_for(sensing->decompose ? NULL : sensing->q->pool, BY_STATES, 1, open_states,
                      sensing, err);
}

void by_sensing_close_models(struct by_sensing *sensing)
{
    for (size_t i = 0; i < BY_STATES; i++) {
        struct by_sensing_model *model = &sensing->models[i];
        by_twin_side_close(&model->side);
        by_free(model->row_at);
        by_draft_close(&model->draft);
    }
    by_frame_release(&sensing->now);
}
