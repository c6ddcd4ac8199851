"""Changes of a model's structure that leave it a valid protobuf file.

Each function takes a source of random choices and a model and changes it in one place; it
says what it did, or None where there is nothing to change. MUTATIONS lists them.
"""

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, helper, numpy_helper

LONGS = (0, 1, -1, 2, 3, 5, -2, 16, 99, -99, 255, 65536, (1 << 31) - 1, 1 << 31, -(1 << 31), 1 << 40, (1 << 63) - 1, -(1 << 63))
REALS = (0.0, -0.0, 1.0, -1.0, 1e-45, 1e-30, 3.4e38, -3.4e38, float("inf"), float("-inf"), float("nan"), 65504.0, 1e-3)
DIMS = (0, 1, 2, 3, 7, 64, -1, 1 << 16, (1 << 31) - 1, 1 << 31, 1 << 48, (1 << 63) - 1)
NAMES = ("", " ", "größe/π", "a\nb", "x" * 5000, "1", "../up", "N", "%s%n", "\u202e", "y" * 300, "a:0", "tab\there", "=", "quote\"'", "\x7f")
ELEMS = tuple(range(0, 28))
OPS = ("Conv", "MatMul", "Gemm", "Relu", "Add", "Mul", "Clip", "Reshape", "Transpose", "Softmax", "Concat", "Identity", "Cast", "Flatten",
       "QuantizeLinear", "DequantizeLinear", "BatchNormalization", "AveragePool", "Sigmoid", "Shape", "Pad", "Dropout", "Constant",
       "Gather", "Squeeze", "ReduceMean", "LayerNormalization", "Sqrt", "Div", "Sub", "Max", "InstanceNormalization", "Split")  # fmt: skip


def graphs(graph):
    """It and the graphs of its nodes' attributes, however deep."""
    waiting = [graph]
    while waiting:
        found = waiting.pop()
        yield found
        for node in found.node:
            for attribute in node.attribute:
                waiting += [attribute.g] if attribute.type == AttributeProto.GRAPH else attribute.graphs


def a_graph(rng, model):
    return model.graph if rng.random() < 0.8 else rng.choice(list(graphs(model.graph)))


def nodes_of(rng, model):
    """The nodes of a graph or a function."""
    if model.functions and rng.random() < 0.5:
        return rng.choice(model.functions).node
    return a_graph(rng, model).node


def a_node(rng, model):
    nodes = nodes_of(rng, model)
    return rng.choice(nodes) if nodes else None


def tensors(model):
    """All constants: initializers and attributes of nodes."""
    for graph in graphs(model.graph):
        yield from graph.initializer
        for node in graph.node:
            yield from (attribute.t for attribute in node.attribute if attribute.type == AttributeProto.TENSOR)


def a_tensor(rng, model):
    found = list(tensors(model))
    return rng.choice(found) if found else None


def ports(graph):
    return [port for port in (*graph.input, *graph.output, *graph.value_info) if port.type.HasField("tensor_type")]


def a_port(rng, model):
    found = ports(a_graph(rng, model))
    return rng.choice(found) if found else None


def value_names(graph):
    """Names of values, as nodes, inputs and constants of a graph have them."""
    names = {name for node in graph.node for name in (*node.input, *node.output)}
    names.update(port.name for port in (*graph.input, *graph.output))
    return sorted(names | {tensor.name for tensor in graph.initializer})


# Attributes.


def number_of_attribute(rng, model):
    node = a_node(rng, model)
    found = [one for one in node.attribute if one.type in (AttributeProto.INT, AttributeProto.INTS)] if node else []
    if not found:
        return None
    attribute = rng.choice(found)
    if attribute.type == AttributeProto.INT:
        attribute.i = rng.choice(LONGS)
    elif attribute.ints:
        attribute.ints[rng.randrange(len(attribute.ints))] = rng.choice(LONGS)
    return f"{node.op_type}: {attribute.name} has another number"


def length_of_attribute(rng, model):
    node = a_node(rng, model)
    found = [one for one in node.attribute if one.type == AttributeProto.INTS] if node else []
    if not found:
        return None
    attribute = rng.choice(found)
    if rng.random() < 0.5 and attribute.ints:
        del attribute.ints[rng.randrange(len(attribute.ints))]
    else:
        attribute.ints.append(rng.choice(LONGS))
    return f"{node.op_type}: {attribute.name} has another length"


def real_of_attribute(rng, model):
    node = a_node(rng, model)
    found = [one for one in node.attribute if one.type == AttributeProto.FLOAT] if node else []
    if not found:
        return None
    rng.choice(found).f = rng.choice(REALS)
    return f"{node.op_type}: another real"


def text_of_attribute(rng, model):
    node = a_node(rng, model)
    found = [one for one in node.attribute if one.type == AttributeProto.STRING] if node else []
    if not found:
        return None
    rng.choice(found).s = rng.choice(("", "VALID", "SAME_LOWER", "reflect", "edge", "wrap", "linear", "cubic", "max", "b->b", "...", "x")).encode()
    return f"{node.op_type}: another text"


def without_attribute(rng, model):
    node = a_node(rng, model)
    if not node or not node.attribute:
        return None
    k = rng.randrange(len(node.attribute))
    name = node.attribute[k].name
    del node.attribute[k]
    return f"{node.op_type}: {name} left out"


def type_of_attribute(rng, model):
    node = a_node(rng, model)
    if not node or not node.attribute:
        return None
    k = rng.randrange(len(node.attribute))
    name = node.attribute[k].name
    made = rng.choice((1, 1.5, "text", [1, 2], [0.5], ["a", "b"], numpy_helper.from_array(np.array([1.0], "f4"), "t")))
    node.attribute[k].CopyFrom(helper.make_attribute(name, made))
    return f"{node.op_type}: {name} has another type"


def schema_attribute(rng, model):
    """One that the operator has and the node leaves out."""
    node = a_node(rng, model)
    try:
        schema = onnx.defs.get_schema(node.op_type, node.domain)
    except (AttributeError, onnx.defs.SchemaError):
        return None
    absent = sorted(set(schema.attributes) - {one.name for one in node.attribute})
    if not absent:
        return None
    name = rng.choice(absent)
    kind = schema.attributes[name].type.value
    values = {1: rng.choice(REALS), 2: rng.choice(LONGS), 3: rng.choice(("", "NOTSET", "SAME_UPPER", "x")), 6: [1.0, 0.5],
              7: [rng.choice(LONGS) for _ in range(rng.randrange(1, 5))], 8: ["a"]}  # fmt: skip
    if kind not in values:
        return None
    node.attribute.append(helper.make_attribute(name, values[kind], attr_type=kind))
    return f"{node.op_type}: {name} added"


def attribute_twice(rng, model):
    node = a_node(rng, model)
    if not node or not node.attribute:
        return None
    node.attribute.append(rng.choice(node.attribute))
    return f"{node.op_type}: an attribute twice"


# Nodes and their ports.


def rewire(rng, model):
    graph = a_graph(rng, model)
    found = [node for node in graph.node if node.input]
    if not found:
        return None
    node = rng.choice(found)
    k = rng.randrange(len(node.input))
    node.input[k] = rng.choice(value_names(graph))
    return f"{node.op_type}: input {k} is {node.input[k][:30]!r}"


def drop_input(rng, model):
    node = a_node(rng, model)
    if not node or not node.input or node.op_type == "Loop":  # which would not end
        return None
    k = rng.randrange(len(node.input))
    if rng.random() < 0.5:
        node.input[k] = ""
    else:
        del node.input[k]
    return f"{node.op_type}: input {k} left out"


def drop_output(rng, model):
    node = a_node(rng, model)
    if not node or not node.output:
        return None
    k = rng.randrange(len(node.output))
    if rng.random() < 0.5:
        node.output[k] = ""
    else:
        del node.output[k]
    return f"{node.op_type}: output {k} left out"


def more_ports(rng, model):
    node = a_node(rng, model)
    if not node:
        return None
    names = [*node.input, *node.output, ""]
    if rng.random() < 0.5:
        node.input.append(rng.choice(names))
        return f"{node.op_type}: one more input"
    node.output.append(rng.choice([*names, "more_output"]))
    return f"{node.op_type}: one more output"


def swap_inputs(rng, model):
    node = a_node(rng, model)
    if not node or len(node.input) < 2:
        return None
    i, j = rng.sample(range(len(node.input)), 2)
    node.input[i], node.input[j] = node.input[j], node.input[i]
    return f"{node.op_type}: inputs {i} and {j} change places"


def swap_nodes(rng, model):
    nodes = nodes_of(rng, model)
    if len(nodes) < 2:
        return None
    i, j = rng.sample(range(len(nodes)), 2)
    first, second = onnx.NodeProto(), onnx.NodeProto()
    first.CopyFrom(nodes[i])
    second.CopyFrom(nodes[j])
    nodes[i].CopyFrom(second)
    nodes[j].CopyFrom(first)
    return f"nodes {i} and {j} change places"


def drop_node(rng, model):
    nodes = nodes_of(rng, model)
    if not nodes:
        return None
    k = rng.randrange(len(nodes))
    kind = nodes[k].op_type
    del nodes[k]
    return f"node {k} ({kind}) left out"


def bypass_node(rng, model):
    """Consumers read its first input instead; the result of the graph stays its output."""
    graph = a_graph(rng, model)
    found = [node for node in graph.node if node.input and node.output]
    if not found:
        return None
    node = rng.choice(found)
    for other in graph.node:
        for k, name in enumerate(other.input):
            if name == node.output[0]:
                other.input[k] = node.input[0]
    return f"{node.op_type} is passed by"


def node_twice(rng, model):
    nodes = nodes_of(rng, model)
    if not nodes:
        return None
    copy = nodes.add()
    copy.CopyFrom(rng.choice(list(nodes)[:-1]))
    if rng.random() < 0.7:
        for k, name in enumerate(copy.output):
            copy.output[k] = name and f"{name}_again"
    return f"{copy.op_type} twice"


def put_before(graph, node, k):
    nodes = [*list(graph.node)[:k], node, *list(graph.node)[k:]]
    copies = [onnx.NodeProto.FromString(one.SerializeToString()) for one in nodes]
    del graph.node[:]
    graph.node.extend(copies)


def insert_node(rng, model):
    """One between a value and a consumer of it."""
    graph = a_graph(rng, model)
    found = [k for k, node in enumerate(graph.node) if any(node.input)]
    if not found:
        return None
    k = rng.choice(found)
    i = rng.choice([i for i, name in enumerate(graph.node[k].input) if name])
    kind = rng.choice(OPS)
    name = f"inserted_{kind}_{k}"
    made = helper.make_node(kind, [graph.node[k].input[i]], [name])
    if kind not in ("Relu", "Identity", "Sigmoid", "Softmax", "Transpose", "Flatten", "Sqrt", "Dropout", "Shape", "Squeeze"):
        made.input.append(rng.choice(value_names(graph)))
    if kind == "Cast":
        made.attribute.append(helper.make_attribute("to", rng.choice(ELEMS)))
    graph.node[k].input[i] = name
    put_before(graph, made, k)
    return f"{kind} inserted before {k}"


def layer_on_output(rng, model):
    """A layer with weights of its own behind an output, where it fits."""
    found = [port for port in ports(model.graph) if port.name in {one.name for one in model.graph.output}]
    if not found:
        return None
    port = rng.choice(found)
    dims = [dim.dim_value for dim in port.type.tensor_type.shape.dim]
    name = f"layer_{len(model.graph.node)}"
    width = dims[1] if len(dims) > 3 else dims[-1] if dims else 0
    if not 0 < width < 64:
        return None
    shape = (2, width, 1, 1) if len(dims) > 3 else (width, 3)
    model.graph.initializer.append(numpy_helper.from_array(np.linspace(-1, 1, int(np.prod(shape)), dtype="f4").reshape(shape), f"{name}_w"))
    model.graph.node.append(helper.make_node("Conv" if len(dims) > 3 else "MatMul", [port.name, f"{name}_w"], [name], name))
    model.graph.output.append(helper.make_tensor_value_info(name, port.type.tensor_type.elem_type, None))
    return f"a layer behind {port.name[:30]!r}"


def other_operator(rng, model):
    node = a_node(rng, model)
    if not node:
        return None
    before = node.op_type
    node.op_type = rng.choice((*OPS, "", "NoSuchOperator", "If", "Loop"))
    return f"{before} becomes {node.op_type}"


def other_domain(rng, model):
    node = a_node(rng, model)
    if not node:
        return None
    node.domain = rng.choice(("", "ai.onnx", "ai.onnx.ml", "com.microsoft", "com.amd.quark", "local", "no.such", "com.vai.quantize"))
    return f"{node.op_type}: domain {node.domain!r}"


def custom_operator(rng, model):
    """One of Quark's or Microsoft's behind a value."""
    graph = a_graph(rng, model)
    node = a_node(rng, model)
    if not node or not any(node.output):
        return None
    domain, kind = rng.choice((("com.amd.quark", "BFPQuantizeDequantize"), ("com.amd.quark", "MXQuantizeDequantize"), ("com.microsoft", "QuantizeLinear"),
                               ("com.amd.quark", "ExtendedQuantizeLinear"), ("com.microsoft", "Gelu"), ("com.microsoft", "FusedConv")))  # fmt: skip
    source = next(name for name in node.output if name)
    made = graph.node.add()
    made.CopyFrom(helper.make_node(kind, [source, *rng.sample(value_names(graph), 1)], [f"{kind}_{len(graph.node)}"], domain=domain))
    if not any(one.domain == domain for one in model.opset_import):
        model.opset_import.append(helper.make_opsetid(domain, 1))
    return f"{kind} added"


# Names.


def rename_value(rng, model):
    graph = a_graph(rng, model)
    names = [name for name in value_names(graph) if name]
    if not names:
        return None
    old, new = rng.choice(names), rng.choice((*NAMES, *names))
    for node in graph.node:
        for place in (node.input, node.output):
            for k, name in enumerate(place):
                if name == old:
                    place[k] = new
    for named in (*graph.input, *graph.output, *graph.initializer, *graph.value_info):
        if named.name == old:
            named.name = new
    return f"{old[:30]!r} becomes {new[:30]!r} everywhere"


def rename_port(rng, model):
    graph = a_graph(rng, model)
    found = [*graph.input, *graph.output, *graph.initializer]
    if not found:
        return None
    port = rng.choice(found)
    before, port.name = port.name, rng.choice((*NAMES, *value_names(graph)))
    return f"{before[:30]!r} becomes {port.name[:30]!r}"


def rename_node(rng, model):
    node = a_node(rng, model)
    if not node:
        return None
    node.name = rng.choice((*NAMES, *(other.name for other in model.graph.node)))
    return f"{node.op_type} is called {node.name[:30]!r}"


def rename_graph(rng, model):
    a_graph(rng, model).name = rng.choice(NAMES)
    return "another name of a graph"


# Constants.


def type_of_constant(rng, model):
    tensor = a_tensor(rng, model)
    if tensor is None:
        return None
    if rng.random() < 0.4:
        tensor.data_type = rng.choice(ELEMS)
        return f"{tensor.name[:30]!r}: element type {tensor.data_type}, the same bytes"
    kind = rng.choice(("f2", "f4", "f8", "i1", "u1", "i4", "i8", "u2", "?"))
    with np.errstate(all="ignore"):
        values = numpy_helper.to_array(tensor).astype(kind)
    tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))
    return f"{tensor.name[:30]!r}: values of {kind}"


def shape_of_constant(rng, model):
    """Another shape, often of as many values."""
    tensor = a_tensor(rng, model)
    if tensor is None:
        return None
    dims = list(tensor.dims)
    choice = rng.randrange(5)
    if choice == 0:
        dims.reverse()
    elif choice == 1:
        dims.insert(rng.randrange(len(dims) + 1), 1)
    elif choice == 2:
        dims = [int(np.prod(dims, dtype=object))]
    elif choice == 3 and dims:
        dims[rng.randrange(len(dims))] = rng.choice(DIMS)
    else:
        dims = []
    del tensor.dims[:]
    tensor.dims.extend(dims)
    return f"{tensor.name[:30]!r}: shape {dims}"


def size_of_constant(rng, model):
    """Another shape, with values that fill it."""
    tensor = a_tensor(rng, model)
    if tensor is None or not tensor.dims:
        return None
    values = numpy_helper.to_array(tensor)
    axis, size = rng.randrange(values.ndim), rng.choice((0, 1, 2, 3, 5, 8, 17))
    made = np.resize(values, [size if k == axis else dim for k, dim in enumerate(values.shape)]) if values.size else np.ones(values.shape, values.dtype)
    tensor.CopyFrom(numpy_helper.from_array(made, tensor.name))
    return f"{tensor.name[:30]!r}: now {list(tensor.dims)}"


def values_of_constant(rng, model):
    tensor = a_tensor(rng, model)
    if tensor is None or tensor.data_type in (TensorProto.STRING, TensorProto.BFLOAT16):
        return None
    values = numpy_helper.to_array(tensor).copy()
    if not values.size or values.dtype.kind not in "fiub":
        return None
    number = rng.choice(REALS) if values.dtype.kind == "f" else rng.choice(LONGS)
    with np.errstate(all="ignore"):
        number = np.array(number).astype(values.dtype)
    if rng.random() < 0.5:
        values.reshape(-1)[rng.randrange(values.size)] = number
    else:
        values[...] = number
    tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))
    return f"{tensor.name[:30]!r}: {number}"


def shorten_constant(rng, model):
    tensor = a_tensor(rng, model)
    if tensor is None or not tensor.raw_data:
        return None
    tensor.raw_data = tensor.raw_data[: rng.randrange(len(tensor.raw_data))]
    return f"{tensor.name[:30]!r}: too few bytes"


def typed_constant(rng, model):
    """The same values in the field of their type instead of raw bytes."""
    tensor = a_tensor(rng, model)
    if tensor is None or tensor.data_type != TensorProto.FLOAT:
        return None
    values = numpy_helper.to_array(tensor)
    tensor.ClearField("raw_data")
    tensor.ClearField("float_data")
    tensor.float_data.extend(values.reshape(-1).tolist())
    return f"{tensor.name[:30]!r}: float_data"


def constant_twice(rng, model):
    graph = a_graph(rng, model)
    if not graph.initializer:
        return None
    copy = graph.initializer.add()
    copy.CopyFrom(rng.choice(list(graph.initializer)[:-1] or [graph.initializer[0]]))
    return f"{copy.name[:30]!r} twice"


def drop_constant(rng, model):
    graph = a_graph(rng, model)
    if not graph.initializer:
        return None
    k = rng.randrange(len(graph.initializer))
    name = graph.initializer[k].name
    del graph.initializer[k]
    return f"{name[:30]!r} left out"


def constant_to_input(rng, model):
    """An input of the model, with the constant as its default or without it."""
    graph = model.graph
    if not graph.initializer:
        return None
    k = rng.randrange(len(graph.initializer))
    tensor = graph.initializer[k]
    name = tensor.name
    graph.input.append(helper.make_tensor_value_info(name, tensor.data_type, list(tensor.dims)))
    if rng.random() < 0.5:
        del graph.initializer[k]
    return f"{name[:30]!r} becomes an input"


def input_to_constant(rng, model):
    graph = model.graph
    found = [port for port in graph.input if port.type.tensor_type.elem_type in (TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL)]
    if not found:
        return None
    port = rng.choice(found)
    dims = [dim.dim_value if 0 < dim.dim_value < 100 else 2 for dim in port.type.tensor_type.shape.dim]
    kind = helper.tensor_dtype_to_np_dtype(port.type.tensor_type.elem_type)
    graph.initializer.append(numpy_helper.from_array(np.ones(dims, kind), port.name))
    if rng.random() < 0.7:
        graph.input.remove(port)
    return "an input becomes a constant"


# Types and shapes of values.


def type_of_port(rng, model):
    port = a_port(rng, model)
    if port is None:
        return None
    port.type.tensor_type.elem_type = rng.choice(ELEMS)
    return f"{port.name[:30]!r}: element type {port.type.tensor_type.elem_type}"


def dim_of_port(rng, model):
    port = a_port(rng, model)
    if port is None or not port.type.tensor_type.shape.dim:
        return None
    dim = rng.choice(port.type.tensor_type.shape.dim)
    choice = rng.randrange(3)
    if choice == 0:
        dim.dim_param = rng.choice(("N", "H", "batch_size", *NAMES))
    elif choice == 1:
        dim.Clear()
    else:
        dim.dim_value = rng.choice(DIMS)
    return f"{port.name[:30]!r}: a dimension is {str(dim)[:40].strip() or 'open'}"


def rank_of_port(rng, model):
    port = a_port(rng, model)
    if port is None:
        return None
    shape = port.type.tensor_type.shape
    choice = rng.randrange(4)
    if choice == 0:
        port.type.tensor_type.ClearField("shape")
    elif choice == 1:
        shape.dim.add().dim_value = rng.choice(DIMS)
    elif choice == 2 and shape.dim:
        del shape.dim[rng.randrange(len(shape.dim))]
    else:
        del shape.dim[:]
    return f"{port.name[:30]!r}: another rank"


def kind_of_port(rng, model):
    port = a_port(rng, model)
    if port is None:
        return None
    inner = onnx.TypeProto.FromString(port.type.SerializeToString())
    choice = rng.randrange(3)
    if choice == 0:
        port.type.sequence_type.elem_type.CopyFrom(inner)
    elif choice == 1:
        port.type.optional_type.elem_type.CopyFrom(inner)
    else:
        port.ClearField("type")
    return f"{port.name[:30]!r}: no tensor any more"


def value_info(rng, model):
    """One more, right or not."""
    graph = a_graph(rng, model)
    dims = rng.choice(([], [1], [2, 3], [0], ["N", 4], None, [-1, 8], [1, 3, 8, 8]))
    name = rng.choice(value_names(graph) or ["absent"])
    graph.value_info.append(helper.make_tensor_value_info(name, rng.choice((1, 1, 7, 10, 3)), dims))
    return f"a value info of {name[:30]!r}"


def drop_infos(rng, model):
    """All value infos, or the shapes of the outputs."""
    del model.graph.value_info[:]
    for port in model.graph.output:
        if port.type.HasField("tensor_type"):
            port.type.tensor_type.ClearField("shape")
    return "no declared shapes"


def infer_infos(rng, model):
    try:
        model.CopyFrom(onnx.shape_inference.infer_shapes(model))
    except Exception:  # of a model that earlier mutations broke
        return None
    return "inferred shapes"


def drop_port(rng, model):
    graph = a_graph(rng, model)
    place = rng.choice((graph.input, graph.output))
    if not place:
        return None
    k = rng.randrange(len(place))
    name = place[k].name
    del place[k]
    return f"{name[:30]!r} is no port any more"


def port_twice(rng, model):
    graph = a_graph(rng, model)
    place = rng.choice((graph.input, graph.output))
    if not place:
        return None
    copy = onnx.ValueInfoProto.FromString(rng.choice(place).SerializeToString())
    place.append(copy)
    return f"{copy.name[:30]!r} twice"


def more_outputs(rng, model):
    """Values in the middle, constants and inputs become outputs of the model."""
    name = rng.choice([name for name in value_names(model.graph) if name] or ["absent"])
    model.graph.output.append(helper.make_tensor_value_info(name, rng.choice((0, 1, 1, 1, 7, 10)), None))
    return f"{name[:30]!r} becomes an output"


# The model as a whole.


def other_opset(rng, model):
    if not model.opset_import:
        return None
    entry = rng.choice(model.opset_import)
    entry.version = rng.choice((*range(1, 27), 0, -1, 99, 1 << 40)) if rng.random() < 0.3 else rng.randrange(7, 25)
    return f"opset {entry.domain!r} {entry.version}"


def opset_entries(rng, model):
    if rng.random() < 0.5 and model.opset_import:
        del model.opset_import[rng.randrange(len(model.opset_import))]
        return "an opset left out"
    model.opset_import.append(helper.make_opsetid(rng.choice(("", "ai.onnx", "com.microsoft", "com.amd.quark", "ai.onnx.ml", "new")), rng.randrange(1, 25)))
    return "one more opset"


def other_version(rng, model):
    model.ir_version = rng.choice((*range(0, 15), -1, 1 << 40))
    return f"IR version {model.ir_version}"


def metadata(rng, model):
    for _ in range(rng.choice((1, 2))):
        helper.set_model_props(model, {}) if rng.random() < 0.1 else model.metadata_props.add(key=rng.choice((*NAMES, "key", "key")), value="value")
    return "metadata"


def wrap_in_if(rng, model):
    """The nodes of the model go into both branches of an If."""
    graph = model.graph
    if not graph.node or not graph.output or len(list(graphs(graph))) > 20:
        return None
    branches = []
    for k in range(2):
        branch = onnx.GraphProto(name=f"branch_{k}")
        branch.node.extend(graph.node)
        branch.output.extend(graph.output)
        names = {name: f"{name}_{k}" for node in graph.node for name in node.output if name}
        for node in branch.node:
            node.input[:] = [names.get(name, name) for name in node.input]
            node.output[:] = [names.get(name, name) for name in node.output]
        for port in branch.output:
            port.name = names.get(port.name, port.name)
        branches.append(branch)
    del graph.node[:]
    condition = "condition_of_if"
    graph.initializer.append(numpy_helper.from_array(np.array(rng.random() < 0.5), condition))
    graph.node.append(helper.make_node("If", [condition], [port.name for port in graph.output], "if", then_branch=branches[0], else_branch=branches[1]))
    return "all in an If"


def copy_subgraph(rng, model):
    """The nodes once more with other names of their outputs, reading the copies of what they read."""
    graph = a_graph(rng, model)
    if not graph.node or len(graph.node) > 200:
        return None
    names = {name: f"{name}_copy" for node in graph.node for name in node.output if name}
    for node in list(graph.node):
        copy = graph.node.add()
        copy.CopyFrom(node)
        copy.input[:] = [names.get(name, name) for name in node.input]
        copy.output[:] = [names.get(name, name) for name in node.output]
    for port in list(graph.output):
        if port.name in names:
            made = graph.output.add()
            made.CopyFrom(port)
            made.name = names[port.name]
    return "everything twice"


def chain_twice(rng, model):
    """The nodes once more behind the first output."""
    graph = model.graph
    if not graph.node or not graph.input or not graph.output or len(graph.node) > 200:
        return None
    names = {name: f"{name}_next" for node in graph.node for name in node.output if name}
    names[graph.input[0].name] = graph.output[0].name
    for node in list(graph.node):
        copy = graph.node.add()
        copy.CopyFrom(node)
        copy.input[:] = [names.get(name, name) for name in node.input]
        copy.output[:] = [names.get(name, name) for name in node.output]
    graph.output[0].name = names.get(graph.output[0].name, graph.output[0].name)
    graph.output[0].type.tensor_type.ClearField("shape")
    return "everything twice, one behind the other"


def into_function(rng, model):
    """A node becomes a call of a function that has it as its body."""
    found = [node for node in model.graph.node if not any(one.type == AttributeProto.GRAPH for one in node.attribute)]
    if not found:
        return None
    node = rng.choice(found)
    body = onnx.NodeProto.FromString(node.SerializeToString())
    name = f"Function{len(model.functions)}"
    inputs, outputs = list(dict.fromkeys(filter(None, node.input))), list(filter(None, node.output))
    if not outputs or set(inputs) & set(outputs):
        return None
    model.functions.append(helper.make_function("wrapped", name, inputs, outputs, [body], list(model.opset_import)))
    if not any(one.domain == "wrapped" for one in model.opset_import):
        model.opset_import.append(helper.make_opsetid("wrapped", 1))
    del node.attribute[:]
    node.op_type, node.domain, node.input[:], node.output[:] = name, "wrapped", inputs, outputs
    return f"{body.op_type} becomes a function"


def drop_function(rng, model):
    if not model.functions:
        return None
    del model.functions[rng.randrange(len(model.functions))]
    return "a function left out"


MUTATIONS = (
    number_of_attribute, number_of_attribute, length_of_attribute, real_of_attribute, text_of_attribute, without_attribute, type_of_attribute,
    schema_attribute, schema_attribute, attribute_twice, rewire, rewire, drop_input, drop_output, more_ports, swap_inputs, swap_nodes, drop_node,
    bypass_node, bypass_node, node_twice, insert_node, insert_node, layer_on_output, layer_on_output, other_operator, other_domain, custom_operator,
    rename_value, rename_value, rename_port, rename_node, rename_graph, type_of_constant, shape_of_constant, size_of_constant, size_of_constant,
    values_of_constant, values_of_constant, values_of_constant, shorten_constant, typed_constant, constant_twice, drop_constant, constant_to_input,
    constant_to_input, input_to_constant, type_of_port, dim_of_port, dim_of_port, rank_of_port, kind_of_port, value_info, value_info, drop_infos,
    infer_infos, drop_port, port_twice, more_outputs, more_outputs, other_opset, other_opset, opset_entries, other_version, metadata, wrap_in_if,
    copy_subgraph, chain_twice, into_function, drop_function,
)  # fmt: skip


def mutate(rng, model, count, accepts):
    """Changes a copy of the model in so many places; returns it and what was done, in words.

    Most of the changes that accepts(model) does not like are taken back, so that programs get far.
    """
    done = []
    for _ in range(20 * count):
        if len(done) == count:
            break
        changed = onnx.ModelProto.FromString(model.SerializeToString())
        try:
            said = rng.choice(MUTATIONS)(rng, changed)
        except (ValueError, TypeError, OverflowError, KeyError, AttributeError, StopIteration):
            continue  # it does not fit what earlier ones left
        keeps = rng.random() < 0.15
        if said and (keeps or accepts(changed)):
            model = changed
            done.append(said)
    return model, done
