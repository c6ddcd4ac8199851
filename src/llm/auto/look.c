/* The moments of inputs, and the errors that outputs of some rows have with each type. */
#include "llm/auto/auto_internal.h"

#include <math.h>

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
        s->solved[linear * s->type_count + type] = linears[i].errors.solved;
    }
}

/* All rows, as the method rounds them for the inputs of the float model. */
static int round_rows_of(struct by_bits_search *s, const struct by_llm_group *group, size_t index,
                         float *values, struct baryon_error *err)
{
    const struct by_llm_linear *linear = &group->linears[index];
    const size_t columns = group->inputs->columns, all = by_llm_group_rows(group, index);
    const size_t step = all < linear->rows ? all : linear->rows;
    struct by_llm_coded coded = {0};
    int status = by_llm_target_open(&linear->target, step, &coded, err);
    for (size_t first = 0; first < linear->rows && !status; first += step) {
        const size_t left = linear->rows - first, count = left < step ? left : step;
        status =
            by_llm_group_solve(group, index, first, count, s->pool, &coded, err) ||
            by_llm_target_values(&linear->target, &coded, count, values + first * columns, err);
    }
    by_llm_coded_close(&coded);
    return status ? -1 : 0;
}

static int keep_rounded(struct by_bits_search *s, struct by_llm_group *group,
                        const struct by_llm_sharing *own, struct baryon_error *err)
{
    if (by_llm_group_form(group, s->pool, err))
        return -1;
    for (size_t i = 0; i < own->count; i++) {
        const struct by_llm_item *items = s->types[by_bits_probe_type(s)].plan.items;
        const size_t linear = s->linear_of[own->places[i].item - items];
        if (linear == SIZE_MAX || !by_bits_probe_wants(s, s->linears[linear].layer))
            continue;
        float *values = by_alloc(s->linears[linear].values, sizeof *values, err);
        s->rounded[linear] = values;
        if (!values || round_rows_of(s, group, i, values, err))
            return -1;
    }
    return 0;
}

/* The first type chooses shrinkage and damping for all. */
static int look_at_type(struct by_bits_search *s, const struct by_llm_sharing *sharing,
                        const struct by_llm_inputs *inputs, size_t type, bool keeps,
                        struct by_llm_solver *solver, struct baryon_error *err)
{
    struct by_llm_linear linears[BY_LLM_SHARING];
    struct by_llm_sharing own;
    in_type(s, sharing, type, &own);
    if (!own.count || by_llm_sharing_scales(&own, NULL, s->pool, err))
        return own.count ? -1 : 0;
    struct by_llm_group group = {
        .inputs = inputs, .solver = solver, .linears = linears, .count = own.count};
    for (size_t i = 0; i < own.count; i++)
        linears[i] = (struct by_llm_linear){.weights = own.places[i].matrix->weight,
                                            .rows = own.places[i].matrix->rows,
                                            .target = by_llm_item_target(own.places[i].item)};
    int status = by_llm_group_open(&group, s->pool, err);
    if (!status) {
        solver->options.shrink = group.shrink;
        solver->options.damping = group.damping;
        note_errors(s, type, &own, linears);
        status = keeps ? keep_rounded(s, &group, &own, err) : 0;
    }
    by_llm_group_close(&group);
    return status;
}

static int look_at_inputs(void *context, const struct by_llm_sharing *sharing,
                          const struct by_llm_inputs *inputs, struct baryon_error *err)
{
    struct by_bits_search *s = context;
    struct by_llm_solver solver = s->calibrated.options->solver;
    if (!inputs->tokens)
        return 0;
    for (size_t t = 0; t < s->type_count; t++)
        if (look_at_type(s, sharing, inputs, t, false, &solver, err))
            return -1;
    return look_at_type(s, sharing, inputs, by_bits_probe_type(s), true, &solver, err);
}

static bool is_known(void *context, size_t layer)
{
    const struct by_bits_search *s = context;
    return layer < s->looked;
}

static int probe_looked(void *context, size_t layer, struct baryon_error *err)
{
    struct by_bits_search *s = context;
    const int status = by_bits_probe_layer(s, layer, err) ||
                       (!is_known(s, layer) && by_bits_record_layer(s, layer, err));
    for (size_t i = 0; i < s->linear_count; i++) {
        by_free(s->rounded[i]);
        s->rounded[i] = NULL;
    }
    return status ? -1 : 0;
}

/* Experts without a token have what the others of their kind have in the mean. */
static int fill_unknown(const struct by_bits_search *s, struct baryon_error *err)
{
    const size_t types = s->type_count;
    double *sums = by_alloc_zero(2 * s->place_count * types, sizeof *sums, err);
    if (!sums)
        return -1;
    for (size_t i = 0; i < s->linear_count * types; i++) {
        double *own = sums + 2 * (s->linears[i / types].place * types + i % types);
        own[0] += fmax(s->solved[i], 0);
        own[1] += s->solved[i] >= 0;
    }
    for (size_t i = 0; i < s->linear_count * types; i++) {
        const double *own = sums + 2 * (s->linears[i / types].place * types + i % types);
        if (s->solved[i] < 0 && own[1] > 0)
            s->solved[i] = own[0] / own[1];
    }
    by_free(sums);
    return 0;
}

static void show(void *context, size_t done, size_t all)
{
    by_bits_tell(context, "look", done, all);
}

static int run_through(struct by_bits_search *s, struct baryon_error *err)
{
    struct by_llm_quantize_options options = s->quantize;
    const struct by_hash128 key = {0, 0};
    options.solver.options.cross = 0; /* one stream: that of the float model */
    options.progress = show;
    options.context = s;
    s->calibrated.options = &options;
    s->calibrated.look = look_at_inputs;
    s->calibrated.looked = probe_looked;
    s->calibrated.known = is_known;
    s->calibrated.context = s;
    s->calibrated.beside = options.max_memory ? by_bits_probe_bytes(s) : 0;
    const int status = by_bits_probe_open(s, err) || by_bits_record_open(s, err) ||
                       by_llm_calibrated_run(&s->calibrated, key, err);
    s->calibrated.options = &s->quantize;
    return status ? -1 : 0;
}

int by_bits_look(struct by_bits_search *s, struct baryon_error *err)
{
    const size_t count = s->linear_count * s->type_count;
    s->solved = by_arena_alloc(&s->arena, count, sizeof *s->solved, err);
    s->rounded = by_arena_alloc(&s->arena, s->linear_count, sizeof *s->rounded, err);
    if (!s->solved || !s->rounded)
        return -1;
    for (size_t i = 0; i < count; i++)
        s->solved[i] = -1;
    const int status = run_through(s, err);
    by_bits_record_close(s);
    by_bits_probe_close(s);
    for (size_t i = 0; i < s->linear_count; i++)
        by_free(s->rounded[i]);
    return status ? -1 : fill_unknown(s, err);
}
