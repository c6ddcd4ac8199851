/* Shapes of what operators of ours give, for the runtime's inference. */
#ifndef BY_OP_SHAPE_H
#define BY_OP_SHAPE_H

#include "engine/ort.h"

/* The output has the shape of the input, where that is known, and this type (UNDEFINED: the
 * input's); only the api of ort counts. */
int by_op_shape_on(const struct by_ort *ort, OrtShapeInferContext *context, size_t input,
                   size_t output, enum ONNXTensorElementDataType type, struct baryon_error *err);
int by_op_type_of(const struct by_ort *ort, OrtShapeInferContext *context, size_t input,
                  enum ONNXTensorElementDataType *type, struct baryon_error *err);

#endif
