/* The model's messages have other lists for as long as a piece is being opened, and then those that
 * they had: so nothing is copied, and nothing is left that saving could see. */
#include "engine/stages_internal.h"
#include "ir/shape.h"

struct cut {
    struct by_arena arena;
    struct by_ptrs nodes, inputs, outputs, initializers;
};

static int add_to_cut(struct cut *cut, struct by_ptrs *list, void *item, struct baryon_error *err)
{
    if (!item || by_list_reserve(&cut->arena, list, 1, sizeof item, err) < 0)
        return -1;
    list->at[list->count++] = item;
    return 0;
}

/* --- Inputs and outputs --- */

/* Sizes that are another one in another sample are open. */
static const struct by_shape *common_shape(struct cut *cut, const struct by_held *held,
                                           size_t samples, struct baryon_error *err)
{
    int64_t dims[BY_RANK_MAX];
    const struct by_array *first = &held->parked[0].array;
    const struct by_shape *shape;
    for (size_t i = 0; i < first->rank; i++)
        dims[i] = first->dims[i];
    for (size_t k = 1; k < samples; k++) {
        const struct by_array *other = &held->parked[k].array;
        if (other->rank != first->rank)
            return NULL;
        for (size_t i = 0; i < first->rank; i++)
            if (other->dims[i] != first->dims[i])
                dims[i] = -1;
    }
    return by_shape_from_dims(&cut->arena, dims, first->rank, &shape, err) < 0 ? NULL : shape;
}

static int add_info(struct cut *cut, struct by_ptrs *list, const char *name, struct by_type *type,
                    struct baryon_error *err)
{
    struct by_value_info *info = BY_ARENA_NEW(&cut->arena, struct by_value_info, err);
    if (!info)
        return -1;
    info->name = name;
    info->type = type;
    return add_to_cut(cut, list, info, err);
}

static int add_input(struct cut *cut, const struct by_stages *stages,
                     const struct baryon_value *value, struct baryon_error *err)
{
    const struct by_held *held = &stages->held[value->index];
    by_err_clear(err);
    const struct by_shape *shape = common_shape(cut, held, stages->samples, err);
    if (!shape && err->code)
        return -1;
    struct by_type *type = by_type_tensor(stages->model, held->parked[0].array.elem, shape, err);
    return type ? add_info(cut, &cut->inputs, value->name, type, err) : -1;
}

static int fill_cut(struct cut *cut, const struct by_stage *stage, const struct by_stages *stages,
                    struct baryon_error *err)
{
    const struct by_ptrs *nodes = &stages->model->graph->node;
    for (size_t i = 0; i < nodes->count; i++)
        if (stage->needed[i] && add_to_cut(cut, &cut->nodes, nodes->at[i], err) < 0)
            return -1;
    for (size_t i = 0; i < stage->inputs.count; i++)
        if (add_input(cut, stages, stage->inputs.at[i], err) < 0)
            return -1;
    for (size_t i = 0; i < stage->outputs.count; i++)
        if (add_info(cut, &cut->outputs, stage->outputs.at[i]->name, NULL, err) < 0)
            return -1;
    for (size_t i = 0; i < stage->constants.count; i++)
        if (stage->constants.at[i]->initializer &&
            add_to_cut(cut, &cut->initializers, stage->constants.at[i]->initializer, err) < 0)
            return -1;
    return 0;
}

/* --- Opening --- */

#define IR_VERSION 4 /* from here on initializers need not be inputs */

static int open_cut(struct by_session **session, const struct cut *cut,
                    const struct by_stages *stages, struct baryon_error *err)
{
    struct baryon_model *model = stages->model;
    struct baryon_graph *graph = model->graph;
    const struct baryon_graph old = *graph;
    const int64_t ir_version = model->ir_version;
    graph->node = cut->nodes;
    graph->input = cut->inputs;
    graph->output = cut->outputs;
    graph->initializer = cut->initializers;
    graph->value_info = graph->annotation = (struct by_ptrs){0};
    if (ir_version < IR_VERSION)
        model->ir_version = IR_VERSION;
    const int status = by_session_open_model(session, model, 0, &stages->options.session, err);
    model->ir_version = ir_version;
    graph->node = old.node;
    graph->input = old.input;
    graph->output = old.output;
    graph->initializer = old.initializer;
    graph->value_info = old.value_info;
    graph->annotation = old.annotation;
    return status;
}

int by_stage_open(struct by_session **session, const struct by_stage *stage,
                  const struct by_stages *stages, struct baryon_error *err)
{
    struct cut cut = {0};
    struct baryon_error local;
    by_arena_init(&cut.arena, 0);
    struct baryon_error *to = err ? err : &local;
    const int status =
        fill_cut(&cut, stage, stages, to) < 0 ? -1 : open_cut(session, &cut, stages, to);
    by_arena_release(&cut.arena);
    return status;
}
