"""How much of a model computes in 8 bits, and how close it is to the float model, whatever tool wrote it.

    shares.py MODEL QUANTIZED DATA LIMIT [LIBRARY]     one JSON line

DATA/eval/*.npz hold the samples, keys are input names. A layer counts with the multiply-adds of
the first sample; it computes in 8 bits where its data and its weights both come out of integers of
at most 8 bits. SQNR in dB for each float output, over all samples, as the model is written: without
integer kernels. Layers in nested graphs are left out.
"""

import json
import sys

import numpy as np
import onnx
from judge import add, decibels, new_row, samples, session
from onnx import numpy_helper

INTEGER = {"MatMulInteger", "ConvInteger", "QLinearConv", "QLinearMatMul", "QGemm", "DynamicQuantizeMatMul",
           "DynamicQuantizeLSTM"}
RECURRENT = {"LSTM", "GRU", "RNN", "DynamicQuantizeLSTM"}
LAYERS = {"Conv", "ConvTranspose", "MatMul", "Gemm", "Einsum", *RECURRENT, *INTEGER}
# What hands values on that it takes, none other, or zeros.
THROUGH = {"Transpose", "Reshape", "Squeeze", "Unsqueeze", "Identity", "Flatten", "Slice", "Gather", "Split", "MaxPool", "Relu",
           "Pad", "Expand", "Tile", "DepthToSpace", "SpaceToDepth"}


def contracted(equation, shapes):
    """The product of the sizes that an Einsum sums over."""
    terms, result = equation.replace(" ", "").split("->")
    sizes = {}
    for term, shape in zip(terms.split(","), shapes):
        for letter, size in zip(reversed(term), reversed(shape)):
            if letter == ".":
                break
            sizes[letter] = size
    return np.prod([size for letter, size in sizes.items() if letter not in result] or [1])


def multiply_adds(node, shapes):
    """Of one layer. shapes: those of its inputs and its first output by name."""
    data, weight, out = (shapes.get(name) for name in (node.input[0], node.input[1], node.output[0]))
    if node.op_type == "QLinearConv":
        weight = shapes.get(node.input[3])
    kind = node.op_type
    if kind in RECURRENT:
        return data[0] * data[1] * (np.prod(weight) + np.prod(shapes[node.input[2]]))
    if kind == "ConvTranspose":
        return np.prod(data) * np.prod(weight[1:])
    if "Conv" in kind:
        return np.prod(out) * np.prod(weight[1:])
    if kind == "Einsum":
        equation = next(a.s.decode() for a in node.attribute if a.name == "equation")
        return np.prod(out) * contracted(equation, [shapes[name] for name in node.input])
    turned = any(a.name == "transA" and a.i for a in node.attribute)
    return np.prod(out) * data[0 if turned else -1]


def shapes_of(model, layers, sample, library):
    """Sizes of the layers' inputs and outputs on one sample."""
    shapes = {tensor.name: tuple(tensor.dims) for tensor in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type == "Constant":
            values = [numpy_helper.to_array(a.t) for a in node.attribute if a.name == "value"]
            shapes.update({node.output[0]: value.shape for value in values})
    given = {value.name for value in model.graph.input}
    shapes.update({name: sample[name].shape for name in given if name in sample})
    names = {name for node in layers for name in (*node.input[:4], node.output[0]) if name}
    wanted = sorted(names - set(shapes))
    there = {value.name for value in model.graph.output}
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in wanted if name not in there)
    values = session(model.SerializeToString(), library, True).run(wanted, sample)
    shapes.update({name: value.shape for name, value in zip(wanted, values)})
    return shapes


def bits_of(model):
    """A function: how many bits the integers have that a value comes out of, 32 where it is float."""
    makers = {output: node for node in model.graph.node for output in node.output}
    types = {tensor.name: tensor.data_type for tensor in model.graph.initializer}
    sizes = {onnx.TensorProto.INT8: 8, onnx.TensorProto.UINT8: 8, onnx.TensorProto.INT4: 4, onnx.TensorProto.UINT4: 4,
             onnx.TensorProto.INT16: 16, onnx.TensorProto.UINT16: 16}

    def type_of(name):
        if name in types:
            return types[name]
        node = makers.get(name)
        if node is None:
            return None
        if node.op_type == "Constant":
            return next((a.t.data_type for a in node.attribute if a.name == "value"), None)
        if node.op_type.endswith("DequantizeLinear") or node.op_type in THROUGH:
            return type_of(node.input[0])
        if node.op_type.endswith("QuantizeLinear"):
            return type_of(node.input[2]) if len(node.input) > 2 and node.input[2] else onnx.TensorProto.UINT8
        return None

    def bits(name):
        node = makers.get(name)
        while node is not None and node.op_type in THROUGH:
            node = makers.get(node.input[0])
        if node is None or not node.op_type.endswith("DequantizeLinear"):
            return 32
        return sizes.get(type_of(node.input[0]), 32)

    return bits


def shares(path, sample, library=None):
    """Layers and multiply-adds: all of them, and those in at most 8 and at most 16 bits."""
    model = onnx.load(path)
    layers = [node for node in model.graph.node if node.op_type in LAYERS]
    bits = bits_of(model)
    needed = {id(node): 8 if node.op_type in INTEGER else max(map(bits, node.input[:2])) for node in layers}
    shapes = shapes_of(model, layers, sample, library)
    found = {"layers": len(layers), "layers8": 0, "macs": 0, "macs8": 0, "macs16": 0}
    for node in layers:
        macs = int(multiply_adds(node, shapes))
        found["macs"] += macs
        found["layers8"] += needed[id(node)] <= 8
        found["macs8"] += macs * (needed[id(node)] <= 8)
        found["macs16"] += macs * (needed[id(node)] <= 16)
    return found


def closeness(model, quantized, folder, limit, library):
    float_model, small, rows = session(model), session(quantized, library, True), {}
    for sample in samples(f"{folder}/eval", limit):
        wanted, got = float_model.run(None, sample), small.run(None, sample)
        for output, one, other in zip(float_model.get_outputs(), wanted, got):
            if one.dtype.kind == "f" and one.shape == other.shape:
                add(rows.setdefault(output.name, new_row()), one.astype("f8").ravel(), other.astype("f8").ravel())
    return {name: {"written_db": decibels(row), "cosine": float(np.mean(row["cosine"]))} for name, row in rows.items()}


def main():
    model, quantized, folder, limit, library = *sys.argv[1:5], (sys.argv[5:] or [None])[0]
    first = next(samples(f"{folder}/eval", 1))
    print(json.dumps({"outputs": closeness(model, quantized, folder, int(limit), library),
                      **shares(quantized, first, library)}))


if __name__ == "__main__":
    main()
