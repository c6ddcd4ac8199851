/* Finds constants that inference of shapes reads: by type and size, and floats by their consumer.
 */
#include "onnx/shape_constants.h"

#include "ir/tensor.h"

#include <string.h>

/* A longer list is data. */
#define ELEMENTS_MAX 1024

static bool reads_floats(const struct baryon_node *node)
{
    return by_node_is(node, "Resize") || by_node_is(node, "Upsample") || by_node_is(node, "Range");
}

static int note_inputs(void *context, struct baryon_graph *graph, unsigned depth,
                       struct baryon_error *err)
{
    struct by_shape_constants *constants = context;
    (void)depth;
    for (size_t i = 0; i < graph->node.count; i++) {
        const struct baryon_node *node = graph->node.at[i];
        for (size_t k = 0; node && reads_floats(node) && k < node->input.count; k++)
            if (node->input.at[k] && by_map_put(&constants->floats, node->input.at[k], graph, err))
                return -1;
    }
    return 0;
}

int by_shape_constants_find(struct by_shape_constants *constants, struct baryon_model *model,
                            struct baryon_error *err)
{
    by_map_init(&constants->floats);
    return by_model_each_graph(model, note_inputs, constants, err);
}

bool by_is_shape_constant(const struct by_shape_constants *constants,
                          const struct baryon_tensor *tensor)
{
    size_t count;
    const struct by_elem_info *info = by_elem_info(tensor->data_type);
    if (!info || tensor->dims.count > 1 || by_tensor_count(tensor, &count, NULL) ||
        count > ELEMENTS_MAX)
        return false;
    return info->class == BY_CLASS_INT ||
           (tensor->name && by_map_get(&constants->floats, tensor->name));
}

void by_shape_constants_release(struct by_shape_constants *constants)
{
    by_map_release(&constants->floats);
}
