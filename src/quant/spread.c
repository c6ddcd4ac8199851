/* Enlarges the smallest scales of weights whose channels' scales are too far apart. */
#include "quant/spread.h"

#include "quant/refine_around.h"

#include <math.h>

static bool extremes_of(const struct by_params *params, float *least, float *most)
{
    *least = INFINITY;
    *most = 0;
    for (size_t i = 0; i < params->count; i++) {
        *least = fminf(*least, params->scales[i]);
        *most = fmaxf(*most, params->scales[i]);
    }
    return *least > 0 && isfinite(*most);
}

static int bound_row(struct by_quant_plan *plan, size_t index, const struct by_spread_bound *bound,
                     struct baryon_error *err)
{
    const struct by_quant_row *row = &plan->rows.at[index];
    const struct by_params *params = &row->params;
    float least, most;
    size_t raised = 0;
    if (params->count < 2 || row->has_params || !extremes_of(params, &least, &most) ||
        (double)most / (double)least <= bound->ratio)
        return 0;
    const double wanted =
        bound->adaptive ? fmax(bound->least, (double)most / bound->ratio) : bound->least;
    const float floor = fminf((float)wanted, most);
    for (size_t i = 0; i < params->count; i++)
        if (params->scales[i] < floor) {
            params->scales[i] = floor;
            raised++;
        }
    return !raised
               ? 0
               : by_quant_remark(plan, index, "bound", err,
                                 "%zu scales enlarged to %.9g: they are from %.9g to %.9g, the "
                                 "ratio may be %.9g",
                                 raised, (double)floor, (double)least, (double)most, bound->ratio);
}

int by_bound_spread(struct by_quant_plan *plan, const struct by_spread_bound *bound,
                    struct baryon_error *err)
{
    static const char *const layers[] = {"Conv", "ConvTranspose", "Gemm", NULL};
    for (size_t i = 0; i < plan->node_count; i++) {
        const struct by_refining at = {.plan = plan, .node = plan->nodes[i].node};
        const size_t row = by_node_is_one_of(at.node, layers) ? by_row_in(&at, 1) : BY_NO_ROW;
        if (row != BY_NO_ROW && bound_row(plan, row, bound, err))
            return -1;
    }
    return 0;
}
