/* Pictures come with their channels last: a Transpose after such inputs gives what they were. */
#include "base/str.h"
#include "pass/edit.h"
#include "pass/passes.h"

#include <stdio.h>
#include <string.h>

static bool is_picture(const struct baryon_value *value)
{
    return value->is_input && !value->initializer && !value->output_count && !value->pinned &&
           by_elem_is_float(value->elem) && by_pass_rank(value) == 4;
}

/* [N,C,H,W] -> [N,H,W,C] in what is declared. */
static int turn_type(struct baryon_value *value, struct baryon_error *err)
{
    struct by_shape *turned = by_shape_new(&value->graph->model->arena, 4, err);
    static const size_t from[] = {0, 2, 3, 1};
    if (!turned)
        return -1;
    for (size_t i = 0; i < 4; i++)
        turned->dims[i] = value->shape->dims[from[i]];
    struct by_tensor_type *tensor = value->info->type->tensor;
    if (tensor->shape && tensor->shape->dims.count == 4) {
        void *dims[4];
        for (size_t i = 0; i < 4; i++)
            dims[i] = tensor->shape->dims.at[from[i]];
        memcpy(tensor->shape->dims.at, dims, sizeof dims);
    }
    value->shape = turned;
    return 0;
}

static int turn(struct by_pass_context *context, struct baryon_value *value,
                struct baryon_error *err)
{
    static const int64_t back[] = {0, 3, 1, 2};
    char stem[BY_NAME_MAX + 16];
    const struct by_shape *shape = value->shape;
    snprintf(stem, sizeof stem, "%s_nchw", value->name);
    struct baryon_node *node = by_pass_add_node(value->graph, "Transpose", stem, &value, 1, err);
    if (!node || by_node_set_ints(node, "perm", back, 4, err) || turn_type(value, err))
        return -1;
    node->outs[0]->elem = value->elem;
    node->outs[0]->shape = shape;
    context->changes++;
    return by_value_replace_uses(value, node->outs[0], node, err);
}

static int turn_named(struct by_pass_context *context, const char *name, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const struct baryon_graph *graph = context->model->graph;
    struct baryon_value *value = by_graph_value(graph, name);
    by_quote(quoted, name);
    if (value && is_picture(value))
        return turn(context, value, err);
    if (value && value->is_input)
        return by_fail(
            err, BARYON_ERR_USAGE,
            "nchw-to-nhwc: input %s must be a float tensor of four axes that is not an output",
            quoted);
    return by_fail(err, BARYON_ERR_USAGE, "nchw-to-nhwc: the model has no input %s", quoted);
}

static int run_nhwc(struct by_pass_context *context, struct baryon_error *err)
{
    const struct by_names *names = &context->nhwc;
    const struct baryon_graph *graph = context->model->graph;
    for (size_t i = 0; i < names->count; i++)
        if (turn_named(context, names->at[i], err))
            return -1;
    for (size_t i = 0; i < graph->input.count && !names->count; i++) {
        const struct by_value_info *info = graph->input.at[i];
        struct baryon_value *value = info ? by_graph_value(graph, info->name) : NULL;
        if (value && is_picture(value) && turn(context, value, err))
            return -1;
    }
    return 0;
}

const struct by_pass by_pass_nchw_to_nhwc = {
    .name = "nchw-to-nhwc",
    .alias = "ConvertNCHWToNHWC",
    .help = "Change inputs of pictures from NCHW to NHWC",
    .fallback = BY_PASS_OFF,
    .shapes = true,
    .run = run_nhwc,
};
