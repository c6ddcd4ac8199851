/* A model of float16 becomes one of float32, inputs and outputs included, or parts of it do. */
#include "pass/fp16.h"
#include "pass/passes.h"

#include <string.h>

struct baryon_tensor *by_fp16_tensor(struct baryon_model *model, struct baryon_tensor *tensor,
                                     struct baryon_error *err)
{
    struct by_arena scratch;
    struct by_span bytes;
    struct baryon_tensor *made = NULL;
    size_t count, size;
    if (!tensor || tensor->data_type != BY_ELEM_FLOAT16)
        return tensor;
    by_arena_init(&scratch, 0);
    float *values = NULL;
    if (!by_tensor_count(tensor, &count, err) && !by_tensor_bytes(tensor, &scratch, &bytes, err) &&
        !by_elem_bytes(BY_ELEM_FLOAT, count, &size, err))
        values = by_arena_alloc(&scratch, count + 1, sizeof *values, err);
    if (values && !by_elem_to_floats(BY_ELEM_FLOAT16, bytes.data, 0, count, values, err))
        made = by_tensor_new(model, tensor->name ? tensor->name : "", BY_ELEM_FLOAT,
                             tensor->dims.at, tensor->dims.count, values, size, err);
    by_arena_release(&scratch);
    return made;
}

/* --- attributes --- */

static bool names_type(const struct baryon_node *node, const struct baryon_attribute *attr)
{
    const struct by_opinfo *info = by_node_opinfo(node);
    return info && (info->type_rule == BY_TYPE_ATTR || info->type_rule == BY_TYPE_ATTR_OR_SAME) &&
           strcmp(info->type_text, attr->name) == 0;
}

static int convert_attribute(struct baryon_model *model, const struct baryon_node *node,
                             struct baryon_attribute *attr, struct baryon_error *err)
{
    if (attr->t && !(attr->t = by_fp16_tensor(model, attr->t, err)))
        return -1;
    for (size_t i = 0; i < attr->tensors.count; i++)
        if (!(attr->tensors.at[i] = by_fp16_tensor(model, attr->tensors.at[i], err)))
            return -1;
    if (attr->type == BY_ATTR_INT && attr->i == BY_ELEM_FLOAT16 && names_type(node, attr))
        attr->i = BY_ELEM_FLOAT;
    if (attr->tp)
        by_fp16_type(attr->tp);
    return 0;
}

int by_fp16_attributes(struct baryon_model *model, struct baryon_node *node,
                       struct baryon_error *err)
{
    for (size_t i = 0; i < node->attribute.count; i++)
        if (node->attribute.at[i] && convert_attribute(model, node, node->attribute.at[i], err))
            return -1;
    return 0;
}

/* --- declared types --- */

void by_fp16_type(struct by_type *type)
{
    while (type && (type->sequence || type->optional))
        type = type->sequence ? type->sequence->elem_type : type->optional->elem_type;
    struct by_tensor_type *tensor =
        type ? (type->tensor ? type->tensor : type->sparse_tensor) : NULL;
    if (tensor && tensor->elem_type == BY_ELEM_FLOAT16)
        tensor->elem_type = BY_ELEM_FLOAT;
}

static void convert_infos(const struct by_ptrs *infos)
{
    for (size_t i = 0; i < infos->count; i++) {
        const struct by_value_info *info = infos->at[i];
        if (info)
            by_fp16_type(info->type);
    }
}

/* --- graphs --- */

int by_fp16_initializer(struct baryon_value *value, struct baryon_error *err)
{
    struct baryon_graph *graph = value->graph;
    if (value->sparse) {
        struct baryon_tensor *values = by_fp16_tensor(graph->model, value->sparse->values, err);
        if (!values)
            return -1;
        value->sparse->values = values;
        return 0;
    }
    struct baryon_tensor *tensor = by_fp16_tensor(graph->model, value->initializer, err);
    if (!tensor)
        return -1;
    graph->initializer.at[value->init_slot] = tensor;
    value->initializer = tensor;
    value->elem = tensor->data_type;
    return 0;
}

static bool is_half(const struct baryon_value *value)
{
    const struct baryon_tensor *tensor = value->sparse ? value->sparse->values : value->initializer;
    return tensor && tensor->data_type == BY_ELEM_FLOAT16;
}

static int convert_graph(void *context, struct baryon_graph *graph, unsigned depth,
                         struct baryon_error *err)
{
    (void)depth;
    struct by_pass_context *pass = context;
    for (size_t i = 0; i < graph->all_values.count; i++) {
        struct baryon_value *value = graph->all_values.at[i];
        if (!value || !is_half(value))
            continue;
        if (by_fp16_initializer(value, err))
            return -1;
        pass->changes++;
    }
    for (size_t i = 0; i < graph->node.count; i++)
        if (graph->node.at[i] && by_fp16_attributes(graph->model, graph->node.at[i], err))
            return -1;
    convert_infos(&graph->input);
    convert_infos(&graph->output);
    convert_infos(&graph->value_info);
    return 0;
}

/* Their inputs have the types that callers give; what is said inside has to follow. */
static int convert_functions(struct baryon_model *model, struct baryon_error *err)
{
    for (size_t i = 0; i < model->functions.count; i++) {
        const struct by_function *function = model->functions.at[i];
        for (size_t k = 0; k < function->node.count; k++)
            if (by_fp16_attributes(model, function->node.at[k], err))
                return -1;
        convert_infos(&function->value_info);
    }
    return 0;
}

static bool has_half(const struct baryon_graph *graph)
{
    for (size_t i = 0; i < graph->all_values.count; i++) {
        const struct baryon_value *value = graph->all_values.at[i];
        if (value && value->elem == BY_ELEM_FLOAT16)
            return true;
    }
    return false;
}

static int run(struct by_pass_context *context, struct baryon_error *err)
{
    if (context->region_count)
        return by_fp16_regions(context, err);
    if (!has_half(context->model->graph))
        return 0;
    context->changes++;
    return by_model_each_graph(context->model, convert_graph, context, err) ||
                   convert_functions(context->model, err)
               ? -1
               : 0;
}

const struct by_pass by_pass_fp16_to_fp32 = {
    .name = "fp16-to-fp32",
    .alias = "ConvertFP16ToFP32",
    .help = "What is float16 becomes float32, inputs and outputs included, or only in the regions "
            "that are asked for",
    .fallback = BY_PASS_OFF,
    .exact = true,
    .shapes = true,
    .run = run,
};
