/* One scale of the plan moves, and nothing else. */
#include "quant/refine.h"
#include "rounding/rounding_internal.h"

#include <string.h>

void by_rounding_move_close(struct by_rounding_move *move)
{
    by_snapshot_release(&move->before);
    *move = (struct by_rounding_move){0};
}

/* All of one row. */
static void set_scales(struct by_quant_plan *plan, size_t row, const float *scales)
{
    struct by_params *params = &plan->rows.at[row].params;
    memcpy(params->scales, scales, params->count * sizeof *scales);
}

int by_rounding_move_back(const struct by_rounding_move *move, struct by_quant_plan *plan,
                          struct baryon_error *err)
{
    return by_snapshot_restore(&move->before, plan, err);
}

/* Rules of hardware may want other rows to follow; biases may, and nothing else. */
static bool moved_others(const struct by_rounding_move *move, const struct by_quant_plan *plan,
                         size_t moved, const float *wanted)
{
    const struct by_params *own = &plan->rows.at[moved].params;
    for (size_t i = 0; i < plan->rows.count; i++) {
        const struct by_quant_row *row = &plan->rows.at[i];
        const float now = row->params.count ? row->params.scales[0] : 0;
        if (i != moved && row->role != BY_ROLE_BIAS && row->shares == BY_NO_ROW &&
            now != by_snapshot_scale(&move->before, i))
            return true;
    }
    return memcmp(own->scales, wanted, own->count * sizeof *wanted) != 0;
}

int by_rounding_move(struct by_rounding_move *move, struct by_quant_plan *plan, size_t row,
                     const float *scales, struct baryon_error *err)
{
    if (by_snapshot_take(&move->before, plan, NULL, 0, err) < 0)
        return -1;
    set_scales(plan, row, scales);
    if (by_refine(plan, err) < 0)
        return -1;
    move->moved = !moved_others(move, plan, row, scales);
    return move->moved ? 0 : by_rounding_move_back(move, plan, err);
}

int by_rounding_move_weight(struct by_rounding_run *run, const struct by_rounding_layer *layer,
                            const struct by_round_choice *choice, bool *moved,
                            struct baryon_error *err)
{
    struct by_quant_plan *plan = run->q->plan;
    float *scales = by_alloc(plan->rows.at[layer->weight].params.count, sizeof *scales, err);
    if (!scales)
        return -1;
    by_rounding_scales(plan, layer, choice, scales);
    const int status = by_rounding_move(&run->move, plan, layer->weight, scales, err);
    *moved = run->move.moved;
    run->weights += run->move.moved;
    by_free(scales);
    if (status < 0 || !*moved || !choice->biases)
        return status;
    return by_rounding_biases(plan, layer, run->q->pool, choice->biases, err);
}
