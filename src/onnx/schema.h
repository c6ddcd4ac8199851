/*
 * The messages of ONNX as tables, up to IR version 14. One X-macro list a message
 * in schema.c says field number, kind, and struct member.
 */
#ifndef BY_SCHEMA_H
#define BY_SCHEMA_H

#include "onnx/wire.h"

#define BY_ONNX_IR_MIN       3
#define BY_ONNX_IR_MAX       14
#define BY_ONNX_OPSET_MIN    7
#define BY_ONNX_OPSET_MAX    28
#define BY_ONNX_ML_OPSET_MAX 5

extern const struct by_schema by_schema_model, by_schema_graph, by_schema_node, by_schema_attribute,
    by_schema_tensor, by_schema_sparse_tensor, by_schema_value_info, by_schema_type,
    by_schema_tensor_type, by_schema_shape, by_schema_dim, by_schema_pair, by_schema_opset,
    by_schema_function, by_schema_training_info, by_schema_annotation;

/* All message schemas, for tests. */
const struct by_schema *const *by_schema_all(size_t *count);

#endif
