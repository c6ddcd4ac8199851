/* Finds the scales and zero points of a plan from statistics and constants. */
#include "quant/params.h"

#include "calib/votes.h"
#include "quant/params_internal.h"

/* --- Which statistics it takes --- */

bool by_params_wants_stats(const struct by_quant_row *row)
{
    return row->role == BY_ROLE_ACTIVATION && row->shares == BY_NO_ROW &&
           row->range_of == BY_NO_ROW && !row->has_range && !row->has_params;
}

int by_quant_wanted(struct by_quant_plan *plan, const char *const **names, size_t *count,
                    struct baryon_error *err)
{
    const char **list = by_arena_alloc(&plan->arena, plan->rows.count, sizeof *list, err);
    if (!list)
        return -1;
    *count = 0;
    for (size_t i = 0; i < plan->rows.count; i++)
        if (by_params_wants_stats(&plan->rows.at[i]))
            list[(*count)++] = plan->rows.at[i].value->name;
    *names = list;
    return 0;
}

static bool is_among(const struct by_vote_levels *list, size_t count,
                     const struct by_vote_levels *levels)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].least == levels->least && list[i].most == levels->most)
            return true;
    return false;
}

/* Of a row that asks for votes. */
static bool votes_of(const struct by_quant_row *row, struct by_vote_levels *levels)
{
    struct by_calib_target target;
    if (!by_params_wants_stats(row) || !row->spec.method || !row->spec.method->votes)
        return false;
    by_spec_target(&row->spec, &target);
    by_vote_levels_of(&target, levels);
    return true;
}

int by_quant_votes(struct by_quant_plan *plan, const struct by_vote_levels **votes, size_t *count,
                   struct baryon_error *err)
{
    struct by_vote_levels *list = NULL, levels;
    *count = 0;
    *votes = NULL;
    for (size_t i = 0; i < plan->rows.count; i++) {
        if (!votes_of(&plan->rows.at[i], &levels) || is_among(list, *count, &levels))
            continue;
        if (!list && !(list = by_arena_alloc(&plan->arena, plan->rows.count, sizeof *list, err)))
            return -1;
        list[(*count)++] = levels;
    }
    *votes = list;
    return 0;
}

/* Biases come last: their scales are products of those of others. */
int by_quant_find_params(struct by_quant_plan *plan, struct by_stats *stats, struct by_pool *pool,
                         struct baryon_error *err)
{
    return by_params_activations(plan, stats, pool, err) || by_params_constants(plan, pool, err) ||
                   by_params_biases(plan, err)
               ? -1
               : 0;
}
