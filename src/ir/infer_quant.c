/* Quantizing and dequantizing. */
#include "ir/infer_internal.h"

/* The type of the zero point, else output_dtype, else uint8. */
int by_infer_quantize(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    int64_t elem;
    if (by_attr_elem(node, "output_dtype", BY_ELEM_UINT8, &elem, err))
        return -1;
    if (by_in_given(node, 2))
        elem = by_in_elem(node, 2);
    by_out_elem(node, 0, elem);
    return by_infer_same(infer, node, err);
}

/* output_dtype, else the type of the scale. */
int by_infer_dequantize(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    int64_t elem;
    if (by_attr_elem(node, "output_dtype", by_in_elem(node, 1), &elem, err))
        return -1;
    by_out_elem(node, 0, elem);
    return by_infer_same(infer, node, err);
}

int by_infer_dynamic_quantize(struct by_infer *infer, struct baryon_node *node,
                              struct baryon_error *err)
{
    by_out_shape(node, 0, by_in_shape(node, 0));
    return by_out_scalar(infer, node, 1, err) || by_out_scalar(infer, node, 2, err) ? -1 : 0;
}
