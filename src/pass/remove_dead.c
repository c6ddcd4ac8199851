/* Nodes and initializers that nothing reads. */
#include "pass/passes.h"

static int run_remove_dead(struct by_pass_context *context, struct baryon_error *err)
{
    return by_graph_prune(context->model->graph, &context->changes, err);
}

const struct by_pass by_pass_remove_dead = {
    .name = "remove-dead",
    .help = "Remove unused nodes and initializers",
    .exact = true,
    .run = run_remove_dead,
};
