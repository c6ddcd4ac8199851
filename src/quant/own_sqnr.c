/* SQNR of single activations in 8 bits, and which of them need 16. */
#include "quant/own_sqnr.h"

#include "base/decibels.h"
#include "calib/bins_squares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int sqnr_of(const struct by_quant_row *row, const struct by_params *params,
                   const struct by_sketch *sketch, double *sqnr, struct baryon_error *err)
{
    const struct by_scale scale = {.scale = (double)params->scales[0],
                                   .zero_point = params->zeros ? params->zeros[0] : 0};
    struct by_bins_squares squares;
    struct by_calib_target target;
    if (by_bins_squares_of(&squares, sketch, err) < 0)
        return -1;
    by_spec_target(&row->spec, &target);
    const double error = by_bins_squares_error(&squares, &scale, &target, INFINITY);
    by_bins_squares_release(&squares);
    const double rms = by_sketch_rms(sketch);
    *sqnr = by_decibels(rms * rms, error);
    return 0;
}

int by_quant_sqnr_in(const struct by_quant_plan *plan, size_t row, const struct by_sketch *sketch,
                     double *sqnr, struct baryon_error *err)
{
    return sqnr_of(&plan->rows.at[row], by_quant_params(plan, row), sketch, sqnr, err);
}

int by_quant_sqnr_at_best(const struct by_quant_plan *plan, size_t row,
                          const struct by_sketch *sketch, double *sqnr, struct baryon_error *err)
{
    const struct by_quant_row *at = &plan->rows.at[row];
    const struct by_range range = {.low = (double)sketch->min, .high = (double)sketch->max};
    struct by_calib_target target;
    struct by_scale scale;
    by_spec_target(&at->spec, &target);
    if (by_scale_of_range(&range, &target, &scale, err))
        return -1;
    float step = (float)scale.scale;
    const struct by_params params = {.count = 1, .scales = &step, .zeros = &scale.zero_point};
    return sqnr_of(at, &params, sketch, sqnr, err);
}

bool by_quant_has_steps(const struct by_quant_plan *plan, size_t row)
{
    const struct by_quant_row *at = &plan->rows.at[row];
    const struct by_params *params = by_quant_params(plan, row);
    return at->role == BY_ROLE_ACTIVATION && !at->spec.format && params->count == 1 &&
           params->scales;
}

int by_quant_own_sqnr(const struct by_quant_plan *plan, size_t row, struct by_stats *stats,
                      double *sqnr, bool *known, struct baryon_error *err)
{
    const struct by_quant_row *at = &plan->rows.at[row];
    const struct by_tensor_stats *seen = stats ? by_stats_find(stats, at->value->name) : NULL;
    *known = seen && by_quant_has_steps(plan, row);
    return *known ? sqnr_of(at, by_quant_params(plan, row), &seen->sketch, sqnr, err) : 0;
}

/* --- All of 8 bits --- */

static int by_name(const void *one, const void *other)
{
    const struct by_own_sqnr *a = one, *b = other;
    return strcmp(a->tensor, b->tensor);
}

static bool has_8_bits(const struct by_tensor_spec *spec)
{
    return !spec->format && !spec->bits &&
           (spec->elem == BY_ELEM_INT8 || spec->elem == BY_ELEM_UINT8);
}

int by_quant_own_wanted(struct by_quant_plan *plan, const char *const **names, size_t *count,
                        struct baryon_error *err)
{
    const struct by_recipe *recipe = plan->recipe;
    *names = NULL;
    *count = 0;
    if (!recipe->wide_auto && !(recipe->wide_below > 0))
        return 0;
    const char **list = by_arena_alloc(&plan->arena, plan->rows.count, sizeof *list, err);
    if (!list)
        return -1;
    for (size_t i = 0; i < plan->rows.count; i++) {
        const struct by_quant_row *row = &plan->rows.at[i];
        if (row->role == BY_ROLE_ACTIVATION && row->has_range && row->shares == BY_NO_ROW &&
            has_8_bits(&row->spec))
            list[(*count)++] = row->value->name;
    }
    *names = list;
    return 0;
}

static int own_at_best(const struct by_quant_plan *plan, size_t row, struct by_stats *stats,
                       double *sqnr, bool *known, struct baryon_error *err)
{
    const struct by_quant_row *at = &plan->rows.at[row];
    const struct by_tensor_stats *seen = by_stats_find(stats, at->value->name);
    *known = at->role == BY_ROLE_ACTIVATION && seen && seen->sketch.count;
    return *known ? by_quant_sqnr_at_best(plan, row, &seen->sketch, sqnr, err) : 0;
}

/* least: by the row that owns the parameters. */
static int find_least(const struct by_quant_plan *plan, struct by_stats *stats, bool at_best,
                      double *least, struct baryon_error *err)
{
    for (size_t i = 0; i < plan->rows.count; i++)
        least[i] = INFINITY;
    for (size_t i = 0; i < plan->rows.count; i++) {
        double sqnr, *own = &least[by_quant_owner(plan, i)];
        bool known = false;
        if (has_8_bits(&plan->rows.at[i].spec) &&
            (at_best ? own_at_best : by_quant_own_sqnr)(plan, i, stats, &sqnr, &known, err) < 0)
            return -1;
        if (known && sqnr < *own)
            *own = sqnr;
    }
    return 0;
}

static size_t list_rows(const struct by_quant_plan *plan, const double *least,
                        struct by_own_sqnr *list)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->rows.count; i++) {
        const struct by_quant_row *row = &plan->rows.at[i];
        const double sqnr = least[by_quant_owner(plan, i)];
        if (row->role == BY_ROLE_ACTIVATION && has_8_bits(&row->spec) && isfinite(sqnr))
            list[count++] = (struct by_own_sqnr){row->value->name, sqnr};
    }
    qsort(list, count, sizeof *list, by_name);
    return count;
}

int by_quant_own_list(const struct by_quant_plan *plan, struct by_stats *stats, bool at_best,
                      struct by_own_sqnr **list, size_t *count, struct baryon_error *err)
{
    double *least = by_alloc(plan->rows.count + 1, sizeof *least, err);
    *list = by_alloc(plan->rows.count + 1, sizeof **list, err);
    *count = 0;
    const int status = least && *list ? find_least(plan, stats, at_best, least, err) : -1;
    if (status == 0)
        *count = list_rows(plan, least, *list);
    by_free(least);
    return status;
}

bool by_quant_is_below(const struct by_recipe *recipe, const char *tensor, double level)
{
    const struct by_own_sqnr key = {tensor, 0}, *own = NULL;
    if (recipe->own.count)
        own = bsearch(&key, recipe->own.at, recipe->own.count, sizeof key, by_name);
    return own && own->sqnr < level;
}

bool by_quant_is_wide(const struct by_recipe *recipe, const char *tensor)
{
    return recipe->wide_below >= BY_WIDE_ALL ||
           (recipe->wide_below > 0 && by_quant_is_below(recipe, tensor, recipe->wide_below));
}
