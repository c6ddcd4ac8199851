/* The moments of inputs, and the errors that outputs of some rows have with each type. */
#include "llm/auto/auto_internal.h"

#include <string.h>

/* The linears of a shared input in one type; those that cannot have it are left out. */
static void in_type(const struct by_bits_search *s, const struct by_llm_sharing *sharing,
                    size_t type, struct by_llm_sharing *own)
{
    own->count = 0;
    for (size_t i = 0; i < sharing->count; i++) {
        const struct by_llm_item *base = sharing->places[i].item;
        struct by_llm_item *item = &s->types[type].plan.items[base - s->calibrated.plan->items];
        if (item->scheme || item->blocks)
            own->places[own->count++] = (struct by_llm_place){item, sharing->places[i].matrix};
    }
}

static void note_errors(struct by_bits_search *s, size_t type, const struct by_llm_sharing *own,
                        const struct by_llm_linear *linears)
{
    for (size_t i = 0; i < own->count; i++) {
        const size_t weight = (size_t)(own->places[i].item - s->types[type].plan.items);
        const size_t linear = s->linear_of[weight];
        if (linear == SIZE_MAX)
            continue;
        s->nearest[linear * s->type_count + type] = linears[i].errors.nearest;
        s->solved[linear * s->type_count + type] = linears[i].errors.solved;
    }
}

/* The first type chooses the shrinkage for all. */
static int look_at_type(struct by_bits_search *s, const struct by_llm_sharing *sharing,
                        const struct by_llm_inputs *inputs, size_t type,
                        struct by_llm_solver *solver, struct baryon_error *err)
{
    struct by_llm_linear linears[BY_LLM_SHARING];
    struct by_llm_sharing own;
    in_type(s, sharing, type, &own);
    if (!own.count || by_llm_sharing_scales(&own, s->pool, err))
        return own.count ? -1 : 0;
    struct by_llm_group group = {
        .inputs = inputs, .solver = solver, .linears = linears, .count = own.count};
    for (size_t i = 0; i < own.count; i++)
        linears[i] = (struct by_llm_linear){.weights = own.places[i].matrix->weight,
                                            .rows = own.places[i].matrix->rows,
                                            .target = by_llm_item_target(own.places[i].item)};
    const int status = by_llm_group_open(&group, s->pool, err);
    if (!status) {
        solver->options.shrink = group.shrink;
        note_errors(s, type, &own, linears);
    }
    by_llm_group_close(&group);
    return status;
}

static int look_at_inputs(void *context, const struct by_llm_sharing *sharing,
                          const struct by_llm_inputs *inputs, struct baryon_error *err)
{
    struct by_bits_search *s = context;
    struct by_llm_solver solver = s->calibrated.options->solver;
    for (size_t t = 0; t < s->type_count && inputs->tokens; t++)
        if (look_at_type(s, sharing, inputs, t, &solver, err))
            return -1;
    return 0;
}

/* Experts without a token have what the others of their kind have in the mean. */
static void fill_unknown(const struct by_bits_search *s, double *errors)
{
    for (size_t i = 0; i < s->linear_count * s->type_count; i++) {
        const struct by_bits_linear *linear = &s->linears[i / s->type_count];
        double sum = 0;
        size_t count = 0;
        if (errors[i] >= 0)
            continue;
        for (size_t k = 0; k < s->linear_count; k++) {
            const double other = errors[k * s->type_count + i % s->type_count];
            if (s->linears[k].kind == linear->kind && s->linears[k].layer == linear->layer &&
                other >= 0) {
                sum += other;
                count++;
            }
        }
        errors[i] = count ? sum / (double)count : -1;
    }
}

static void show(void *context, size_t done, size_t all)
{
    by_bits_tell(context, "look", done, all);
}

int by_bits_look(struct by_bits_search *s, struct baryon_error *err)
{
    const size_t count = s->linear_count * s->type_count;
    struct by_llm_quantize_options options = s->quantize;
    const struct by_hash128 key = {0, 0};
    s->nearest = by_arena_alloc(&s->arena, count, sizeof *s->nearest, err);
    s->solved = by_arena_alloc(&s->arena, count, sizeof *s->solved, err);
    if (!s->nearest || !s->solved)
        return -1;
    for (size_t i = 0; i < count; i++)
        s->nearest[i] = s->solved[i] = -1;
    options.solver.options.cross = 0; /* one stream: that of the float model */
    options.progress = show;
    options.context = s;
    s->calibrated.options = &options;
    s->calibrated.look = look_at_inputs;
    s->calibrated.context = s;
    const int status = by_llm_calibrated_run(&s->calibrated, key, err);
    s->calibrated.options = &s->quantize;
    if (status)
        return -1;
    fill_unknown(s, s->nearest);
    fill_unknown(s, s->solved);
    return 0;
}
