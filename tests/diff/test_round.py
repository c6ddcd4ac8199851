"""Rounding that is solved beside NumPy and ONNX Runtime, from the written model alone.

What a layer reads is what the written model gives up to there, what it ought to give is what the float
model gives; columns of windows are picked by ONNX Runtime's own layers. Gram matrices, damping, biases and
errors follow from their definitions in double. Integers have to be next to the weights unless they are free,
no single one of them may be changed for the better but those of the relaxation, and what is reported of
held-out samples has to be so.
"""

import functools
import itertools
import json
import pathlib
import subprocess
import tempfile

import numpy as np
import onnx
import onnxruntime
from dump import BUILD, Score, some
from onnx import TensorProto, helper, numpy_helper

onnxruntime.set_default_logger_severity(4)
DAMPING = 0.05
MIX = 0.5
SAMPLES = 24
RELAXED = "--rounding=relaxation"
# By how much a step may pay, in what a whole step weighs: the rest is rounding of floats, and values that
# lie between two integers, which our runs and these may take to different ones.
NOISE = 0.02


# ---- Models


class Net:
    """A graph that grows node by node, with weights of its own."""

    def __init__(self, shape, opset=21, seed=3):
        self.random = np.random.default_rng(seed)
        self.nodes, self.weights, self.shape, self.opset, self.last = [], [], shape, opset, "image"

    def weight(self, name, *shape):
        """Some outputs count more than others, and some columns."""
        values = self.random.normal(size=shape)
        if len(shape) > 1:
            values *= np.exp(self.random.normal(0, 0.4, (shape[0], *[1] * (len(shape) - 1))))
        self.weights.append(numpy_helper.from_array((values / max(1, np.prod(shape[1:])) ** 0.5).astype("f4"), name))
        return name

    def add(self, op, name, *inputs, **attributes):
        self.nodes.append(helper.make_node(op, [self.last, *inputs], [f"{name}.out"], name, **attributes))
        self.last = f"{name}.out"
        return self

    def layer(self, op, name, shape, bias=None, relu=True, **attributes):
        """relu: behind it there is something like that, from which nothing of the layer is hidden."""
        inputs = [self.weight(f"{name}.w", *shape)] + ([self.weight(f"{name}.b", bias)] if bias else [])
        self.add(op, name, *inputs, **attributes)
        return self.add("LeakyRelu", f"{name}.relu", alpha=0.25) if relu else self

    def save(self, path):
        out = helper.make_tensor_value_info(self.last, TensorProto.FLOAT, None)
        given = helper.make_tensor_value_info("image", TensorProto.FLOAT, self.shape)
        graph = helper.make_graph(self.nodes, "net", [given], [out], self.weights)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=10), path)


def windows(height=12, width=9):  # no more rows than are all used
    """Convolutions: strides, dilations, groups, depthwise, pads of all kinds."""
    net = Net([1, 3, height, width])
    net.layer("Conv", "plain", (12, 3, 3, 3), 12, pads=[1, 0, 0, 2], strides=[2, 1])
    net.layer("Conv", "dilated", (8, 12, 2, 3), 8, dilations=[2, 1], pads=[2, 1, 0, 1])
    net.layer("Conv", "same", (8, 8, 2, 3), 8, auto_pad="SAME_UPPER", strides=[1, 2])
    net.layer("Conv", "grouped", (12, 4, 4, 1), 12, group=2, auto_pad="SAME_LOWER")
    net.layer("Conv", "deep", (24, 1, 3, 3), 24, group=12, pads=[1, 1, 1, 1])
    net.layer("Conv", "no_bias", (6, 24, 1, 1), auto_pad="VALID", relu=False)
    return net.layer("Conv", "last", (5, 6, 3, 2), 5, relu=False)


def square_windows():
    """Here a smaller scale leaves a weight of 4 bits beyond the least level."""
    return windows(11, 11)


def transposed():
    net = Net([1, 4, 1, 2], seed=4)  # few rows, which are all used
    net.layer("ConvTranspose", "up", (4, 6, 3, 3), 6, strides=[2, 2], pads=[1, 0, 0, 1], output_padding=[1, 0])
    net.layer("ConvTranspose", "grouped", (6, 4, 2, 3), 8, group=2, strides=[1, 2], dilations=[2, 1])
    return net.layer("ConvTranspose", "no_bias", (8, 3, 2, 2), relu=False)


def products():
    net = Net([20, 32], seed=5)
    net.layer("Gemm", "turned", (24, 32), 24, transB=1)
    net.layer("Gemm", "straight", (24, 40), 40)
    net.layer("MatMul", "no_bias", (40, 16))
    return net.layer("Gemm", "no_bias_turned", (16, 16), relu=False, transB=1)


def other_ranks():
    """Of one and of three dimensions."""
    net = Net([1, 4, 40], seed=6)
    net.layer("Conv", "line", (16, 4, 5), 16, strides=[2], pads=[2, 1])
    net.weights.append(numpy_helper.from_array(np.array([1, 5, 4, 4, 4]), "cube"))
    net.add("Slice", "cut", *(net_constant(net, name, value) for name, value in (("from", 0), ("to", 20), ("axis", 2))))
    net.add("Reshape", "cubes", "cube")
    return net.layer("Conv", "cube.conv", (6, 5, 2, 3, 2), 6, pads=[1, 0, 0, 0, 1, 1], relu=False)


def net_constant(net, name, value):
    net.weights.append(numpy_helper.from_array(np.array([value]), name))
    return name


def sampled():
    """More rows in a sample than are looked at."""
    net = Net([1, 3, 48, 48], seed=7)
    net.layer("Conv", "one", (8, 3, 3, 3), 8, pads=[1, 1, 1, 1])
    return net.layer("Conv", "two", (6, 8, 3, 3), 6, relu=False)


def wide():
    """More columns than a Gram matrix is made of: what layers read is kept instead. So few rows leave much
    to choose, and sweeps end before all have settled."""
    net = Net([3, 16], seed=11)
    net.layer("Gemm", "spread", (2100, 16), 2100, transB=1)
    net.layer("MatMul", "no_bias", (2100, 12))
    net.layer("Gemm", "back", (12, 2304), 2304)
    return net.layer("Gemm", "head", (10, 2304), 10, relu=False, transB=1)


def simulated():
    """Hardware computes another Sigmoid and LeakyRelu; what is wanted is what the model computes."""
    net = Net([1, 3, 9, 9], seed=10)
    net.layer("Conv", "one", (8, 3, 3, 3), 8, relu=False).add("LeakyRelu", "leaky", alpha=0.1)
    net.layer("Conv", "two", (6, 8, 3, 3), 6, relu=False).add("Sigmoid", "sigmoid")
    return net.layer("Conv", "three", (4, 6, 3, 3), 4, relu=False)


def left_alone():
    """One layer that is solved among those that are not: weights that two read, that are computed from
    data, that an If has, scaled products."""
    net = Net([16, 16], seed=8)
    net.layer("Gemm", "solved", (16, 16), 16)
    shared = net.weight("shared.w", 16, 16)
    net.add("MatMul", "shared_one", shared).add("Relu", "between").add("MatMul", "shared_two", shared)
    net.add("MatMul", "with_data", "image")
    net.layer("Gemm", "scaled", (16, 16), 16, alpha=0.5)
    inside = numpy_helper.from_array(net.random.normal(size=(16, 16)).astype("f4"), "inside.w")
    empty = helper.make_tensor_value_info("inner", TensorProto.FLOAT, None)
    branch = helper.make_graph([helper.make_node("MatMul", [net.last, "inside.w"], ["inner"], "nested")], "then",
                               [], [empty], [inside])
    other = helper.make_graph([helper.make_node("Relu", [net.last], ["inner"], "nothing")], "else", [], [empty])
    net.weights.append(numpy_helper.from_array(np.array(True), "yes"))
    net.nodes.append(helper.make_node("ReduceMax", [net.last], ["most"], "most", keepdims=0))
    net.weights.append(numpy_helper.from_array(np.float32(-1), "least"))
    net.nodes.append(helper.make_node("Greater", ["most", "least"], ["decides"], "decides"))
    net.nodes.append(helper.make_node("If", ["decides"], ["chosen"], "choice", then_branch=branch, else_branch=other))
    net.last = "chosen"
    return net


def hidden():
    """Activations that do not see all of a layer."""
    net = Net([1, 3, 10, 10], seed=13)
    net.layer("Conv", "relu", (12, 3, 3, 3), 12, relu=False).add("Relu", "relu.relu")
    net.layer("Conv", "six", (12, 1, 3, 3), 12, relu=False, group=12)
    net.weights += [numpy_helper.from_array(np.float32(value), name) for name, value in (("no", 0), ("few", 0.5))]
    net.add("Clip", "six.clip", "no", "few")
    net.layer("Conv", "no_bias", (16, 12, 1, 1), relu=False).add("Relu", "no_bias.relu")
    return net.layer("Conv", "last", (5, 16, 3, 3), 5, relu=False)


def smooth(shape, seed=9):
    """Neighbours are alike, and all of a sample, as in pictures."""
    random = np.random.default_rng(seed)
    values = random.normal(size=(SAMPLES, *shape))
    for axis in range(2 if shape[0] == 1 else 1, values.ndim):
        values = np.cumsum(values, axis=axis) / 2
    values += 3 * random.normal(size=(SAMPLES, *[1] * len(shape)))
    return (values / values.std()).astype(np.float32)


# ---- Running parts of models


def outputs(given, names, samples):
    """Values of the model, [sample][name], computed as they are written."""
    model = onnx.ModelProto()
    model.CopyFrom(given)
    known = {port.name for port in model.graph.output}
    for name in dict.fromkeys(names):
        if name not in known:
            model.graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.add_session_config_entry("session.disable_quant_qdq", "1")
    options.intra_op_num_threads = 1
    options.register_custom_ops_library(str(BUILD / "libbaryon_ops.so"))
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    return [dict(zip(names, session.run(names, {"image": one}))) for one in samples]


class Layer:
    """A node with its weights as [group][out][column]."""

    def __init__(self, node, weights):
        self.node, self.shape = node, weights.shape
        self.attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        self.groups = self.attributes.get("group", 1)
        self.kind = node.op_type
        self.weights = self.ordered(weights)
        self.columns = self.weights.shape[2]
        self.picker = functools.cache(self.picker)

    def ordered(self, values):
        if self.kind == "Conv":
            return values.reshape(self.groups, self.shape[0] // self.groups, -1)
        if self.kind == "ConvTranspose":
            whole = values.reshape(self.groups, self.shape[0] // self.groups, self.shape[1], -1)
            return whole.transpose(0, 2, 1, 3).reshape(self.groups, self.shape[1], -1)
        return (values if self.attributes.get("transB") else values.T)[None]

    def picking(self):
        """Weights with which output g * columns + i is column i of group g."""
        one = np.eye(self.columns, dtype=np.float32)
        if self.kind == "Conv":
            return np.tile(one, (self.groups, 1)).reshape(-1, *self.shape[1:])
        kernel = self.shape[2:]
        one = one.reshape(self.shape[0] // self.groups, *kernel, self.columns)
        return np.tile(np.moveaxis(one, -1, 1), (self.groups, *[1] * (len(kernel) + 1)))

    def rows(self, values):
        """[group][row][column] of what the node reads."""
        if self.kind in ("Gemm", "MatMul"):
            return values.reshape(1, -1, self.columns).astype("f8")
        found = self.picker(values.shape).run(None, {"x": values})[0]
        return np.moveaxis(found, 1, -1).reshape(-1, self.groups, self.columns).swapaxes(0, 1).astype("f8")

    def picker(self, shape):
        node = onnx.NodeProto()
        node.CopyFrom(self.node)
        node.input[:], node.output[:] = ["x", "w"], ["y"]
        info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("x", "y")]
        info[0].CopyFrom(helper.make_tensor_value_info("x", TensorProto.FLOAT, shape))
        graph = helper.make_graph([node], "g", info[:1], info[1:], [numpy_helper.from_array(self.picking(), "w")])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        return onnxruntime.InferenceSession(model.SerializeToString(), options)

    def wanted(self, values):
        """[group][row][out] of what the node ought to give."""
        if self.kind in ("Gemm", "MatMul"):
            return values.reshape(1, -1, values.shape[-1]).astype("f8")
        outs = self.weights.shape[1]
        return np.moveaxis(values, 1, -1).reshape(-1, self.groups, outs).swapaxes(0, 1).astype("f8")


# ---- What is written


class Written:
    """Constants of a model, and the integers behind what a node reads."""

    def __init__(self, path):
        self.model = onnx.load(path)
        self.graph = self.model.graph
        self.constants = {one.name: one for one in self.graph.initializer}
        self.makers = {name: node for node in self.graph.node for name in node.output}
        self.nodes = {node.name: node for node in self.graph.node}

    def array(self, name):
        return numpy_helper.to_array(self.constants[name])

    def integers(self, name, axis):
        """Integers, scales and zeros of a dequantized constant, each as large as the integers; its type."""
        node = self.makers[name]
        integers = self.array(node.input[0])
        at = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        scale = self.array(node.input[1])
        zero = self.array(node.input[2]).astype("f8") if len(node.input) > 2 and node.input[2] else np.zeros(scale.shape)
        spread = []
        for values in (scale, zero):
            axis = at.get("axis", 1)
            if at.get("block_size"):
                values = np.repeat(values, at["block_size"], axis).take(range(integers.shape[axis]), axis)
            elif values.size > 1:
                values = values.reshape([-1 if i == axis else 1 for i in range(integers.ndim)])
            spread.append(np.broadcast_to(values.reshape(()) if values.size == 1 else values, integers.shape))
        kind = self.constants[node.input[0]].data_type
        return integers.astype("f8"), *spread, kind

    def bias(self, node):
        """Values, the step of a level, and whether that is its own, as no int32's is; None: no bias."""
        if len(node.input) < 3 or not node.input[2]:
            return None
        if node.input[2] in self.constants:
            return self.array(node.input[2]).astype("f8"), 0.0, False
        integers, scale, zero, kind = self.integers(node.input[2], 0)
        return (integers - zero) * scale, scale, kind != TensorProto.INT32


# Signed weights are symmetric here and lose their lowest level, which a smaller scale would reach.
LEVELS = {TensorProto.INT8: (-127, 127), TensorProto.UINT8: (0, 255), TensorProto.INT4: (-7, 7),
          TensorProto.UINT4: (0, 15), TensorProto.INT16: (-32768, 32767)}


class Case:
    """One model quantized in one way, with and without solving."""

    written = Written

    def __init__(self, score, what, folder, options):
        self.score, self.what, self.folder = score, what, folder
        self.model = f"{folder}/model.onnx"
        plain = [one for one in options if not one.startswith("--rounding")]
        self.relaxed, self.free, self.fixed, self.on_float = (one in options for one in (
            RELAXED, "--rounding-free", "--rounding-biases=false", "--rounding-inputs=float"))
        still = ["--cle", "off", "--smooth", "off", "--wide-auto=false", "--weight-method-auto=false"]
        how = [] if self.relaxed else ["--rounding=descent"]
        self.failed = not (self.quantize("solved", [*options, *still, *how, "--report", f"{folder}/r.json"])
                           and self.quantize("nearest", [*plain, *still, "--bias-correction", "false"]))
        if self.failed:
            return
        self.told = json.loads(pathlib.Path(f"{folder}/r.json").read_text()).get("rounding")
        self.solved, self.nearest = (self.written(f"{folder}/{name}.onnx") for name in ("solved", "nearest"))
        self.float = Written(self.model)
        self.samples = [np.load(path) for path in sorted(pathlib.Path(folder, "data").iterdir())]

    def quantize(self, name, options):
        done = subprocess.run(
            [BUILD / "baryon", "quantize", "--no-judge", self.model, "--data", f"{self.folder}/data", "-q", "-f", "-o",
             f"{self.folder}/{name}.onnx", *options], capture_output=True, text=True)  # fmt: skip
        return self.score.check(done.returncode == 0, f"{self.what}: {done.stderr}")

    def check(self, good, what):
        return self.score.check(bool(good), f"{self.what}: {what}")

    def look(self, expected, exact=True, hides=None, scales=False):
        """All solved layers; exact: all rows are looked at; hides: what is seen of some of them;
        scales: they may be others."""
        self.hides, self.hidden_gain, self.scales, self.scaled, self.far = hides or {}, [], scales, [], 0
        if self.failed or not self.check(self.told, "nothing is told of rounding"):
            return
        names = [one["name"] for one in self.told["layers"]]
        self.check(names == expected, f"layers are {names}, not {expected}")
        self.check(self.told["samples"] == 18 and self.told["samples_aside"] == 6, "three quarters of the samples")
        if self.told["kept"]:
            self.whole("solved_db", self.solved, 0.5)
        self.whole("nearest_db", self.nearest, 0.05)
        if not self.scales:
            self.untouched(names)
        train = self.told["samples"]
        wants = [self.float.nodes[name].output[0] for name in names]
        y = outputs(self.float.model, wants, self.samples)
        for told, want in zip(self.told["layers"], wants):
            x = self.read(self.solved, told["name"])
            lessons = self.read(self.float, told["name"]) if self.on_float else x
            self.layer(self, told).look(lessons[:train] + x[train:], [a[want] for a in y], exact)
        if self.hides:
            self.check(np.mean(self.hidden_gain) > 0, f"behind activations: {self.hidden_gain} dB less error")
        if self.told["kept"] and exact:
            self.whole("solved_db", self.solved, 0.05)

    def read(self, written, layer):
        """What a layer reads in a model, by sample."""
        name = written.nodes[layer].input[0]
        return [one[name] for one in outputs(written.model, [name], self.samples)]

    def untouched(self, names):
        """What no solved layer reads is as without solving."""
        ports = {port for name in names for port in self.solved.nodes[name].input[1:]}
        behind = {name for port in ports & self.solved.makers.keys() for name in self.solved.makers[port].input}
        for name in self.nearest.constants.keys() - ports - behind:
            self.check(name in self.solved.constants and
                       np.array_equal(self.solved.array(name), self.nearest.array(name)), f"{name} is another one")

    def whole(self, key, written, room):
        """What is told of the whole model."""
        train, name = self.told["samples"], self.float.graph.output[0].name
        wanted, found = (outputs(one.model, [name], self.samples[train:]) for one in (self.float, written))
        noise = sum(np.square(a[name].astype("f8") - b[name]).sum() for a, b in zip(wanted, found))
        level = 10 * np.log10(sum(np.square(a[name].astype("f8")).sum() for a in wanted) / noise)
        self.check(abs(level - self.told[key]) < room, f"{key}: {self.told[key]:.2f} is told, {level:.2f} is so")


class One:
    """A solved layer."""

    def __init__(self, case, told):
        self.case, self.told, self.name = case, told, told["name"]
        self.train = case.told["samples"]
        node, given = case.solved.nodes[self.name], case.float.nodes[self.name]
        self.layer = Layer(given, case.float.array(given.input[1]))
        integers, scale, zero, kind = case.solved.integers(node.input[1], 1)
        self.integers, self.scale, self.zero = map(self.layer.ordered, (integers, scale.astype("f8"), zero))
        self.low, self.high = LEVELS[kind]
        other = case.nearest.nodes[self.name]
        was, was_scale, _, _ = case.nearest.integers(other.input[1], 1)
        self.was, self.was_scale = self.layer.ordered(was), self.layer.ordered(was_scale.astype("f8"))
        self.bias = case.solved.bias(node)
        self.own = bool(self.bias) and self.bias[2]
        self.was_bias = case.nearest.bias(other)

    def check(self, good, what):
        return self.case.check(good, f"{self.name}: {what}")

    def look(self, x, y, exact):
        self.case.scaled += [self.name] if not np.array_equal(self.scale, self.was_scale) else []
        self.check(self.case.scales or not self.case.scaled, "other scales than those of nearest rounding")
        was_level, level = self.levels(self.was_scale), self.levels(self.scale)
        if not self.told["kept"]:
            self.check(np.array_equal(self.integers, self.was), "not kept, and yet not the nearest")
            return
        self.check(np.array_equal(self.was, np.rint(was_level)) or np.abs(self.was - was_level).max() < 0.5001,
                   "nearest")
        self.check((self.integers >= self.low).all() and (self.integers <= self.high).all(), "levels")
        if self.case.free:
            self.case.far += (np.abs(self.integers - level) > 1 + 1e-4).sum()
        else:
            self.check(np.abs(self.integers - level).max() < 1 + 1e-4, "integers that are not neighbours")
        pairs = [(self.layer.rows(a), self.layer.wanted(b)) for a, b in zip(x, y)]
        train, aside = pairs[:self.train], pairs[self.train:]
        together = [np.concatenate(part, 1) for part in zip(*train)]
        if self.name in self.case.hides:
            self.seen(*together, *self.case.hides[self.name])
        else:
            self.optimal(together, level, exact)
        self.judge(aside, exact)

    def levels(self, scale):
        """Of the float weights."""
        level = self.layer.weights.astype("f4") / scale.astype("f4") + self.zero
        return np.clip(level, self.low, self.high).astype("f8")

    def values(self, integers):
        return (integers - self.zero) * (self.was_scale if integers is self.was else self.scale)

    def judge(self, pairs, exact):
        """What is reported of held-out samples."""
        signal = sum(np.square(y).sum() for _, y in pairs)
        for key, integers, bias in (("solved_db", self.integers, self.bias), ("nearest_db", self.was, self.was_bias)):
            given = 0 if bias is None else bias[0].reshape(self.layer.groups, 1, -1)
            noise = sum(np.square(y - x @ self.values(integers).swapaxes(1, 2) - given).sum() for x, y in pairs)
            level = 10 * np.log10(signal / noise)
            self.check(abs(level - self.told[key]) < (0.05 if exact else 1),
                       f"{key}: {self.told[key]:.3f} is told, {level:.3f} is so")

    def seen(self, x, y, low, high):
        """Less is wrong behind the activation than with the nearest."""
        def error(integers, bias, cut):
            given = x @ self.values(integers).swapaxes(1, 2)
            given += 0 if bias is None else bias[0].reshape(self.layer.groups, 1, -1)
            return np.square(np.clip(given, *cut) - np.clip(y, *cut)).sum()

        was, now = (error(integers, bias, (low, high))
                    for integers, bias in ((self.was, self.was_bias), (self.integers, self.bias)))
        self.case.hidden_gain.append(10 * np.log10(was / now))
        self.check(was > now, f"behind the activation the error grew from {was} to {now}")

    def optimal(self, pair, level, exact):
        x, y = pair
        count, bias = x.shape[1], self.bias
        given = np.zeros(y.shape[::2]) if bias is None else bias[0].reshape(self.layer.groups, -1)
        mean_x, mean_y = x.mean(1), y.mean(1)
        aim = self.aim(mean_x, mean_y)
        left = aim - np.einsum("goc,gc->go", self.values(self.integers), mean_x)
        fixed = self.case.fixed and bias is not None
        if fixed:
            self.check(np.array_equal(bias[0], self.was_bias[0]), "the bias is another one")
            y = y - given[:, None]
        centred = bias is not None and not fixed
        shift = np.einsum("gc,gd->gcd", mean_x, mean_x) if centred else 0
        gram = x.swapaxes(1, 2) @ x / count - shift
        cross = y.swapaxes(1, 2) @ x / count - (np.einsum("go,gc->goc", mean_y, mean_x) if centred else 0)
        cross = (1 - MIX) * cross + MIX * self.layer.weights @ gram
        damping = DAMPING * np.trace(gram, axis1=1, axis2=2) / self.layer.columns
        gram += damping[:, None, None] * np.eye(self.layer.columns)
        cross += damping[:, None, None] * self.layer.weights
        if self.own and centred:
            gram += shift
            cross += np.einsum("go,gc->goc", aim - given, mean_x)
        self.compare(gram, cross, exact)
        if not exact:
            return
        if centred:
            self.mean(left, given)
        self.steps(gram, cross, level)

    def aim(self, mean_x, mean_y):
        """What the bias is to make up for."""
        return mean_y

    def mean(self, left, given):
        """The bias takes what is left, as far as its levels go."""
        step = np.broadcast_to(np.asarray(self.bias[1], "f8"), left.size).reshape(left.shape)
        room = (2 if self.own else 0.51) * step + 2e-3 * self.scale.max()
        self.check((np.abs(left - given) <= room).all(), f"biases are off by {np.abs((left - given) / room).max():.2f} "
                                                         "of what they may")

    def compare(self, gram, cross, exact):
        def error(integers):
            w = self.values(integers)
            return np.einsum("goc,gcd,god->go", w, gram, w) - 2 * np.einsum("goc,goc->go", w, cross)

        gain = error(self.was) - error(self.integers)
        self.check(gain.sum() > 0, f"the error grew by {-gain.sum()}")
        if exact and not self.own and not self.case.relaxed and self.name not in self.case.scaled:
            least = -1e-3 * np.abs(error(self.was))
            self.check((gain >= least).all(), f"outputs got worse: {gain.min()}")

    def unit(self, alone):
        """What gains are measured in: what each step would cost if there were no others."""
        return alone

    def pay(self, gram, cross, other, possible):
        residual = np.einsum("goc,gcd->god", self.values(self.integers), gram) - cross
        way = (other - self.integers) * self.scale
        diagonal = np.einsum("gcc->gc", gram)[:, None]
        change = 2 * way * residual + way * way * diagonal
        possible = possible & (diagonal > 0)
        weight = np.where(possible, change / np.where(possible, self.unit(way * way * diagonal), 1), 0)
        noise = 5 * NOISE if self.case.free else NOISE  # it ends after 12 sweeps, before all have settled
        self.check(weight.min() > -noise, f"{(weight < -noise).sum()} of {possible.sum()} steps would pay, "
                                          f"one {weight.min():.3f} of its weight")

    def steps(self, gram, cross, level):
        """No single step to the other neighbour pays."""
        other = np.where(self.integers > level, np.floor(level), np.ceil(level))
        between = np.abs(level - np.rint(level)) > 1e-3
        if self.case.free:
            for way in (-1, 1):
                other = np.clip(self.integers + way, self.low, self.high)
                self.pay(gram, cross, other, other != self.integers)
        elif not self.case.relaxed:
            self.pay(gram, cross, other, between)
        moved = np.mean(np.abs(self.integers - self.was) > 0)
        self.check(moved > 0.002, f"hardly any integer moved: {moved}")


Case.layer = One


# ---- Forms

XINT8 = ["--preset", "XINT8", "--simulate-dpu=false"]
A8W8 = ["--preset", "A8W8"]
CHANNEL = ["--weight-granularity", "channel"]
FORMS = {
    "pow2": XINT8,
    "float": A8W8,
    "exact": [*A8W8, "--bias", "float"],
    "channel": [*A8W8, *CHANNEL],
    "uint8": [*A8W8, "--weight", "uint8"],
    "uint8 channel": [*A8W8, "--weight", "uint8", *CHANNEL],
    "int4": [*A8W8, "--weight", "int4", *CHANNEL],
}
GROUPS = {
    "groups": [*A8W8, "--weight-granularity", "group", "--group-size", "16"],
    "uint4 groups": [*A8W8, "--weight", "uint4", "--weight-granularity", "group", "--group-size", "16"],
}
SOLVED = {
    windows: ["plain", "dilated", "same", "grouped", "deep", "no_bias", "last"],
    transposed: ["up", "grouped", "no_bias"],
    products: ["turned", "straight", "no_bias", "no_bias_turned"],
    other_ranks: ["line", "cube.conv"],
}


def look(score, make, form, options, expected, exact=True, case_of=Case, hides=(), scales=False):
    with tempfile.TemporaryDirectory() as folder:
        net = make()
        net.save(f"{folder}/model.onnx")
        pathlib.Path(folder, "data").mkdir()
        for i, sample in enumerate(smooth(net.shape)):
            np.save(f"{folder}/data/{i:02}.npy", sample)
        case = case_of(score, f"{make.__name__} {form}", folder, options)
        case.look(expected, exact, dict(hides), scales)
        return case


def main():
    score = Score()
    for (make, expected), (form, options) in some(itertools.product(SOLVED.items(), FORMS.items()), 3):
        look(score, make, form, options, expected)
    for form, options in GROUPS.items():
        look(score, products, form, options, SOLVED[products])
    for form, further in some((("float", []), ("channel", []), ("int4", []), ("float", ["--rounding-biases=false"]),
                               ("float", ["--rounding-scales"]))):
        look(score, wide, " ".join([form, *further]), [*FORMS[form], *further], ["spread", "no_bias", "back", "head"],
             exact=False, scales="--rounding-scales" in further)
    look(score, sampled, "float", A8W8, ["one", "two"], exact=False)
    look(score, simulated, "pow2", XINT8[:2], ["one", "two", "three"])
    scaled = [case.scaled for make in (windows, products) for form in some(("pow2", "float", "int4", "uint8 channel"))
              for case in [look(score, make, f"{form} scales", [*FORMS[form], "--rounding-scales"], SOLVED[make],
                                scales=True)]]
    look(score, square_windows, "int4 scales", [*FORMS["int4"], "--rounding-scales"], SOLVED[windows], scales=True)
    score.check(any(scaled), f"hardly a scale is another one: {scaled}")
    for form in some(("pow2", "float", "int4")):
        look(score, hidden, form, FORMS[form], ["relu", "six", "no_bias", "last"],
             hides={"relu": (0, np.inf), "six": (0, 0.5), "no_bias": (0, np.inf)})
    ways = ("--rounding-biases=false", "--rounding-inputs=float", "--rounding-starts=6")
    for make, form, way in some(itertools.product((windows, products), ("pow2", "float", "int4"), ways), 4):
        look(score, make, f"{form} {way}", [*FORMS[form], way], SOLVED[make])
    far = [look(score, make, f"{form} free", [*FORMS[form], "--rounding-free"], SOLVED[make]).far
           for make, form in itertools.product((windows, products), ("pow2", "float"))]
    score.check(sum(far) > 0, "free integers are all next to their weights")
    for (make, expected), form in some(itertools.product(SOLVED.items(), ("pow2", "float", "int4")), 5):
        look(score, make, f"{form} relaxed", [*FORMS[form], RELAXED, "--rounding-iterations=300"], expected)
    look(score, left_alone, "float", A8W8, ["solved"])
    return score.finish()


if __name__ == "__main__":
    raise SystemExit(main())
