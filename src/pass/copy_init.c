/* Each reader gets an initializer of its own, so that each can have parameters of its own. */
#include "pass/edit.h"
#include "pass/passes.h"

#include <string.h>

#define NO_SLOT SIZE_MAX

struct copying {
    struct by_pass_context *context;
    const struct by_names *op_types; /* none: all */
    size_t slot;                     /* of readers; NO_SLOT: any */
    struct by_map seen;              /* initializer -> its first reader */
};

static bool is_listed(const struct by_names *op_types, const struct baryon_node *node)
{
    for (size_t i = 0; i < op_types->count; i++)
        if (strcmp(op_types->at[i], node->op_type) == 0)
            return true;
    return op_types->count == 0;
}

/* The first reader keeps it; a node that reads it twice reads one copy twice. */
static int copy_for(struct copying *copying, struct baryon_node *node, size_t slot,
                    struct baryon_error *err)
{
    struct baryon_value *value = by_node_in(node, slot);
    if (!value || !value->initializer || value->is_input || value->use_count < 2)
        return 0;
    const struct baryon_node *first = by_map_get_bytes(&copying->seen, &value, sizeof value);
    if (first == node)
        return 0;
    if (!first) {
        struct baryon_value **key =
            BY_ARENA_NEW(&copying->context->model->arena, struct baryon_value *, err);
        if (!key)
            return -1;
        *key = value;
        return by_map_put_bytes(&copying->seen, key, sizeof *key, node, err);
    }
    struct baryon_value *copy = by_graph_duplicate_initializer(value, err);
    if (!copy)
        return -1;
    copy->elem = value->elem;
    copy->shape = value->shape;
    for (size_t i = 0; i < node->input.count; i++)
        if (by_node_in(node, i) == value && by_node_set_input(node, i, copy, err))
            return -1;
    copying->context->changes++;
    return 0;
}

static int copy_in_graph(void *context, struct baryon_graph *graph, unsigned depth,
                         struct baryon_error *err)
{
    (void)depth;
    struct copying *copying = context;
    for (size_t i = 0; i < graph->node.count; i++) {
        struct baryon_node *node = graph->node.at[i];
        if (!node || !is_listed(copying->op_types, node) ||
            by_pass_is_excluded(copying->context, node))
            continue;
        const size_t from = copying->slot == NO_SLOT ? 0 : copying->slot;
        const size_t to = copying->slot == NO_SLOT ? node->input.count : copying->slot + 1;
        for (size_t slot = from; slot < to; slot++)
            if (copy_for(copying, node, slot, err))
                return -1;
    }
    return 0;
}

static int copy_all(struct by_pass_context *context, const struct by_names *op_types, size_t slot,
                    struct baryon_error *err)
{
    struct copying copying = {.context = context, .op_types = op_types, .slot = slot};
    by_map_init(&copying.seen);
    const int failed = by_model_each_graph(context->model, copy_in_graph, &copying, err);
    by_map_release(&copying.seen);
    return failed;
}

static int run_shared(struct by_pass_context *context, struct baryon_error *err)
{
    return copy_all(context, &context->copy_for, NO_SLOT, err);
}

const struct by_pass by_pass_copy_shared_init = {
    .name = "copy-shared-init",
    .alias = "CopySharedInit",
    .help = "Give each consumer of a shared initializer a copy, for given operators or all",
    .fallback = BY_PASS_OFF,
    .exact = true,
    .run = run_shared,
};

static int run_bias(struct by_pass_context *context, struct baryon_error *err)
{
    const char *layers[] = {"Conv", "ConvTranspose", "Gemm"};
    const struct by_names usual = {layers, 3, 3}, *given = &context->copy_bias_for;
    return copy_all(context, given->count ? given : &usual, 2, err);
}

const struct by_pass by_pass_copy_bias_init = {
    .name = "copy-bias-init",
    .alias = "CopyBiasInit",
    .help = "Give each consumer of a shared bias a copy, for Conv, ConvTranspose and Gemm or for "
            "given operators",
    .exact = true,
    .run = run_bias,
};
