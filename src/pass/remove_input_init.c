/*
 * Initializers that are also inputs: a caller could give other values, so that nothing may be
 * made of them. Quantization fixes weights, so they are inputs no longer.
 */
#include "pass/passes.h"

static bool is_default(const struct baryon_value *value)
{
    return value && value->is_input && value->init_slot != BY_NO_SLOT && !by_value_is_kept(value);
}

static int run_remove_input_init(struct by_pass_context *context, struct baryon_error *err)
{
    struct baryon_graph *graph = context->model->graph;
    for (size_t i = 0; i < graph->all_values.count; i++) {
        struct baryon_value *value = graph->all_values.at[i];
        if (!is_default(value))
            continue;
        if (by_graph_remove_default_input(value, err))
            return -1;
        context->changes++;
    }
    return 0;
}

const struct by_pass by_pass_remove_input_init = {
    .name = "remove-input-init",
    .alias = "RemoveInputInit",
    .help = "Remove initializers from the inputs of the model, so that their values are fixed",
    .exact = true,
    .run = run_remove_input_init,
};
