/* Which operators of ONNX's own compute in 16-bit floats, and from which opset on. */
#ifndef BY_OPFLOAT_H
#define BY_OPFLOAT_H

#include "ir/tensor.h"

/* First opset of which the operator takes elem, BY_ELEM_FLOAT16 or BY_ELEM_BFLOAT16, wherever
 * it takes floats at all; 0: none, or not known. Scales of Resize and the like, which are always
 * float32, do not count. */
int64_t by_op_float_opset(const char *op_type, int64_t elem);

#endif
