/* Describes the messages of ONNX as tables for the decoder and encoder. */
#include "onnx/schema.h"

/*
 * To add a field: one row here, one member in ir/model.h. Rows stand in the order
 * of their numbers, since that is the order in which we write new messages; a few
 * bits of struct by_msg.has are named in model.h after the row's place.
 */
#define ROW(type, member, number_, name_, kind_)                                                   \
    {                                                                                              \
        .number = number_, .kind = BY_FIELD_##kind_, .offset = offsetof(type, member),             \
        .name = name_                                                                              \
    }
#define PACKED(type, member, number_, name_, kind_)                                                \
    {                                                                                              \
        .number = number_, .kind = BY_FIELD_##kind_, .packed = 1,                                  \
        .offset = offsetof(type, member), .name = name_                                            \
    }
#define CHILD(type, member, number_, name_, kind_, schema)                                         \
    {                                                                                              \
        .number = number_, .kind = BY_FIELD_##kind_, .offset = offsetof(type, member),             \
        .name = name_, .child = &by_schema_##schema                                                \
    }
#define SCHEMA(id, name_, type)                                                                    \
    const struct by_schema by_schema_##id = {.name = name_,                                        \
                                             .size = sizeof(type),                                 \
                                             .fields = id##_fields,                                \
                                             .count = sizeof id##_fields / sizeof *id##_fields}

extern const struct by_schema by_schema_segment, by_schema_sequence_type, by_schema_map_type,
    by_schema_opaque_type, by_schema_simple_sharded_dim, by_schema_sharded_dim,
    by_schema_int_list_entry, by_schema_sharding_spec, by_schema_node_device, by_schema_device;

static const struct by_field pair_fields[] = {
    ROW(struct by_pair, key, 1, "key", NAME),
    ROW(struct by_pair, value, 2, "value", TEXT),
};
SCHEMA(pair, "StringStringEntryProto", struct by_pair);

static const struct by_field opset_fields[] = {
    ROW(struct by_opset, domain, 1, "domain", NAME),
    ROW(struct by_opset, version, 2, "version", INT),
};
SCHEMA(opset, "OperatorSetIdProto", struct by_opset);

static const struct by_field dim_fields[] = {
    ROW(struct by_dim, value, 1, "dim_value", INT),
    ROW(struct by_dim, param, 2, "dim_param", NAME),
    ROW(struct by_dim, denotation, 3, "denotation", TEXT),
};
SCHEMA(dim, "TensorShapeProto.Dimension", struct by_dim);

static const struct by_field shape_fields[] = {
    CHILD(struct by_shape_msg, dims, 1, "dim", MSGS, dim),
};
SCHEMA(shape, "TensorShapeProto", struct by_shape_msg);

static const struct by_field tensor_type_fields[] = {
    ROW(struct by_tensor_type, elem_type, 1, "elem_type", INT),
    CHILD(struct by_tensor_type, shape, 2, "shape", MSG, shape),
};
SCHEMA(tensor_type, "TypeProto.Tensor", struct by_tensor_type);

static const struct by_field sequence_type_fields[] = {
    CHILD(struct by_sequence_type, elem_type, 1, "elem_type", MSG, type),
};
SCHEMA(sequence_type, "TypeProto.Sequence", struct by_sequence_type);

static const struct by_field map_type_fields[] = {
    ROW(struct by_map_type, key_type, 1, "key_type", INT),
    CHILD(struct by_map_type, value_type, 2, "value_type", MSG, type),
};
SCHEMA(map_type, "TypeProto.Map", struct by_map_type);

static const struct by_field opaque_type_fields[] = {
    ROW(struct by_opaque_type, domain, 1, "domain", NAME),
    ROW(struct by_opaque_type, name, 2, "name", NAME),
};
SCHEMA(opaque_type, "TypeProto.Opaque", struct by_opaque_type);

static const struct by_field type_fields[] = {
    CHILD(struct by_type, tensor, 1, "tensor_type", MSG, tensor_type),
    CHILD(struct by_type, sequence, 4, "sequence_type", MSG, sequence_type),
    CHILD(struct by_type, map, 5, "map_type", MSG, map_type),
    ROW(struct by_type, denotation, 6, "denotation", TEXT),
    CHILD(struct by_type, opaque, 7, "opaque_type", MSG, opaque_type),
    CHILD(struct by_type, sparse_tensor, 8, "sparse_tensor_type", MSG, tensor_type),
    CHILD(struct by_type, optional, 9, "optional_type", MSG, sequence_type),
};
SCHEMA(type, "TypeProto", struct by_type);

static const struct by_field value_info_fields[] = {
    ROW(struct by_value_info, name, 1, "name", NAME),
    CHILD(struct by_value_info, type, 2, "type", MSG, type),
    ROW(struct by_value_info, doc_string, 3, "doc_string", TEXT),
    CHILD(struct by_value_info, metadata, 4, "metadata_props", MSGS, pair),
};
SCHEMA(value_info, "ValueInfoProto", struct by_value_info);

static const struct by_field segment_fields[] = {
    ROW(struct by_segment, begin, 1, "begin", INT),
    ROW(struct by_segment, end, 2, "end", INT),
};
SCHEMA(segment, "TensorProto.Segment", struct by_segment);

/* dims is not packed: ONNX writes it element by element. */
static const struct by_field tensor_fields[] = {
    ROW(struct baryon_tensor, dims, 1, "dims", INTS),
    ROW(struct baryon_tensor, data_type, 2, "data_type", INT),
    CHILD(struct baryon_tensor, segment, 3, "segment", MSG, segment),
    PACKED(struct baryon_tensor, float_data, 4, "float_data", PACKED_32),
    PACKED(struct baryon_tensor, int32_data, 5, "int32_data", PACKED_VARINT),
    ROW(struct baryon_tensor, string_data, 6, "string_data", SPANS),
    PACKED(struct baryon_tensor, int64_data, 7, "int64_data", PACKED_VARINT),
    ROW(struct baryon_tensor, name, 8, "name", NAME),
    ROW(struct baryon_tensor, raw_data, 9, "raw_data", BYTES),
    PACKED(struct baryon_tensor, double_data, 10, "double_data", PACKED_64),
    PACKED(struct baryon_tensor, uint64_data, 11, "uint64_data", PACKED_VARINT),
    ROW(struct baryon_tensor, doc_string, 12, "doc_string", TEXT),
    CHILD(struct baryon_tensor, external_data, 13, "external_data", MSGS, pair),
    ROW(struct baryon_tensor, data_location, 14, "data_location", INT),
    CHILD(struct baryon_tensor, metadata, 16, "metadata_props", MSGS, pair),
};
SCHEMA(tensor, "TensorProto", struct baryon_tensor);

static const struct by_field sparse_tensor_fields[] = {
    CHILD(struct by_sparse_tensor, values, 1, "values", MSG, tensor),
    CHILD(struct by_sparse_tensor, indices, 2, "indices", MSG, tensor),
    ROW(struct by_sparse_tensor, dims, 3, "dims", INTS),
};
SCHEMA(sparse_tensor, "SparseTensorProto", struct by_sparse_tensor);

static const struct by_field attribute_fields[] = {
    ROW(struct baryon_attribute, name, 1, "name", NAME),
    ROW(struct baryon_attribute, f, 2, "f", FLOAT),
    ROW(struct baryon_attribute, i, 3, "i", INT),
    ROW(struct baryon_attribute, s, 4, "s", BYTES),
    CHILD(struct baryon_attribute, t, 5, "t", MSG, tensor),
    CHILD(struct baryon_attribute, g, 6, "g", MSG, graph),
    ROW(struct baryon_attribute, floats, 7, "floats", FLOATS),
    ROW(struct baryon_attribute, ints, 8, "ints", INTS),
    ROW(struct baryon_attribute, strings, 9, "strings", SPANS),
    CHILD(struct baryon_attribute, tensors, 10, "tensors", MSGS, tensor),
    CHILD(struct baryon_attribute, graphs, 11, "graphs", MSGS, graph),
    ROW(struct baryon_attribute, doc_string, 13, "doc_string", TEXT),
    CHILD(struct baryon_attribute, tp, 14, "tp", MSG, type),
    CHILD(struct baryon_attribute, type_protos, 15, "type_protos", MSGS, type),
    ROW(struct baryon_attribute, type, 20, "type", INT),
    ROW(struct baryon_attribute, ref_attr_name, 21, "ref_attr_name", NAME),
    CHILD(struct baryon_attribute, sparse_tensor, 22, "sparse_tensor", MSG, sparse_tensor),
    CHILD(struct baryon_attribute, sparse_tensors, 23, "sparse_tensors", MSGS, sparse_tensor),
};
SCHEMA(attribute, "AttributeProto", struct baryon_attribute);

static const struct by_field simple_sharded_dim_fields[] = {
    ROW(struct by_simple_sharded_dim, value, 1, "dim_value", INT),
    ROW(struct by_simple_sharded_dim, param, 2, "dim_param", NAME),
    ROW(struct by_simple_sharded_dim, num_shards, 3, "num_shards", INT),
};
SCHEMA(simple_sharded_dim, "SimpleShardedDimProto", struct by_simple_sharded_dim);

static const struct by_field sharded_dim_fields[] = {
    ROW(struct by_sharded_dim, axis, 1, "axis", INT),
    CHILD(struct by_sharded_dim, simple_sharding, 2, "simple_sharding", MSGS, simple_sharded_dim),
};
SCHEMA(sharded_dim, "ShardedDimProto", struct by_sharded_dim);

static const struct by_field int_list_entry_fields[] = {
    ROW(struct by_int_list_entry, key, 1, "key", INT),
    ROW(struct by_int_list_entry, value, 2, "value", INTS),
};
SCHEMA(int_list_entry, "IntIntListEntryProto", struct by_int_list_entry);

static const struct by_field sharding_spec_fields[] = {
    ROW(struct by_sharding_spec, tensor_name, 1, "tensor_name", NAME),
    ROW(struct by_sharding_spec, device, 2, "device", INTS),
    CHILD(struct by_sharding_spec, index_to_device_group_map, 3, "index_to_device_group_map", MSGS,
          int_list_entry),
    CHILD(struct by_sharding_spec, sharded_dim, 4, "sharded_dim", MSGS, sharded_dim),
};
SCHEMA(sharding_spec, "ShardingSpecProto", struct by_sharding_spec);

static const struct by_field node_device_fields[] = {
    ROW(struct by_node_device, configuration_id, 1, "configuration_id", NAME),
    CHILD(struct by_node_device, sharding_spec, 2, "sharding_spec", MSGS, sharding_spec),
    ROW(struct by_node_device, pipeline_stage, 3, "pipeline_stage", INT),
};
SCHEMA(node_device, "NodeDeviceConfigurationProto", struct by_node_device);

static const struct by_field device_fields[] = {
    ROW(struct by_device, name, 1, "name", NAME),
    ROW(struct by_device, num_devices, 2, "num_devices", INT),
    ROW(struct by_device, device, 3, "device", NAMES),
};
SCHEMA(device, "DeviceConfigurationProto", struct by_device);

static const struct by_field node_fields[] = {
    ROW(struct baryon_node, input, 1, "input", NAMES),
    ROW(struct baryon_node, output, 2, "output", NAMES),
    ROW(struct baryon_node, name, 3, "name", NAME),
    ROW(struct baryon_node, op_type, 4, "op_type", NAME),
    CHILD(struct baryon_node, attribute, 5, "attribute", MSGS, attribute),
    ROW(struct baryon_node, doc_string, 6, "doc_string", TEXT),
    ROW(struct baryon_node, domain, 7, "domain", NAME),
    ROW(struct baryon_node, overload, 8, "overload", NAME),
    CHILD(struct baryon_node, metadata, 9, "metadata_props", MSGS, pair),
    CHILD(struct baryon_node, device_configurations, 10, "device_configurations", MSGS,
          node_device),
};
SCHEMA(node, "NodeProto", struct baryon_node);

static const struct by_field annotation_fields[] = {
    ROW(struct by_annotation, tensor_name, 1, "tensor_name", NAME),
    CHILD(struct by_annotation, names, 2, "quant_parameter_tensor_names", MSGS, pair),
};
SCHEMA(annotation, "TensorAnnotation", struct by_annotation);

static const struct by_field graph_fields[] = {
    CHILD(struct baryon_graph, node, 1, "node", MSGS, node),
    ROW(struct baryon_graph, name, 2, "name", NAME),
    CHILD(struct baryon_graph, initializer, 5, "initializer", MSGS, tensor),
    ROW(struct baryon_graph, doc_string, 10, "doc_string", TEXT),
    CHILD(struct baryon_graph, input, 11, "input", MSGS, value_info),
    CHILD(struct baryon_graph, output, 12, "output", MSGS, value_info),
    CHILD(struct baryon_graph, value_info, 13, "value_info", MSGS, value_info),
    CHILD(struct baryon_graph, annotation, 14, "quantization_annotation", MSGS, annotation),
    CHILD(struct baryon_graph, sparse_initializer, 15, "sparse_initializer", MSGS, sparse_tensor),
    CHILD(struct baryon_graph, metadata, 16, "metadata_props", MSGS, pair),
};
SCHEMA(graph, "GraphProto", struct baryon_graph);

static const struct by_field function_fields[] = {
    ROW(struct by_function, name, 1, "name", NAME),
    ROW(struct by_function, input, 4, "input", NAMES),
    ROW(struct by_function, output, 5, "output", NAMES),
    ROW(struct by_function, attribute, 6, "attribute", NAMES),
    CHILD(struct by_function, node, 7, "node", MSGS, node),
    ROW(struct by_function, doc_string, 8, "doc_string", TEXT),
    CHILD(struct by_function, opset_import, 9, "opset_import", MSGS, opset),
    ROW(struct by_function, domain, 10, "domain", NAME),
    CHILD(struct by_function, attribute_proto, 11, "attribute_proto", MSGS, attribute),
    CHILD(struct by_function, value_info, 12, "value_info", MSGS, value_info),
    ROW(struct by_function, overload, 13, "overload", NAME),
    CHILD(struct by_function, metadata, 14, "metadata_props", MSGS, pair),
};
SCHEMA(function, "FunctionProto", struct by_function);

static const struct by_field training_info_fields[] = {
    CHILD(struct by_training_info, initialization, 1, "initialization", MSG, graph),
    CHILD(struct by_training_info, algorithm, 2, "algorithm", MSG, graph),
    CHILD(struct by_training_info, initialization_binding, 3, "initialization_binding", MSGS, pair),
    CHILD(struct by_training_info, update_binding, 4, "update_binding", MSGS, pair),
};
SCHEMA(training_info, "TrainingInfoProto", struct by_training_info);

static const struct by_field model_fields[] = {
    ROW(struct baryon_model, ir_version, 1, "ir_version", INT),
    ROW(struct baryon_model, producer_name, 2, "producer_name", TEXT),
    ROW(struct baryon_model, producer_version, 3, "producer_version", TEXT),
    ROW(struct baryon_model, domain, 4, "domain", NAME),
    ROW(struct baryon_model, model_version, 5, "model_version", INT),
    ROW(struct baryon_model, doc_string, 6, "doc_string", TEXT),
    CHILD(struct baryon_model, graph, 7, "graph", MSG, graph),
    CHILD(struct baryon_model, opset_import, 8, "opset_import", MSGS, opset),
    CHILD(struct baryon_model, metadata, 14, "metadata_props", MSGS, pair),
    CHILD(struct baryon_model, training_info, 20, "training_info", MSGS, training_info),
    CHILD(struct baryon_model, functions, 25, "functions", MSGS, function),
    CHILD(struct baryon_model, configuration, 26, "configuration", MSGS, device),
};
SCHEMA(model, "ModelProto", struct baryon_model);

const struct by_schema *const *by_schema_all(size_t *count)
{
    static const struct by_schema *const all[] = {
        &by_schema_model,
        &by_schema_graph,
        &by_schema_node,
        &by_schema_attribute,
        &by_schema_tensor,
        &by_schema_sparse_tensor,
        &by_schema_value_info,
        &by_schema_type,
        &by_schema_tensor_type,
        &by_schema_shape,
        &by_schema_dim,
        &by_schema_pair,
        &by_schema_opset,
        &by_schema_function,
        &by_schema_training_info,
        &by_schema_annotation,
        &by_schema_segment,
        &by_schema_sequence_type,
        &by_schema_map_type,
        &by_schema_opaque_type,
        &by_schema_simple_sharded_dim,
        &by_schema_sharded_dim,
        &by_schema_int_list_entry,
        &by_schema_sharding_spec,
        &by_schema_node_device,
        &by_schema_device,
    };
    *count = sizeof all / sizeof *all;
    return all;
}
