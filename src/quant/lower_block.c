/* Stores constants in blocks as codes with one power-of-two scale per block. */
#include "quant/lower_block.h"

#include "quant/rounded.h"

bool by_lower_is_stored(const struct by_quant_row *row)
{
    return row->role != BY_ROLE_ACTIVATION && !row->keep_float && by_spec_is_block(&row->spec);
}

static int extent_of(const struct by_quant_row *row, struct by_block_extent *extent,
                     struct baryon_error *err)
{
    const struct by_block_cast cast = by_quant_cast(row);
    return by_block_extent(row->spec.format, &cast, extent, err);
}

/* --- Scales --- */

/* ONNX Runtime takes no blocks where the scales of a list would be a single one. */
static bool is_one_block(const struct by_quant_row *row, const struct by_block_extent *extent)
{
    return row->value->initializer->dims.count == 1 && extent->per_line == 1;
}

/* Counted from the end: ONNX Runtime makes MatMulNBits of a product with weights whose blocks lie
 * along axis 0 by that number, and computes it with inputs of 8 bits. */
static int axis_of(const struct by_quant_row *row)
{
    const int rank = (int)row->value->initializer->dims.count;
    return rank < 2 ? -1 : row->block_axis < 0 ? row->block_axis : row->block_axis - rank;
}

int64_t by_lower_block_scale(const struct by_recipe *recipe)
{
    return recipe->block_form == BY_BLOCKS_ONNX ? BY_ELEM_FLOAT8E8M0 : BY_ELEM_FLOAT;
}

struct baryon_value *by_lower_block_scales(struct by_lowering *lowering,
                                           const struct by_quant_row *row, struct baryon_error *err)
{
    const struct by_ints *dims = &row->value->initializer->dims;
    const int64_t elem = by_lower_block_scale(lowering->recipe);
    struct by_block_extent extent;
    int64_t sizes[BY_RANK_MAX];
    size_t bytes;
    if (extent_of(row, &extent, err) || by_elem_bytes(elem, extent.blocks, &bytes, err))
        return NULL;
    for (size_t i = 0; i < dims->count; i++)
        sizes[i] = dims->at[i];
    sizes[(int)dims->count + axis_of(row)] = (int64_t)extent.per_line;
    const char *name = by_lower_name(lowering, row->value->name, "scale", 0, err);
    struct baryon_tensor *tensor =
        name ? by_tensor_new(lowering->model, name, elem, sizes,
                             is_one_block(row, &extent) ? 0 : dims->count, NULL, bytes, err)
             : NULL;
    return tensor ? by_graph_add_initializer(lowering->graph, tensor, err) : NULL;
}

/* What comes out has the type of the scale unless the node says another. */
static int set_output(struct baryon_node *node, const struct by_recipe *recipe,
                      struct baryon_error *err)
{
    return by_lower_block_scale(recipe) == BY_ELEM_FLOAT
               ? 0
               : by_node_set_int(node, "output_dtype", BY_ELEM_FLOAT, err);
}

int by_lower_block_attributes(struct baryon_node *node, const struct by_recipe *recipe,
                              const struct by_quant_row *row, struct baryon_error *err)
{
    struct by_block_extent extent;
    if (extent_of(row, &extent, err) || set_output(node, recipe, err))
        return -1;
    if (is_one_block(row, &extent))
        return 0;
    return by_node_set_int(node, "axis", axis_of(row), err) ||
                   by_node_set_int(node, "block_size", (int64_t)extent.size, err)
               ? -1
               : 0;
}
