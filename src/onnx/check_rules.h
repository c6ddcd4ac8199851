/*
 * What a model has to keep: RULE(struct by_rule_..., name, text), in the order in which
 * the rules look at a message.
 */
RULE(ir_version, "ir-version", "the IR version is present and known")
RULE(opset_import, "opset-import", "each domain in use is imported exactly once")
RULE(opset_version, "opset-version", "the opset of each domain is known")
RULE(metadata, "metadata", "the keys of the metadata are unique")
RULE(devices, "devices", "device configurations have consistent names, devices and shards")
RULE(function, "function", "functions have names, and distinct inputs, outputs and attributes")
RULE(function_calls, "function-calls",
     "functions do not call themselves, and nest at most 32 levels deep")
RULE(function_names, "function-names",
     "inputs of a function's nodes and outputs of the function are defined")
RULE(training, "training", "training information refers to existing names")
RULE(outputs, "outputs", "the model has outputs")
RULE(graph_name, "graph-name", "a graph has a name")
RULE(value_type, "value-type",
     "inputs and outputs of the model have types, and all types are known")
RULE(operator, "operator", "the operator of each node exists in its opset")
RULE(custom_domain, "custom-domain", "a library is loaded for operators of custom domains")
RULE(arity, "arity", "nodes have as many inputs and outputs as their operator allows")
RULE(attribute, "attribute", "an attribute has a name, a type and one value of that type")
RULE(operator_attribute, "operator-attribute", "a node has the attributes of its operator")
RULE(tensor, "tensor", "a tensor has dims, a known type, and one payload of the right size")
RULE(type_version, "type-version", "the IR version and the opset support the types in use")
RULE(sparse, "sparse", "indices of a sparse tensor are sorted, distinct and within its shape")
RULE(initializer_input, "initializer-input",
     "before IR version 4, each initializer is also an input")
RULE(finite, "finite", "weights are finite numbers")
RULE(node_names, "node-names", "each node has a unique name")
RULE(quantized, "quantized", "the model is not quantized yet")
RULE(half, "half", "weights are float32")
RULE(links, "links", "each name in use is defined once, and the graph has no cycle")
RULE(order, "order", "each node comes after the producers of its inputs")
RULE(outer_output, "outer-output", "outputs of a nested graph are computed in it")
RULE(weight, "weight", "weights of layers are numbers, and not empty")
RULE(geometry, "geometry", "kernel, strides, pads, dilations and groups fit the weight")
RULE(limits, "limits", "axes, counts and sizes are valid for the operator")
RULE(batch_norm, "batch-norm", "variances of BatchNormalization are neither negative nor NaN")
RULE(annotation, "annotation", "quantization annotations refer to existing tensors")
RULE(value_info, "value-info",
     "types are declared once, for existing values, and without contradictions")
RULE(unused, "unused", "each initializer is used")
RULE(inference, "inference", "types and shapes are consistent")
