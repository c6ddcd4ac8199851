/* Lists values among the outputs of a graph for a while. */
#include "trial/more_outputs.h"

#include "engine/pair.h"

int by_more_outputs_show(struct baryon_model *model, struct baryon_value *const *values,
                         size_t count, struct by_more_outputs *shown, struct baryon_error *err)
{
    struct baryon_graph *graph = model->graph;
    struct by_ptrs outputs = {0};
    *shown = (struct by_more_outputs){.graph = graph, .own = graph->output};
    by_arena_init(&shown->arena, 0);
    if (by_list_reserve(&shown->arena, &outputs, shown->own.count + count, sizeof(void *), err) < 0)
        return -1;
    for (size_t i = 0; i < shown->own.count; i++)
        outputs.at[outputs.count++] = shown->own.at[i];
    for (size_t i = 0; i < count; i++) {
        struct by_value_info *info = BY_ARENA_NEW(&shown->arena, struct by_value_info, err);
        if (!info)
            return -1;
        info->name = values[i]->name;
        outputs.at[outputs.count++] = info;
    }
    graph->output = outputs;
    return 0;
}

void by_more_outputs_hide(struct by_more_outputs *shown)
{
    shown->graph->output = shown->own;
    by_arena_release(&shown->arena);
}

int by_more_outputs_session(struct by_session **session, struct baryon_model *model,
                            struct baryon_value *const *values, size_t count,
                            const struct by_session_options *options, struct baryon_error *err)
{
    struct by_more_outputs shown;
    int status = by_more_outputs_show(model, values, count, &shown, err);
    if (status == 0)
        status = by_session_open_pairs(session, model, options, err);
    by_more_outputs_hide(&shown);
    return status;
}
