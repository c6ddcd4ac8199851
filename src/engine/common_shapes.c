/* Opens a model with the sizes of inputs that all samples share. */
#include "engine/common_shapes.h"

#include "engine/pair.h"

#include <string.h>

/* --- What samples share --- */

struct by_common_shape by_common_shape_begin(const struct by_array *input)
{
    struct by_common_shape shape = {.name = input->name, .rank = input->rank};
    memcpy(shape.dims, input->dims, input->rank * sizeof *shape.dims);
    return shape;
}

void by_common_shape_add(struct by_common_shape *shape, const struct by_array *input)
{
    if (input->rank != shape->rank)
        shape->rank = 0;
    for (size_t i = 0; i < shape->rank; i++)
        if (input->dims[i] != shape->dims[i])
            shape->dims[i] = -1;
}

/* --- The model with them --- */

/* A size as the model has it. */
struct old_size {
    struct by_dim *dim, was;
};

struct fixing {
    struct old_size *old;
    size_t count;
};

static struct by_shape_msg *find_shape(const struct baryon_graph *graph, const char *name)
{
    for (size_t i = 0; i < graph->input.count; i++) {
        const struct by_value_info *info = graph->input.at[i];
        if (info && info->name && !strcmp(info->name, name))
            return info->type && info->type->tensor ? info->type->tensor->shape : NULL;
    }
    return NULL;
}

/* An empty input stays open. */
static bool is_given(const struct by_dim *dim, int64_t size)
{
    return size > 0 && dim && by_dim_is_open(dim);
}

static void fix_sizes(struct fixing *fixing, const struct by_shape_msg *message,
                      const struct by_common_shape *shape)
{
    if (!message || message->dims.count != shape->rank)
        return;
    for (size_t i = 0; i < shape->rank; i++) {
        struct by_dim *dim = message->dims.at[i];
        if (!is_given(dim, shape->dims[i]))
            continue;
        fixing->old[fixing->count++] = (struct old_size){dim, *dim};
        dim->value = shape->dims[i];
        dim->msg.has |= BY_HAS_DIM_VALUE;
        dim->param = NULL;
    }
}

int by_session_open_shaped(struct by_session **session, struct baryon_model *model,
                           const struct by_common_shape *shapes, size_t count,
                           const struct by_session_options *options, struct baryon_error *err)
{
    struct fixing fixing = {.old = by_alloc(count * BY_RANK_MAX + 1, sizeof *fixing.old, err)};
    *session = NULL;
    if (!fixing.old)
        return -1;
    for (size_t i = 0; i < count; i++)
        fix_sizes(&fixing, find_shape(model->graph, shapes[i].name), &shapes[i]);
    const int status = by_session_open_pairs(session, model, options, err);
    for (size_t i = fixing.count; i-- > 0;)
        *fixing.old[i].dim = fixing.old[i].was;
    by_free(fixing.old);
    return status;
}
