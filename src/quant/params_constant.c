/* Parameters of weights and other constants. Big ones take all threads one after the other,
 * small ones stand side by side; neither changes what is found. */
#include "onnx/load.h"
#include "quant/floats.h"
#include "quant/known.h"
#include "quant/nbits.h"
#include "quant/params_internal.h"
#include "quant/rounded.h"

#include <math.h>
#include <string.h>

#define BIG_ELEMENTS ((size_t)1 << 20)

struct found {
    struct by_params params;
    double error;
    struct by_arena arena; /* of what a piece finds, until it is copied into the plan's */
};

struct work {
    struct by_quant_plan *plan;
    const size_t *rows;
    struct found *found;
};

static bool needs_constant_params(const struct by_quant_row *row)
{
    return row->role != BY_ROLE_ACTIVATION && row->input_row == BY_NO_ROW &&
           row->shares == BY_NO_ROW && !row->has_params && !row->has_range;
}

static size_t elements_of_row(const struct by_quant_row *row)
{
    size_t count = 0;
    by_tensor_count(row->value->initializer, &count, NULL);
    return count;
}

/* MatMulNBits has parameters of its own kind, found with its levels. */
static int search_blocks(const struct by_recipe *recipe, const struct by_quant_row *row,
                         const struct by_weight_view *view, struct by_pool *pool,
                         struct found *found, struct baryon_error *err)
{
    struct by_nbits made;
    const struct by_nbits_spec spec = by_nbits_spec_of(recipe, row, false);
    found->params = row->params;
    if (by_nbits_open(&made, view, &spec, pool, err) < 0)
        return -1;
    const int status = by_nbits_params(&made, &spec, &found->arena, &found->params, err);
    found->error = made.error;
    by_nbits_close(&made);
    return status;
}

/* One for the tensor, by its greatest magnitude. */
static int search_float(const struct by_quant_row *row, const struct by_floats_view *floats,
                        struct found *found, struct baryon_error *err)
{
    struct by_params *params = &found->params;
    struct by_calib_target target;
    struct by_scale scale;
    double most = 0;
    for (size_t i = 0; i < floats->count; i++)
        most = fmax(most, fabs((double)floats->values[i]));
    const struct by_range range = {.low = -most, .high = most};
    by_spec_target(&row->spec, &target);
    *params = row->params;
    params->scales = BY_ARENA_NEW(&found->arena, float, err);
    params->zeros = BY_ARENA_NEW(&found->arena, int64_t, err);
    if (!params->scales || !params->zeros || by_scale_of_range(&range, &target, &scale, err))
        return -1;
    params->scales[0] = (float)scale.scale;
    params->count = 1;
    found->error = NAN;
    return 0;
}

static int search(const struct by_recipe *recipe, const struct by_quant_row *row,
                  struct by_pool *pool, struct found *found, struct baryon_error *err)
{
    struct by_floats_view floats;
    by_arena_init(&found->arena, 0);
    if (by_floats_open(&floats, row->value->initializer, err))
        return -1;
    const struct by_weight_view view = by_quant_view(row, &row->params, floats.values);
    const int failed = by_spec_is_scaled(&row->spec) ? search_float(row, &floats, found, err)
                       : recipe->approach == BY_APPROACH_NBITS
                           ? search_blocks(recipe, row, &view, pool, found, err)
                           : by_weight_params(&view, &row->spec, pool, &found->arena,
                                              &found->params, &found->error, err);
    by_floats_close(&floats);
    return failed;
}

static int search_small(void *context, size_t begin, size_t end, unsigned worker,
                        struct baryon_error *err)
{
    (void)worker;
    const struct work *work = context;
    for (size_t i = begin; i < end; i++)
        if (search(work->plan->recipe, &work->plan->rows.at[work->rows[i]], NULL, &work->found[i],
                   err))
            return -1;
    return 0;
}

static void *copy(struct by_arena *arena, const void *from, size_t count, size_t size,
                  struct baryon_error *err)
{
    void *to = by_arena_alloc(arena, count, size, err);
    if (to)
        memcpy(to, from, count * size);
    return to;
}

static int keep_found_params(struct by_quant_plan *plan, struct by_quant_row *row,
                             struct found *found, struct baryon_error *err)
{
    const struct by_params *from = &found->params;
    row->params = *from;
    row->params.scales = copy(&plan->arena, from->scales, from->count, sizeof *from->scales, err);
    row->params.zeros = copy(&plan->arena, from->zeros, from->count, sizeof *from->zeros, err);
    row->error = found->error;
    return row->params.scales && row->params.zeros ? by_known_keep(plan->known, row, err) : -1;
}

/* Blocks whose levels nobody else chooses. */
static bool lowering_finds_them(const struct by_recipe *recipe)
{
    return recipe->approach == BY_APPROACH_NBITS && recipe->rounding == BY_ROUNDING_NEAREST;
}

/* Big ones and those that are known are done; the others are listed. */
static int begin_row(struct work *work, size_t index, size_t *rows, size_t *small,
                     struct by_pool *pool, struct baryon_error *err)
{
    struct by_quant_plan *plan = work->plan;
    struct by_quant_row *row = &plan->rows.at[index];
    bool known;
    if (row->role != BY_ROLE_ACTIVATION && row->has_range && !row->has_params &&
        by_params_of_range(plan, row, err))
        return -1;
    if (!needs_constant_params(row) || lowering_finds_them(plan->recipe))
        return 0;
    if (by_known_take(plan->known, plan, row, &known, err) < 0)
        return -1;
    if (known)
        return 0;
    if (elements_of_row(row) < BIG_ELEMENTS) {
        rows[(*small)++] = index;
        return 0;
    }
    struct found found;
    const int failed =
        search(plan->recipe, row, pool, &found, err) || keep_found_params(plan, row, &found, err);
    by_tensor_done(plan->model, row->value->initializer);
    by_arena_release(&found.arena);
    return failed ? -1 : 0;
}

static int search_all(struct work *work, size_t *rows, struct by_pool *pool,
                      struct baryon_error *err)
{
    struct by_quant_plan *plan = work->plan;
    size_t small = 0;
    for (size_t i = 0; i < plan->rows.count; i++)
        if (begin_row(work, i, rows, &small, pool, err) < 0)
            return -1;
    int failed = by_par_for(pool, small, 1, search_small, work, err);
    for (size_t i = 0; i < small; i++) {
        if (!failed)
            failed = keep_found_params(plan, &plan->rows.at[rows[i]], &work->found[i], err);
        by_arena_release(&work->found[i].arena);
    }
    return failed ? -1 : 0;
}

int by_quant_find_constant(struct by_quant_plan *plan, size_t row, struct by_pool *pool,
                           struct baryon_error *err)
{
    struct found found;
    if (!needs_constant_params(&plan->rows.at[row]))
        return 0;
    const int failed = search(plan->recipe, &plan->rows.at[row], pool, &found, err) ||
                       keep_found_params(plan, &plan->rows.at[row], &found, err);
    by_arena_release(&found.arena);
    return failed ? -1 : 0;
}

int by_params_constants(struct by_quant_plan *plan, struct by_pool *pool, struct baryon_error *err)
{
    size_t *rows = by_alloc(plan->rows.count, sizeof *rows, err);
    struct work work = {plan, rows, by_alloc_zero(plan->rows.count, sizeof *work.found, err)};
    const int failed = rows && work.found ? search_all(&work, rows, pool, err) : -1;
    by_free(rows);
    by_free(work.found);
    return failed;
}
