/* Lists outputs and their parts. */
#include "evaluate/parts.h"

#include "ir/infer.h"

static int add_parts(struct by_measured_outputs *measured, const struct by_joined *joined,
                     const char *name, struct by_arena *arena, struct baryon_error *err)
{
    measured->names[measured->count++] = name;
    for (size_t i = 0; joined->count > 1 && i < joined->count; i++)
        if (!(measured->names[measured->count++] = by_joined_name(joined, i, name, arena, err)))
            return -1;
    return 0;
}

/* A model that ONNX Runtime runs although its types contradict each other has no parts. */
static int infer(struct baryon_model *model, bool *inferred, struct baryon_error *err)
{
    struct baryon_error refusal = {0};
    *inferred = model && by_model_infer(model, NULL, &refusal) == 0;
    if (*inferred || refusal.code != BARYON_ERR_NOMEM)
        return 0;
    if (err)
        *err = refusal;
    return -1;
}

int by_measured_outputs_find(struct by_measured_outputs *measured, struct baryon_model *model,
                             const char *const *outputs, size_t count, struct by_arena *arena,
                             struct baryon_error *err)
{
    bool inferred;
    *measured = (struct by_measured_outputs){
        .names =
            by_arena_alloc(arena, (BY_JOINED_MOST + 1) * count + 1, sizeof *measured->names, err),
        .joined = by_arena_alloc(arena, count + 1, sizeof *measured->joined, err)};
    if (!measured->names || !measured->joined || infer(model, &inferred, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        const struct baryon_value *value =
            inferred ? by_graph_value(model->graph, outputs[i]) : NULL;
        measured->joined[i] = value ? by_joined_find(value) : (struct by_joined){.count = 1};
        if (add_parts(measured, &measured->joined[i], outputs[i], arena, err) < 0)
            return -1;
    }
    return 0;
}

static int measure_joined_part(struct by_evaluation *evaluation, const struct by_joined *parts,
                               size_t part, size_t place, const char *sample,
                               const struct by_array *baseline, const struct by_array *result,
                               struct baryon_error *err)
{
    struct by_array want, got;
    struct by_arena arena;
    by_arena_init(&arena, 0);
    const int status =
        by_joined_take(parts, part, baseline, &arena, &want, err) < 0 ||
                by_joined_take(parts, part, result, &arena, &got, err) < 0
            ? -1
            : by_evaluation_add(evaluation, place + part, sample, &want, &got, NULL, err);
    by_arena_release(&arena);
    return status;
}

int by_evaluation_add_parts(struct by_evaluation *evaluation, const struct by_joined *parts,
                            size_t place, const char *sample, const struct by_array *baseline,
                            const struct by_array *result, struct baryon_error *err)
{
    for (size_t i = 0; parts->count > 1 && i < parts->count; i++)
        if (measure_joined_part(evaluation, parts, i, place, sample, baseline, result, err) < 0)
            return -1;
    return 0;
}
