/* Ranges of activations from statistics, scales from ranges. */
#include "base/str.h"
#include "quant/known.h"
#include "quant/params_internal.h"
#include "quant/range_factor.h"
#include "quant/weights_search.h"

#include <math.h>

/* --- Ranges --- */

struct search {
    struct by_quant_plan *plan;
    const struct by_tensor_stats **stats; /* by row */
};

/* Samples to come reach further than those that were looked at. Of 8 bits none can be spared for
 * that; of 16 a part of one costs less than a single value that is cut off. */
static void leave_headroom(struct by_quant_row *row, const struct by_calib_target *target)
{
    if (target->qmax - target->qmin <= UINT8_MAX)
        return;
    row->range.low *= row->spec.calib.headroom;
    row->range.high *= row->spec.calib.headroom;
}

/* ONNX Runtime (1.32) makes one integer operator of a Softmax between two pairs. Its sums overflow
 * where a step is finer than this share of the mean. */
#define SOFTMAX_STEPS 128

static void coarsen_softmax(const struct by_quant_plan *plan, struct by_quant_row *row,
                            const struct by_sketch *sketch, const struct by_calib_target *target)
{
    const struct baryon_node *from = row->value->producer;
    const double levels = (double)(target->qmax - target->qmin);
    const double finite = (double)(sketch->count - sketch->nans - sketch->infinities);
    if (plan->recipe->compat || levels > UINT8_MAX || !(finite > 0) || !from ||
        !by_node_is(from, "Softmax"))
        return;
    const double mean = by_exact_value(&sketch->sum) / finite;
    const double reach = mean * levels / SOFTMAX_STEPS / (row->spec.symmetric ? 2 : 1);
    row->range.high = fmax(row->range.high, reach);
}

static int search_range(const struct search *search, size_t index, struct baryon_error *err)
{
    struct by_quant_row *row = &search->plan->rows.at[index];
    const struct by_sketch *sketch = &search->stats[index]->sketch;
    struct by_calib_target target;
    row->is_zero = sketch->min == 0 && sketch->max == 0;
    if (by_known_take_range(search->plan->known_ranges, row))
        return 0;
    by_spec_target(&row->spec, &target);
    if (row->spec.method->range(sketch, &target, &row->spec.calib, &row->range, err))
        return by_err_in(err, "tensor '%s'", row->value->name);
    row->error = row->range.error;
    leave_headroom(row, &target);
    coarsen_softmax(search->plan, row, sketch, &target);
    return by_known_keep_range(search->plan->known_ranges, row, err);
}

static int range_of(void *context, size_t begin, size_t end, unsigned worker,
                    struct baryon_error *err)
{
    (void)worker;
    const struct search *search = context;
    for (size_t i = begin; i < end; i++)
        if (search->stats[i] && search_range(search, i, err) < 0)
            return -1;
    return 0;
}

static int no_stats(const struct by_quant_row *row, const struct by_stats *stats,
                    struct baryon_error *err)
{
    char quote[BY_QUOTE_MAX];
    by_fail(err, BARYON_ERR_USAGE, "%s tensor %s",
            stats ? "the statistics have no range of" : "there are no statistics of",
            by_quote(quote, row->value->name));
    return stats ? by_err_hint(
                       err, "calibrate again: the statistics must be of the model after its passes")
                 : by_err_hint(err, "give samples, or statistics of an earlier run");
}

static int find_stats(struct search *search, struct by_stats *stats, struct baryon_error *err)
{
    for (size_t i = 0; i < search->plan->rows.count; i++) {
        const struct by_quant_row *row = &search->plan->rows.at[i];
        if (!by_params_wants_stats(row))
            continue;
        search->stats[i] = stats ? by_stats_find(stats, row->value->name) : NULL;
        if (!search->stats[i])
            return no_stats(row, stats, err);
        if (!row->spec.method)
            return by_fail(err, BARYON_ERR_INTERNAL, "tensor '%s' has no calibration method",
                           row->value->name);
    }
    return 0;
}

static int find_ranges(struct by_quant_plan *plan, struct by_stats *stats, struct by_pool *pool,
                       struct baryon_error *err)
{
    struct search search = {plan, by_alloc_zero(plan->rows.count, sizeof *search.stats, err)};
    if (!search.stats)
        return -1;
    const int failed = find_stats(&search, stats, err) ||
                       by_par_for(pool, plan->rows.count, 1, range_of, &search, err);
    by_free(search.stats);
    return failed ? -1 : 0;
}

/* --- Ranges of other rows --- */

/* The row whose range counts in the end. Rows that point at each other in a circle keep none. */
static size_t range_owner(const struct by_quant_plan *plan, size_t row)
{
    for (size_t steps = 0; steps <= plan->rows.count; steps++) {
        row = by_quant_owner(plan, row);
        if (plan->rows.at[row].range_of == BY_NO_ROW || plan->rows.at[row].has_range ||
            plan->rows.at[row].has_params)
            return row;
        row = plan->rows.at[row].range_of;
    }
    return BY_NO_ROW;
}

static int borrow(struct by_quant_plan *plan, size_t index, struct baryon_error *err)
{
    struct by_quant_row *row = &plan->rows.at[index];
    const size_t owner = range_owner(plan, index);
    if (owner == BY_NO_ROW)
        return by_fail(err, BARYON_ERR_INTERNAL, "tensor '%s' does not share a range",
                       row->value->name);
    const struct by_quant_row *from = &plan->rows.at[owner];
    row->range = from->range;
    if (!from->has_params)
        return 0;
    struct by_calib_target target;
    by_spec_target(&from->spec, &target);
    const struct by_scale scale = {(double)from->params.scales[0], from->params.zeros[0], 0};
    by_range_of_scale(&scale, &target, &row->range);
    return 0;
}

/* --- Scales --- */

static float rounded(const struct by_tensor_spec *spec, double scale)
{
    if (spec->scale == BY_SCALE_FLOAT16 || spec->scale == BY_SCALE_INT16)
        return by_scale_round(spec->scale, scale);
    return (float)scale;
}

/* The level that means 0 once the scale is rounded. */
static int64_t settled_zero(const struct by_quant_row *row, const struct by_calib_target *target,
                            const struct by_scale *scale, float used)
{
    if (target->symmetric || (double)used == scale->scale)
        return scale->zero_point;
    const double zero = nearbyint((double)target->qmin - fmin(row->range.low, 0) / (double)used);
    return (int64_t)fmin(fmax(zero, (double)target->qmin), (double)target->qmax);
}

int by_params_of_range(struct by_quant_plan *plan, struct by_quant_row *row,
                       struct baryon_error *err)
{
    struct by_params *params = &row->params;
    struct by_calib_target target;
    struct by_scale scale;
    by_spec_target(&row->spec, &target);
    if (by_scale_of_range(&row->range, &target, &scale, err))
        return by_err_in(err, "tensor '%s'", row->value->name);
    params->scales = BY_ARENA_NEW(&plan->arena, float, err);
    params->zeros = BY_ARENA_NEW(&plan->arena, int64_t, err);
    if (!params->scales || !params->zeros)
        return -1;
    params->scales[0] = rounded(&row->spec, scale.scale);
    params->zeros[0] = settled_zero(row, &target, &scale, params->scales[0]);
    params->count = 1;
    params->axis = params->group_axis = -1;
    params->groups = 1;
    return 0;
}

/* Inputs of the model only: what pixels are made of lies at even distances, other values do not. */
static int settle_input(struct by_quant_plan *plan, size_t index, struct baryon_error *err)
{
    struct by_quant_row *row = &plan->rows.at[index];
    struct by_calib_target target;
    if (!row->value->is_input || plan->recipe->compat || !by_params_wants_stats(row))
        return 0;
    by_spec_target(&row->spec, &target);
    if (!by_range_to_whole_zero(&row->range, &target))
        return 0;
    return by_quant_remark(plan, index, "whole-zero", err,
                           "range widened to %.7g to %.7g, so that 0 is exactly representable",
                           row->range.low, row->range.high);
}

static bool has_own_range(const struct by_quant_row *row)
{
    return row->role == BY_ROLE_ACTIVATION && row->shares == BY_NO_ROW && !row->has_params;
}

int by_params_activations(struct by_quant_plan *plan, struct by_stats *stats, struct by_pool *pool,
                          struct baryon_error *err)
{
    if (find_ranges(plan, stats, pool, err))
        return -1;
    for (size_t i = 0; i < plan->rows.count; i++)
        if (has_own_range(&plan->rows.at[i]) &&
            ((plan->rows.at[i].range_of != BY_NO_ROW && !plan->rows.at[i].has_range &&
              borrow(plan, i, err)) ||
             settle_input(plan, i, err)))
            return -1;
    for (size_t i = 0; i < plan->rows.count; i++)
        if (has_own_range(&plan->rows.at[i]) && (by_range_factor_apply(plan, i, err) < 0 ||
                                                 by_params_of_range(plan, &plan->rows.at[i], err)))
            return -1;
    return 0;
}
