"""Gram matrices, means and counts of layers' inputs beside ONNX Runtime and NumPy.

Random layers of every kind run in ONNX Runtime. With weights that pick single numbers out
of a window its outputs are the columns themselves, however it understands pads and strides;
with random weights W, sums of squares of its outputs have to be W G W'. For windows with
given pads the columns are computed a third time, by their definition.
"""

import itertools
import os
import pathlib
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from dump import Dump, Score
from onnx import TensorProto, helper, numpy_helper

rng = np.random.default_rng(11)
onnxruntime.set_default_logger_severity(4)
TOLERANCE = 2e-5
PART = 1 if os.environ.get("LONG") else 5  # of the made up layers, one in so many
ROWS_MIN = 1024  # more rows than these, and than twice the columns, are sampled


class Layer:
    """One node with constant weights, and inputs for it."""

    def __init__(self, op, inputs, weight, columns, groups=1, swap=False, domain="", **attributes):
        self.op, self.weight, self.columns, self.groups = op, weight, columns, groups
        self.inputs, self.swap, self.domain = inputs, swap, domain
        self.attributes = {k: v for k, v in attributes.items() if v is not None}

    def model(self, weight):
        names = ["w", "x"] if self.swap else ["x", "w"]
        node = helper.make_node(self.op, names, ["y"], domain=self.domain, **self.attributes)
        elem = helper.np_dtype_to_tensor_dtype(self.inputs[0].dtype)
        kind = weight.dtype if self.op == "Gather" else self.inputs[0].dtype
        given = [helper.make_tensor_value_info("x", elem, [None] * self.inputs[0].ndim)]
        out = helper.make_tensor_value_info("y", helper.np_dtype_to_tensor_dtype(kind), None)
        graph = helper.make_graph([node], "g", given, [out],
                                  [numpy_helper.from_array(weight.astype(kind), "w")])
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)

    def run(self, weight, value):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(self.model(weight).SerializeToString(), options)
        return session.run(None, {"x": value})[0].astype(np.float64)


# ---- Layers of all kinds


def numbers(low, high, count):
    return [int(v) for v in rng.integers(low, high + 1, count)]


def values(shape, scale=True):
    array = rng.normal(0.3, 1, shape)
    return (array * np.exp(rng.normal(0, 1)) if scale else array).astype(np.float32)


def random_window(transposed, depthwise=False):
    axes = int(rng.integers(1, 4))
    groups = int(rng.integers(2, 7)) if depthwise else int(rng.choice([1, 1, 2, 3]))
    inside = 1 if depthwise else int(rng.integers(1, 5))
    outputs = int(rng.integers(1, 4))
    kernel, stride = numbers(1, 4 if axes < 3 else 2, axes), numbers(1, 3, axes)
    dilation = numbers(1, 2, axes)
    auto = str(rng.choice(["NOTSET", "NOTSET", "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"]))
    if auto.startswith("SAME") and rng.integers(2):
        dilation = [1] * axes
    pads = numbers(0, 2, 2 * axes) if auto == "NOTSET" and rng.integers(4) else None
    attributes = dict(kernel_shape=kernel if rng.integers(3) else None, strides=stride,
                      dilations=dilation, group=groups, pads=pads,
                      auto_pad=auto if auto != "NOTSET" or rng.integers(2) else None)
    if transposed:
        weight = values([inside * groups, outputs, *kernel], False)
        shrink = stride if auto == "NOTSET" else [1] * axes
        attributes["output_padding"] = [int(rng.integers(0, s)) for s in shrink]
    else:
        weight = values([outputs * groups, inside, *kernel], False)
    least = [(k - 1) * d + 1 for k, d in zip(kernel, dilation)]
    inputs = []
    for _ in range(int(rng.integers(1, 4))):
        size = [least[i] + int(rng.integers(0, (9, 9, 3)[axes - 1])) for i in range(axes)]
        inputs.append(values([int(rng.integers(1, 4)), inside * groups, *size]))
    if transposed and rng.integers(4) == 0:  # a size that some padding makes of the first input
        inputs = inputs[:1]
        whole = [(n - 1) * s + d + more for n, s, d, more in zip(
            inputs[0].shape[2:], stride, least, attributes["output_padding"])]
        attributes["output_shape"] = [max(1, n - int(rng.integers(0, 4))) for n in whole]
        attributes["pads"] = None
    return Layer("ConvTranspose" if transposed else "Conv", inputs, weight,
                 inside * int(np.prod(kernel)), groups, **attributes)


def random_product():
    """MatMul and Gemm, weights on either side."""
    inner, outer = int(rng.integers(1, 40)), int(rng.integers(1, 9))
    swap = bool(rng.integers(3) == 0)
    if rng.integers(2):
        a, b = int(rng.integers(2)), int(rng.integers(2))
        weight_in_rows = (a if swap else 1 - b)  # the summed axis is the first one
        data_last = (b if swap else 1 - a)  # the summed axis is the last one
        weight = values([inner, outer] if weight_in_rows else [outer, inner], False)
        inputs = [values([n, inner] if data_last else [inner, n]) for n in numbers(1, 50, 3)]
        return Layer("Gemm", inputs, weight, inner, swap=swap, transA=a, transB=b,
                     alpha=float(rng.choice([1.0, 0.5])))
    lead = [1] * int(rng.integers(0, 3))
    shape = [outer, inner] if swap else [inner, outer]
    weight = values([inner] if rng.integers(6) == 0 else lead + shape, False)
    inputs = []
    batch = numbers(1, 3, int(rng.integers(0, 4)))
    for n in numbers(1, 20, 3):
        shape = [inner, n] if swap else [n, inner]
        inputs.append(values(batch + shape))
    if not batch and rng.integers(4) == 0:
        inputs = [values([inner]) for _ in range(3)]
    return Layer("MatMul", inputs, weight, inner, swap=swap)


# ---- What is expected


def picking_weights(layer):
    """Weights with which output g * columns + i is column i of group g."""
    width, groups = layer.columns, layer.groups
    if layer.op == "Conv":
        return np.tile(np.eye(width, dtype=np.float32), (groups, 1)).reshape(
            groups * width, *layer.weight.shape[1:])
    kernel = layer.weight.shape[2:]
    inside = layer.weight.shape[0] // groups
    one = np.eye(width, dtype=np.float32).reshape(inside, *kernel, width)
    return np.tile(np.moveaxis(one, -1, 1), (groups, *[1] * (len(kernel) + 1)))


def product_columns(layer, value):
    value = value.astype(np.float64)
    transposed = layer.attributes.get("transB" if layer.swap else "transA", 0)
    if value.ndim > 1 and bool(transposed) != layer.swap:
        value = np.swapaxes(value, -1, -2)
    return value.reshape(1, -1, layer.columns)


def runtime_columns(layer, value):
    """[groups, rows, columns]; None when ONNX Runtime does not want to."""
    if layer.op in ("MatMul", "Gemm"):
        return product_columns(layer, value)
    try:
        out = layer.run(picking_weights(layer), value)
    except Exception:  # its classes of errors have no base of their own
        return None
    out = np.moveaxis(out, 1, -1).reshape(-1, layer.groups, layer.columns)
    return np.moveaxis(out, 1, 0)


def defined_columns(layer, value):
    """The same by definition, for windows with given pads."""
    kernel = layer.weight.shape[2:]
    axes = len(kernel)
    stride, dilation = layer.attributes["strides"], layer.attributes["dilations"]
    pads = layer.attributes.get("pads") or [0] * 2 * axes
    size = value.shape[2:]
    span = [(k - 1) * d + 1 for k, d in zip(kernel, dilation)]
    if layer.op == "Conv":
        out = [(size[i] + pads[i] + pads[axes + i] - span[i]) // stride[i] + 1
               for i in range(axes)]
    else:
        more = layer.attributes["output_padding"]
        out = [max(0, (size[i] - 1) * stride[i] + more[i] + span[i] - pads[i] - pads[axes + i])
               for i in range(axes)]
    grouped = value.reshape(value.shape[0], layer.groups, -1, *size).astype(np.float64)
    columns = np.zeros([layer.groups, value.shape[0], *out, grouped.shape[2], *kernel])
    for place in itertools.product(*map(range, out)):
        for at in itertools.product(*map(range, kernel)):
            index = []
            for i in range(axes):
                if layer.op == "Conv":
                    index.append(place[i] * stride[i] - pads[i] + at[i] * dilation[i])
                else:
                    from_ = place[i] + pads[i] - at[i] * dilation[i]
                    index.append(from_ // stride[i] if from_ % stride[i] == 0 else -1)
            if all(0 <= index[i] < size[i] for i in range(axes)):
                seen = grouped[(slice(None), slice(None), slice(None), *index)]
                columns[(slice(None), slice(None), *place, slice(None), *at)] = \
                    np.moveaxis(seen, 1, 0)
    return columns.reshape(layer.groups, -1, layer.columns)


# ---- Ours


class Gathered:
    def __init__(self, data, groups, width):
        self.rows, self.samples, self.left_out = np.frombuffer(data, np.uint64, 3)
        numbers_ = np.frombuffer(data[24:24 + 8 * groups * width * (width + 1)], np.float64)
        self.gram = numbers_[:groups * width * width].reshape(groups, width, width)
        self.mean = numbers_[groups * width * width:].reshape(groups, width)


def open_layers(dump, folder, model):
    onnx.save(model, folder / "m.onnx")
    done, text = dump.ask("model", folder / "m.onnx")
    return [line.split() for line in text.removesuffix("ok").split(";")[:-1]] if done else text


def gather(dump, folder, inputs, index=0, threads=1, parts=1, passes=1, seed=0):
    """The bytes of the answer, or the message."""
    paths = []
    for i, value in enumerate(inputs):
        paths.append(folder / f"{i}.npy")
        np.save(paths[-1], value)
    done, text = dump.ask("gather", index, threads, parts, passes, seed, folder / "out", *paths)
    return (folder / "out").read_bytes() if done else text


def near(ours, wanted, scale):
    return np.all(np.abs(ours - wanted) <= TOLERANCE * scale)


def compare(score, layer, found, columns, what):
    rows = columns.shape[1]
    score.check(found.rows == rows, f"{what}: {found.rows} rows, wanted {rows}")
    gram = np.einsum("gri,grj->gij", columns, columns)
    size = np.sqrt(np.einsum("gii->gi", gram))
    bound = size[:, :, None] * size[:, None, :] + 1e-30
    good = near(found.gram, gram, bound)
    score.check(good, f"{what}: matrix is off by {np.max(np.abs(found.gram - gram) / bound):.2g}")
    mean = columns.mean(axis=1) if rows else np.zeros_like(found.mean)
    score.check(near(found.mean, mean, np.abs(columns).mean() + 1e-30 if rows else 1),
                f"{what}: means differ")
    symmetric = np.array_equal(found.gram, np.swapaxes(found.gram, 1, 2))
    score.check(symmetric, f"{what}: not symmetric")


def compare_outputs(score, layer, found, what):
    """Sums of squares of ONNX Runtime's outputs, channel by channel."""
    wanted = 0
    for value in layer.inputs:
        out = layer.run(layer.weight, value) / layer.attributes.get("alpha", 1)
        if layer.op in ("Conv", "ConvTranspose"):
            wanted = wanted + np.sum(out ** 2, axis=(0, *range(2, out.ndim)))
        else:
            wanted = wanted + np.sum(out ** 2)
    weight = layer.weight.astype(np.float64)
    if layer.op == "Conv":
        rows = weight.reshape(layer.groups, -1, layer.columns)
    elif layer.op == "ConvTranspose":
        grouped = weight.reshape(layer.groups, -1, *weight.shape[1:])
        rows = np.moveaxis(grouped, 2, 1).reshape(layer.groups, weight.shape[1], layer.columns)
    else:
        along = -1 if weight.ndim == 1 or layer.swap != bool(layer.attributes.get(
            "transA" if layer.swap else "transB", 0)) else -2
        rows = np.moveaxis(weight, along, -1).reshape(1, -1, layer.columns)
    ours = np.einsum("gmi,gij,gmj->gm", rows, found.gram, rows)
    ours = ours.reshape(-1) if layer.op in ("Conv", "ConvTranspose") else ours.sum()
    bound = np.einsum("gmi,gii->gm", rows ** 2, found.gram).max() * layer.columns + 1e-30
    score.check(near(ours, wanted, bound), f"{what}: outputs' squares differ")


def draw(make):
    """A layer of which all rows are taken, and its columns."""
    while True:
        layer = make()
        columns = [runtime_columns(layer, value) for value in layer.inputs]
        known = [c for c in columns if c is not None]
        if all(c.shape[1] <= max(ROWS_MIN, 2 * layer.columns) for c in known):
            return layer, columns


def check_layers(dump, score, folder, make, count, runs):
    refused = 0
    for number in range(count):
        layer, columns = draw(make)
        shapes = [list(v.shape) for v in layer.inputs]
        what = f"{layer.op} {number} {list(layer.weight.shape)} {shapes} {layer.attributes}"
        listed = open_layers(dump, folder, layer.model(layer.weight))
        wanted = ["y", "x", "w", str(layer.groups), str(layer.columns)]
        if not isinstance(listed, list) or len(listed) != 1 or \
                listed[0][:3] + listed[0][4:6] != wanted:
            score.check(False, f"{what}: layers are {listed}")
            continue
        data = gather(dump, folder, layer.inputs, 0, *runs[number % len(runs)])
        if isinstance(data, str):
            score.check(False, f"{what}: {data}")
            continue
        found = Gathered(data, layer.groups, layer.columns)
        window = layer.op in ("Conv", "ConvTranspose")
        given = window and layer.attributes.get("auto_pad", "NOTSET") == "NOTSET" and \
            "output_shape" not in layer.attributes
        if any(c is None for c in columns):
            refused += 1
        else:
            compare(score, layer, found, np.concatenate(columns, 1), what)
            compare_outputs(score, layer, found, what)
        if given:
            again = np.concatenate([defined_columns(layer, v) for v in layer.inputs], 1)
            compare(score, layer, found, again, what + " by definition")
    score.check(refused <= count // 4, f"ONNX Runtime refuses {refused} of {count}")
    print(f"{make.__name__ if hasattr(make, '__name__') else 'layers'}: {count}, "
          f"{refused} not in ONNX Runtime")


def window():
    return random_window(False)


def depthwise():
    return random_window(False, True)


def transposed():
    return random_window(True)


def transposed_depthwise():
    return random_window(True, True)


# ---- The same bytes


def check_order(dump, score, folder):
    """Any team, any order, any split and any passes give the same bytes."""
    big = Layer("Conv", [values([1, 64, n, 9]) for n in (7, 9, 30, 3, 7, 12)],
                values([4, 64, 3, 3], False), 576, pads=[1, 1, 1, 1], strides=[1, 1],
                dilations=[1, 1], group=1)
    deep = Layer("Conv", [values([2, 24, n, n]) for n in (7, 19, 35, 3)],
                 values([24, 1, 3, 3], False), 9, 24, pads=[1, 1, 1, 1], strides=[2, 1],
                 dilations=[1, 1], group=24)
    wide = Layer("MatMul", [values([3, n, 1100]) for n in (1, 40, 800, 5, 7)],
                 values([1100, 3], False), 1100)
    for layer in (big, deep, wide):
        open_layers(dump, folder, layer.model(layer.weight))
        first = gather(dump, folder, layer.inputs)
        ways = list(itertools.product((1, 2, 3, 8), (1, 2, 5), (1, 2, 3)))
        for number, (threads, parts, passes) in enumerate(ways if PART == 1 else ways[1::7]):
            again = gather(dump, folder, layer.inputs, 0, threads, parts, passes, number)
            score.check(first == again, f"{layer.op}: other bytes for {threads} threads, "
                                        f"{parts} parts, {passes} passes")


# ---- Sampling, rows that are not finite, types, tables


def check_sampling(dump, score, folder):
    """Of many rows a fixed part is taken, spread over all of them."""
    value = values([1, 2, 150, 150], False)
    value[:, :, :75] *= 3
    layer = Layer("Conv", [value], values([4, 2, 3, 3], False), 18, group=1, strides=[1, 1],
                  dilations=[1, 1])
    open_layers(dump, folder, layer.model(layer.weight))
    data = gather(dump, folder, layer.inputs)
    found = Gathered(data, 1, 18)
    columns = runtime_columns(layer, value)
    score.check(found.rows == ROWS_MIN, f"sampled rows are {found.rows}")
    gram = columns[0].T @ columns[0] / columns.shape[1]
    error = np.linalg.norm(found.gram[0] / ROWS_MIN - gram) / np.linalg.norm(gram)
    score.check(error < 0.2, f"a sampled matrix is off by {error}")
    score.check(data == gather(dump, folder, layer.inputs, 0, 3), "sampled: other bytes")
    twice = gather(dump, folder, [value, value])
    score.check(not np.array_equal(Gathered(twice, 1, 18).gram, 2 * found.gram),
                "every sample takes the same rows")
    # A row is in it or not: the trace of single rows.
    marks = np.arange(1, 20001, dtype=np.float32).reshape(-1, 1)
    layer = Layer("MatMul", [marks], values([1, 1], False), 1)
    open_layers(dump, folder, layer.model(layer.weight))
    found = Gathered(gather(dump, folder, [marks]), 1, 1)
    score.check(abs(found.mean[0, 0] - 10000.5) < 5, f"rows are not spread: {found.mean}")


def check_bad_rows(dump, score, folder):
    for bad in (np.nan, np.inf, -np.inf, 1e30, -3e38):
        value = values([1, 4, 9, 9])
        value[0, 3, 4, 4] = bad
        layer = Layer("Conv", [value], values([4, 2, 3, 3], False), 18, 2, group=2,
                      pads=[1, 1, 1, 1], strides=[1, 1], dilations=[1, 1])
        open_layers(dump, folder, layer.model(layer.weight))
        found = Gathered(gather(dump, folder, layer.inputs), 2, 18)
        score.check(found.left_out == 9 and found.rows == 72, f"{bad}: {found.left_out} left out")
        with np.errstate(all="ignore"):
            columns = defined_columns(layer, value)
        good = np.all(np.abs(columns) < 1e29, axis=(0, 2))
        compare(score, layer, found, columns[:, good], f"conv with {bad}")
        rows = values([50, 7])
        rows[3, 2] = rows[20, 0] = bad
        layer = Layer("MatMul", [rows], values([7, 2], False), 7)
        open_layers(dump, folder, layer.model(layer.weight))
        found = Gathered(gather(dump, folder, [rows]), 1, 7)
        score.check(found.left_out == 2, f"{bad}: {found.left_out} rows left out")
        good = np.delete(rows, [3, 20], 0).astype(np.float64)
        compare(score, layer, found, good[None], f"matmul with {bad}")


def check_types(dump, score, folder):
    for kind in (np.float16, np.float64):
        value = values([2, 30, 11], False).astype(kind)
        layer = Layer("MatMul", [value], values([11, 2], False), 11)
        listed = open_layers(dump, folder, layer.model(layer.weight))
        score.check(len(listed) == 1, f"{kind}: {listed}")
        found = Gathered(gather(dump, folder, [value]), 1, 11)
        compare(score, layer, found, value.astype(np.float64).reshape(1, -1, 11), str(kind))
    value = np.arange(12, dtype=np.int32).reshape(3, 4)
    layer = Layer("MatMul", [values([3, 4])], values([4, 2], False), 4)
    open_layers(dump, folder, layer.model(layer.weight))
    score.check("input of type int32" in gather(dump, folder, [value]), "integers are refused")
    score.check("the last size must be 4" in gather(dump, folder, [values([4, 3])]),
                "another width is refused")
    empty = gather(dump, folder, [values([0, 4])])
    score.check(Gathered(empty, 1, 4).rows == 0, "no rows")


def check_gather(dump, score, folder):
    table = values([50, 8], False)
    for kind in (np.int64, np.int32):
        inputs = [rng.integers(-50, 50, shape).astype(kind) for shape in ((3, 7), (), (4, 1, 5))]
        layer = Layer("Gather", [np.zeros((1, 1), kind)], table, 50, swap=True)
        listed = open_layers(dump, folder, layer.model(table))
        score.check(len(listed) == 1 and listed[0][3:] == ["gather", "1", "50", "0"],
                    f"gather: {listed}")
        data = gather(dump, folder, inputs, 0, 1, 2, 1, 5)
        flat = np.concatenate([v.reshape(-1) for v in inputs]) % 50
        wanted = np.bincount(flat, minlength=50)
        score.check(np.array_equal(np.frombuffer(data[24:], np.uint64), wanted), "gather: counts")
        for bad in (50, -51):
            text = gather(dump, folder, [np.array([1, bad], kind)])
            score.check(f"index {bad}, but the table has 50 rows" in text, f"gather: {text}")


def check_recognition(dump, score, folder):
    """Constants through Constant, Identity and Cast; what is no layer."""
    half = values([6, 3], False).astype(np.float16)
    nodes = [
        helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(values([6, 3]), "")),
        helper.make_node("MatMul", ["x", "c"], ["by_constant"]),
        helper.make_node("Cast", ["h"], ["h32"], to=TensorProto.FLOAT),
        helper.make_node("Identity", ["h32"], ["hi"]),
        helper.make_node("MatMul", ["x", "hi"], ["by_cast"]),
        helper.make_node("MatMul", ["x", "z"], ["two_data"]),
        helper.make_node("MatMul", ["c", "hi2"], ["two_constants"]),
        helper.make_node("MatMul", ["x3", "batched"], ["batch_of_weights"]),
        helper.make_node("Add", ["x", "bias"], ["no_layer"]),
        helper.make_node("Gather", ["dims", "i"], ["shape_arithmetic"]),
        helper.make_node("Gather", ["h", "i"], ["along_axis_1"], axis=1),
    ]
    info = helper.make_tensor_value_info
    inputs = [info("x", 1, [None, 6]), info("z", 1, [6, 3]), info("x3", 1, [2, 5, 6]),
              info("i", 7, [None])]
    names = [n.output[0] for n in nodes if n.op_type not in ("Constant", "Cast", "Identity")]
    constants = [numpy_helper.from_array(half, "h"),
                 numpy_helper.from_array(values([3, 6]), "hi2"),
                 numpy_helper.from_array(values([2, 6, 3]), "batched"),
                 numpy_helper.from_array(values([6]), "bias"),
                 numpy_helper.from_array(np.arange(4), "dims")]
    graph = helper.make_graph(nodes, "g", inputs, [info(n, 0, None) for n in ()], constants)
    for name in names:
        graph.output.append(helper.make_empty_tensor_value_info(name))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    listed = open_layers(dump, folder, model)
    found = [line[0] for line in listed] if isinstance(listed, list) else listed
    score.check(found == ["by_constant", "by_cast"], f"layers are {found}")


def main():
    score, dump = Score(), Dump("moments_dump")
    runs = ((1, 1, 1), (2, 2, 2), (3, 3, 1, 7), (8, 1, 2, 3))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for make, count in ((window, 150), (depthwise, 60), (transposed, 120),
                            (transposed_depthwise, 40), (random_product, 120)):
            check_layers(dump, score, folder, make, count // PART, runs)
        for check in (check_order, check_sampling, check_bad_rows, check_types, check_gather,
                      check_recognition):
            check(dump, score, folder)
    score.check(dump.close() == 0, "the tool ends well")
    return score.finish()


if __name__ == "__main__":
    sys.exit(main())
