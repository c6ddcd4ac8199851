/* Finds the layers with constant weights and describes how they read their input. */
#include "stats/layers.h"

#include "ir/infer_window.h"

#include <string.h>

/* Keeps sums of products of sizes, strides and kernels far from overflow. */
#define WINDOW_MOST ((int64_t)1 << 31)

const struct baryon_tensor *by_layer_constant(const struct baryon_value *value)
{
    for (int steps = 0; value && steps < 8; steps++) {
        const struct baryon_node *node = value->producer;
        if (value->initializer)
            return value->initializer;
        if (!node)
            return NULL;
        if (by_node_is(node, "Constant")) {
            const struct baryon_attribute *attr = by_node_attr(node, "value");
            return attr ? attr->t : NULL;
        }
        if (!by_node_is(node, "Identity") && !by_node_is(node, "Cast"))
            return NULL;
        value = by_node_in(node, 0);
    }
    return NULL;
}

static bool is_float_elem(int64_t elem)
{
    return elem == BY_ELEM_FLOAT || elem == BY_ELEM_FLOAT16 || elem == BY_ELEM_BFLOAT16 ||
           elem == BY_ELEM_DOUBLE;
}

/* A weight: constant, of floats, not empty. */
static const struct baryon_tensor *weight_in(const struct baryon_node *node, size_t slot)
{
    const struct baryon_value *value = by_node_in(node, slot);
    const struct baryon_tensor *tensor = value ? by_layer_constant(value) : NULL;
    size_t count;
    if (!tensor || by_tensor_count(tensor, &count, NULL) || !count)
        return NULL;
    return is_float_elem(value->elem ? value->elem : tensor->data_type) ? tensor : NULL;
}

/* Data: not constant, of floats as far as is known. */
static bool is_data(const struct baryon_node *node, size_t slot)
{
    const struct baryon_value *value = by_node_in(node, slot);
    return value && !by_layer_constant(value) && (!value->elem || is_float_elem(value->elem));
}

static bool name_it(const struct baryon_node *node, size_t input, size_t weight,
                    struct by_moments_layer *layer)
{
    const struct baryon_value *out = by_node_out(node, 0);
    if (!out)
        return false;
    layer->name = out->name;
    layer->input = by_node_in(node, input)->name;
    layer->weight = by_node_in(node, weight)->name;
    return true;
}

/* --- MatMul, Gemm --- */

/* The size of the last axis but `from_end`; 0 when a matrix of weights stands for each item of a
 * batch. */
static int64_t matrix_size(const struct baryon_tensor *tensor, size_t from_end)
{
    const size_t rank = tensor->dims.count;
    for (size_t axis = 0; axis + 2 < rank; axis++)
        if (tensor->dims.at[axis] != 1)
            return 0;
    return rank > from_end ? tensor->dims.at[rank - 1 - from_end] : 0;
}

/*
 * Data times weights, or weights times data. What is summed over lies along the last axis of a
 * factor on the left and the last but one of a factor on the right, unless it is transposed.
 */
static bool read_product(const struct baryon_node *node, size_t weight, bool data_transposed,
                         bool weight_transposed, struct by_moments_layer *layer)
{
    const struct baryon_tensor *tensor = weight_in(node, weight);
    if (!tensor || !is_data(node, 1 - weight))
        return false;
    const bool vector = tensor->dims.count == 1;
    const bool along_last = (weight == 0) != weight_transposed;
    layer->kind = BY_LAYER_MATMUL;
    layer->groups = 1;
    layer->columns = matrix_size(tensor, vector || along_last ? 0 : 1);
    layer->transposed = (weight == 0) != data_transposed;
    return layer->columns > 0 && name_it(node, 1 - weight, weight, layer);
}

static bool read_matmul(const struct baryon_node *node, struct by_moments_layer *layer)
{
    return read_product(node, 1, false, false, layer) || read_product(node, 0, false, false, layer);
}

static bool read_gemm(const struct baryon_node *node, struct by_moments_layer *layer)
{
    const bool a = by_node_int(node, "transA", 0) != 0, b = by_node_int(node, "transB", 0) != 0;
    return read_product(node, 1, a, b, layer) || read_product(node, 0, b, a, layer);
}

/* --- Conv, ConvTranspose --- */

static int auto_pad_of(const struct baryon_node *node)
{
    if (by_attr_text_is(node, "auto_pad", "VALID"))
        return BY_PADS_VALID;
    if (by_attr_text_is(node, "auto_pad", "SAME_UPPER"))
        return BY_PADS_SAME_UPPER;
    if (by_attr_text_is(node, "auto_pad", "SAME_LOWER"))
        return BY_PADS_SAME_LOWER;
    return BY_PADS_GIVEN;
}

static bool is_small(int64_t value)
{
    return value >= -WINDOW_MOST && value <= WINDOW_MOST;
}

/* The kernel is that of the weight; kernel_shape may only repeat it. */
static bool read_kernel(const struct baryon_node *node, const struct baryon_tensor *weight,
                        struct by_moments_layer *layer)
{
    struct by_window window;
    if (by_read_window(node, layer->spatial, &window, NULL))
        return false;
    layer->auto_pad = auto_pad_of(node);
    for (size_t i = 0; i < layer->spatial; i++) {
        const int64_t kernel = weight->dims.at[i + 2];
        if (by_extent_is_number(window.kernel[i]) && window.kernel[i].size != kernel)
            return false;
        if (!is_small(window.stride[i]) || !is_small(window.dilation[i]) || !is_small(kernel) ||
            !is_small(window.begin[i]) || !is_small(window.end[i]) ||
            !is_small((kernel - 1) * window.dilation[i]))
            return false;
        layer->kernel[i] = kernel;
        layer->stride[i] = window.stride[i];
        layer->dilation[i] = window.dilation[i];
        layer->pad_begin[i] = window.begin[i];
        layer->pad_end[i] = window.end[i];
    }
    return true;
}

static bool read_output(const struct baryon_node *node, struct by_moments_layer *layer)
{
    const int64_t *padding, *size = NULL;
    const struct by_ints *shape = by_attr_ints(node, "output_shape");
    /* Some exporters put batch and channels before the sizes; runtimes take both. */
    const size_t lead = shape && shape->count == layer->spatial + 2 ? 2 : 0;
    if (by_window_ints(node, "output_padding", layer->spatial, 0, &padding, NULL) ||
        by_window_ints(node, "output_shape", layer->spatial + lead, 0, &size, NULL))
        return false;
    for (size_t i = 0; i < layer->spatial; i++) {
        layer->output_pad[i] = padding ? padding[i] : 0;
        layer->output_size[i] = size ? size[lead + i] : 0;
        if (!is_small(layer->output_pad[i]) || !is_small(layer->output_size[i]))
            return false;
    }
    return true;
}

static bool read_convolution(const struct baryon_node *node, bool transposed,
                             struct by_moments_layer *layer)
{
    const struct baryon_tensor *weight = weight_in(node, 1);
    const int64_t groups = by_node_int(node, "group", 1);
    if (!weight || !is_data(node, 0) || weight->dims.count < 3 || weight->dims.count > 8 ||
        groups < 1 || weight->dims.at[0] % groups != 0 || !is_small(groups))
        return false;
    layer->kind = transposed ? BY_LAYER_CONV_TRANSPOSE : BY_LAYER_CONV;
    layer->spatial = weight->dims.count - 2;
    layer->groups = groups;
    layer->channels = weight->dims.at[0];
    if (!transposed && __builtin_mul_overflow(weight->dims.at[1], groups, &layer->channels))
        return false;
    layer->columns = layer->channels / groups;
    if (!read_kernel(node, weight, layer) || (transposed && !read_output(node, layer)))
        return false;
    for (size_t i = 0; i < layer->spatial; i++)
        if (__builtin_mul_overflow(layer->columns, layer->kernel[i], &layer->columns))
            return false;
    return name_it(node, 0, 1, layer);
}

/* --- Gather --- */

static bool read_gather(const struct baryon_node *node, struct by_moments_layer *layer)
{
    const struct baryon_tensor *table = weight_in(node, 0);
    const struct baryon_value *index = by_node_in(node, 1);
    if (!table || table->dims.count < 2 || by_node_int(node, "axis", 0) != 0 || !index ||
        by_layer_constant(index))
        return false;
    layer->kind = BY_LAYER_GATHER;
    layer->groups = 1;
    layer->columns = table->dims.at[0];
    return name_it(node, 1, 0, layer);
}

static bool read_node(const struct baryon_node *node, struct by_moments_layer *layer)
{
    const struct by_opinfo *info = by_node_opinfo(node);
    if (!info || info->weight == BY_SLOT_NONE || info->type_rule != BY_TYPE_SAME)
        return false;
    if (strcmp(info->op_type, "MatMul") == 0)
        return read_matmul(node, layer);
    if (strcmp(info->op_type, "Gemm") == 0 || strcmp(info->op_type, "FusedGemm") == 0)
        return read_gemm(node, layer);
    if (strcmp(info->op_type, "Conv") == 0 || strcmp(info->op_type, "FusedConv") == 0)
        return read_convolution(node, false, layer);
    if (strcmp(info->op_type, "ConvTranspose") == 0)
        return read_convolution(node, true, layer);
    return strcmp(info->op_type, "Gather") == 0 && read_gather(node, layer);
}

bool by_layer_of_node(const struct baryon_graph *graph, const struct baryon_node *node,
                      struct by_moments_layer *layer)
{
    *layer = (struct by_moments_layer){0};
    if (node->graph != graph || !read_node(node, layer)) {
        *layer = (struct by_moments_layer){0};
        return false;
    }
    return layer->groups * layer->columns <= INT32_MAX;
}

int by_layers_find(const struct baryon_graph *graph, struct by_moments_layer **layers,
                   size_t *count, struct baryon_error *err)
{
    *count = 0;
    *layers = by_alloc(graph->node.count, sizeof **layers, err);
    if (!*layers)
        return -1;
    for (size_t i = 0; i < graph->node.count; i++)
        if (graph->node.at[i] && by_layer_of_node(graph, graph->node.at[i], &(*layers)[*count]))
            by_layer_to_source(graph, &(*layers)[(*count)++]);
    return 0;
}
