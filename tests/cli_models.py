"""Small models for the cases in tests/cli, the same bytes on every machine."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def numbers(*shape, dtype=np.float32):
    """Values between -1 and 1 that repeat, exact in any float type."""
    count = int(np.prod(shape, dtype=np.int64))
    return ((np.arange(count) * 7 % 17 - 8) / 8).astype(dtype).reshape(shape)


def tensor(name, values):
    return numpy_helper.from_array(np.asarray(values), name)


def value(name, shape, elem=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, elem, shape)


def save(graph, path="model.onnx", opset=17, **more):
    """Writes the model; opset is a number or a list of (domain, number)."""
    opsets = [("", opset)] if isinstance(opset, int) else opset
    model = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid(*pair) for pair in opsets],
        ir_version=more.pop("ir_version", 8),
        producer_name="cli_models",
        producer_version="1",
        **more,
    )
    onnx.save(model, path)
    return model


def net(path="model.onnx", batch="N", sides=(8, 8)):
    """Conv, Relu, pooling, Gemm: image [N,3,8,8] to scores [N,5]."""
    nodes = [
        helper.make_node("Conv", ["image", "conv.weight", "conv.bias"], ["conv"], "conv1",
                         kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["conv"], ["relu"], "relu1"),
        helper.make_node("GlobalAveragePool", ["relu"], ["pool"], "pool1"),
        helper.make_node("Flatten", ["pool"], ["flat"], "flat1"),
        helper.make_node("Gemm", ["flat", "fc.weight", "fc.bias"], ["scores"], "fc1", transB=1),
    ]  # fmt: skip
    weights = [
        tensor("conv.weight", numbers(4, 3, 3, 3)),
        tensor("conv.bias", numbers(4)),
        tensor("fc.weight", numbers(5, 4)),
        tensor("fc.bias", numbers(5)),
    ]
    graph = helper.make_graph(
        nodes, "net", [value("image", [batch, 3, *sides])], [value("scores", [batch, 5])], weights
    )
    return save(graph, path)


def two_outputs(path="model.onnx"):
    """x [N,4] to its double and its sum with another input y."""
    nodes = [
        helper.make_node("Add", ["x", "x"], ["double"], "add1"),
        helper.make_node("Add", ["x", "y"], ["the sum/1"], "add2"),
    ]
    graph = helper.make_graph(
        nodes,
        "two",
        [value("x", ["N", 4]), value("y", ["N", 4])],
        [value("double", ["N", 4]), value("the sum/1", ["N", 4])],
    )
    return save(graph, path)


def branches(path="model.onnx"):
    """An If with a graph in each branch; one reads a weight of the outer graph."""
    then = helper.make_graph(
        [helper.make_node("Mul", ["x", "weight"], ["then_y"], "scale")], "then", [],
        [value("then_y", [2, 3])],
    )  # fmt: skip
    other = helper.make_graph(
        [helper.make_node("Neg", ["x"], ["else_y"], "negate")], "else", [],
        [value("else_y", [2, 3])],
    )  # fmt: skip
    nodes = [
        helper.make_node("If", ["flag"], ["y"], "choose", then_branch=then, else_branch=other)
    ]
    graph = helper.make_graph(
        nodes,
        "branches",
        [value("x", [2, 3]), value("flag", [], TensorProto.BOOL)],
        [value("y", [2, 3])],
        [tensor("weight", numbers(3))],
    )
    return save(graph, path)


def quantized(path="model.onnx"):
    """A MatMul with QuantizeLinear and DequantizeLinear around it, the weight per channel."""
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "x.scale", "x.zero"], ["x.q"], "quantize"),
        helper.make_node("DequantizeLinear", ["x.q", "x.scale", "x.zero"], ["x.d"], "dequantize"),
        helper.make_node("DequantizeLinear", ["w.q", "w.scale", "w.zero"], ["w.d"], "weight",
                         axis=1),
        helper.make_node("MatMul", ["x.d", "w.d"], ["y"], "matmul"),
    ]  # fmt: skip
    weights = [
        tensor("x.scale", np.float32(0.125)),
        tensor("x.zero", np.uint8(128)),
        tensor("w.q", np.arange(12, dtype=np.int8).reshape(4, 3)),
        tensor("w.scale", np.array([0.5, 0.25, 0.125], np.float32)),
        tensor("w.zero", np.zeros(3, np.int8)),
    ]
    graph = helper.make_graph(
        nodes, "quantized", [value("x", ["N", 4])], [value("y", ["N", 3])], weights
    )
    return save(graph, path)


def custom(path="model.onnx", domain="org.example"):
    """One operator of a domain that nobody knows."""
    graph = helper.make_graph(
        [helper.make_node("Mystery", ["x"], ["y"], "mystery", domain=domain)],
        "custom", [value("x", [4])], [value("y", [4])],
    )  # fmt: skip
    return save(graph, path, [("", 17), (domain, 1)])


def quark_operators(path="model.onnx"):
    """Blocks of 8 that share an exponent, under the new and the old name; to integers and back."""
    new, old = "com.amd.quark", "com.vai.quantize"
    nodes = [
        helper.make_node("BFPQuantizeDequantize", ["x"], ["a"], "new", domain=new),
        helper.make_node("BFPFixNeuron", ["a"], ["b"], "old", domain=old, bfp_method="to_bfp_prime", block_size=16),
        helper.make_node("ExtendedQuantizeLinear", ["b", "scale", "zero"], ["c"], "to", domain=new),
        helper.make_node("ExtendedDequantizeLinear", ["c", "scale", "zero"], ["y"], "from", domain=new),
    ]
    constants = [numpy_helper.from_array(np.array(1 / 64, "f4"), "scale"),
                 numpy_helper.from_array(np.array(0, "i4"), "zero")]
    graph = helper.make_graph(nodes, "quark", [value("x", [2, 40])], [value("y", [2, 40])], constants)
    return save(graph, path, [("", 17), (new, 1), (old, 1)])


def unsorted(path="model.onnx"):
    """The nodes in the wrong order."""
    nodes = [
        helper.make_node("Relu", ["a"], ["y"], "second"),
        helper.make_node("Neg", ["x"], ["a"], "first"),
    ]
    graph = helper.make_graph(nodes, "unsorted", [value("x", [4])], [value("y", [4])])
    return save(graph, path)


def embedding(path="model.onnx"):
    """Tokens (int64 [N,L]) to rows of a table."""
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "tokens"], ["rows"], "lookup")],
        "embedding",
        [value("tokens", ["N", "L"], TensorProto.INT64)],
        [value("rows", ["N", "L", 2])],
        [tensor("table", numbers(10, 2))],
    )
    return save(graph, path)


def big_weight(path="model.onnx"):
    """A MatMul whose weight is worth a data file (4 KiB), and a bias that is not."""
    nodes = [
        helper.make_node("MatMul", ["x", "weight"], ["m"], "matmul"),
        helper.make_node("Add", ["m", "bias"], ["y"], "add"),
    ]
    graph = helper.make_graph(
        nodes,
        "big",
        [value("x", ["N", 32])],
        [value("y", ["N", 32])],
        [tensor("weight", numbers(32, 32)), tensor("bias", numbers(32))],
    )
    return save(graph, path)


def external(path="model.onnx", location="weights.bin"):
    """big_weight() with its weight in a data file."""
    model = big_weight(path)
    onnx.save(
        model, path, save_as_external_data=True, location=location, size_threshold=1024
    )


def smooth_net(path="model.onnx"):
    """Convolutions, one of them depthwise, and a Gemm with drawn weights, and 16 samples for them whose
    neighbours are alike, as in pictures."""
    rng = np.random.default_rng(5)

    def normal(name, *shape):
        return tensor(name, rng.normal(size=shape).astype(np.float32))

    nodes = [
        helper.make_node("Conv", ["image", "one.weight", "one.bias"], ["one"], "one", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["one"], ["relu"], "relu"),
        helper.make_node("Conv", ["relu", "two.weight", "two.bias"], ["two"], "two", group=12),
        helper.make_node("Relu", ["two"], ["again"], "again"),
        helper.make_node("GlobalAveragePool", ["again"], ["pool"], "pool"),
        helper.make_node("Flatten", ["pool"], ["flat"], "flat"),
        helper.make_node("Gemm", ["flat", "fc.weight", "fc.bias"], ["scores"], "fc"),
    ]
    weights = [normal("one.weight", 12, 3, 3, 3), normal("one.bias", 12), normal("two.weight", 12, 1, 3, 3),
               normal("two.bias", 12), normal("fc.weight", 12, 5), normal("fc.bias", 5)]
    save(helper.make_graph(nodes, "net", [value("image", [1, 3, 8, 8])], [value("scores", [1, 5])], weights), path)
    smooth = np.cumsum(np.cumsum(rng.normal(size=(16, 3, 8, 8)), axis=2), axis=3) + 4 * rng.normal(size=(16, 3, 1, 1))
    return (smooth / 8).astype(np.float32)
