"""Rotation leaves what a float transformer computes as it is, and lowers its peaks: ONNX Runtime runs both models.

Networks as torch, optimum and ONNX Runtime's own fusions write them, and graphs where a rotation would be wrong:
those are left alone, and the reason is told.
"""

import os
import pathlib
import subprocess
import tempfile

import numpy as np
import onnx
import onnxruntime
from dump import Score, tool
from onnx import TensorProto, helper, numpy_helper

onnxruntime.set_default_logger_severity(4)
TOKENS, HEADS = 6, 3
ALL = "heads,stream,products"


class Net:
    """Nodes and constants of a model; the stream has one channel that is far above the others."""

    def __init__(self, size, opset=17, seed=1):
        self.size, self.opset = size, opset
        self.rng = np.random.default_rng(seed)
        self.nodes, self.constants = [], {}

    def put(self, op, *inputs, outputs=1, **attributes):
        names = [f"{op}_{len(self.nodes)}"] + [f"{op}_{len(self.nodes)}_{i}" for i in range(1, outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, names[0], **attributes))
        return names[0] if outputs == 1 else names

    def draw(self, *dims, gain=1.0):
        return (gain * self.rng.normal(size=dims)).astype(np.float32)

    def const(self, value):
        name = f"c{len(self.constants)}"
        self.constants[name] = np.asarray(value)
        return name

    def linear(self, x, ins, outs, bias=True):
        y = self.put("MatMul", x, self.const(self.draw(ins, outs, gain=ins**-0.5)))
        return self.put("Add", self.const(self.draw(outs, gain=0.3)), y) if bias else y

    def weights(self, bias=True):
        scale = (1 + 0.5 * self.draw(self.size)).astype(np.float32)
        return [self.const(scale)] + ([self.const(self.draw(self.size, gain=0.2))] if bias else [])

    def massive(self):
        """Added to the stream: channel 5 is 60 times the rest."""
        value = self.draw(self.size, gain=0.5)
        value[5] = 30
        return self.const(value)

    def model(self, x, shape, y, kind=np.float32):
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
        outputs = y if isinstance(y, list) else [y]
        graph = helper.make_graph(
            self.nodes, "g", [helper.make_tensor_value_info(x, kind, shape)],
            [helper.make_tensor_value_info(name, kind, None) for name in outputs],
            [numpy_helper.from_array(value, name) for name, value in self.constants.items()])
        domains = [helper.make_opsetid("", self.opset), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=domains, ir_version=8)


# --- Parts ---


def norm_op(net, x):
    return net.put("LayerNormalization", x, *net.weights(), axis=-1)


def norm_written(net, x, weights=True):
    """As torch writes it before opset 17."""
    centred = net.put("Sub", x, net.put("ReduceMean", x, axes=[-1]))
    square = net.put("Pow", centred, net.const(np.float32(2)))
    root = net.put("Sqrt", net.put("Add", net.put("ReduceMean", square, axes=[-1]), net.const(np.float32(1e-5))))
    y = net.put("Div", centred, root)
    if not weights:
        return y
    scale, shift = net.weights()
    return net.put("Add", net.put("Mul", y, scale), shift)


def norm_rms(net, x):
    """Without a mean and a shift, as torch writes it for language models."""
    square = net.put("Pow", x, net.const(np.float32(2)))
    root = net.put("Sqrt", net.put("Add", net.put("ReduceMean", square, axes=[-1]), net.const(np.float32(1e-6))))
    return net.put("Mul", net.const((1 + 0.5 * net.draw(net.size)).astype(np.float32)), net.put("Div", x, root))


def heads_of(net, x, bias=True, joined=False):
    """Attention, and the layer that reads its heads."""
    head = net.size // HEADS
    shape = net.const(np.array([0, 0, HEADS, head]))
    if joined:
        parts = net.put("Split", net.linear(x, net.size, 3 * net.size), net.const(np.array(3 * [net.size])),
                        outputs=3, axis=-1)
    else:
        parts = [net.linear(x, net.size, net.size, bias and i != 1) for i in range(3)]
    turned = [net.put("Transpose", net.put("Reshape", part, shape), perm=[0, 2, 3, 1] if i == 1 else [0, 2, 1, 3])
              for i, part in enumerate(parts)]
    product = net.put("MatMul", net.put("Mul", turned[0], net.const(np.float32(head**-0.5))), turned[1])
    mixed = net.put("MatMul", net.put("Softmax", product, axis=-1), turned[2])
    back = net.put("Reshape", net.put("Transpose", mixed, perm=[0, 2, 1, 3]), net.const(np.array([0, 0, net.size])))
    return net.linear(back, net.size, net.size, bias)


def gelu(net, x):
    erf = net.put("Erf", net.put("Div", x, net.const(np.float32(2**0.5))))
    return net.put("Mul", net.put("Mul", x, net.put("Add", erf, net.const(np.float32(1)))), net.const(np.float32(0.5)))


def block(net, x, norm, bias=True, scaled=False, joined=False):
    """Norms in front of what is added (pre-norm)."""
    y = heads_of(net, norm(net, x), bias, joined)
    x = net.put("Add", x, net.put("Mul", y, net.const(net.draw(net.size))) if scaled else y)
    y = net.linear(gelu(net, net.linear(norm(net, x), net.size, 2 * net.size, bias)), 2 * net.size, net.size, bias)
    return net.put("Add", net.put("Mul", y, net.const(net.draw(net.size))) if scaled else y, x)


def stem(net):
    """Patches by a Conv, a token of its own in front of them, positions."""
    x = net.put("Conv", "x", net.const(net.draw(net.size, 3, 2, 2, gain=0.3)), net.const(net.draw(net.size)),
                strides=[2, 2])
    x = net.put("Transpose", net.put("Reshape", x, net.const(np.array([0, net.size, -1]))), perm=[0, 2, 1])
    x = net.put("Concat", net.const(net.draw(1, 1, net.size)), x, axis=1)
    x = net.put("Add", x, net.const(net.draw(1, 10, net.size)))
    return net.put("Add", x, net.massive())


PICTURE = [1, 3, 6, 6]


def vision(size, norm, opset=17, **how):
    net = Net(size, opset)
    x = stem(net)
    for _ in range(2):
        x = block(net, x, norm, **how)
    return net.model("x", PICTURE, net.linear(norm(net, x), size, 4))


def language(size):
    """A table of tokens, RMS norms, no biases."""
    net = Net(size)
    table = net.draw(50, size)
    table[:, 5] *= 40
    x = net.put("Gather", net.const(table), net.put("Cast", "x", to=TensorProto.INT64))
    for _ in range(2):
        x = block(net, x, norm_rms, bias=False)
    return net.model("x", [1, TOKENS], net.linear(norm_rms(net, x), size, 4, False))


def fused(size):
    """SkipLayerNormalization and Attention, as ONNX Runtime's optimizer writes them."""
    net = Net(size)
    x = net.put("Add", net.linear("x", 8, size), net.massive())
    y = net.put("LayerNormalization", x, *net.weights(), axis=-1)
    for _ in range(2):
        attended = net.put("Attention", y, net.const(net.draw(size, 3 * size, gain=size**-0.5)),
                           net.const(net.draw(3 * size)), domain="com.microsoft", num_heads=HEADS)
        out = net.put("MatMul", attended, net.const(net.draw(size, size, gain=size**-0.5)))
        y, _, _, x = net.put("SkipLayerNormalization", x, out, *net.weights(), net.const(net.draw(size)), outputs=4,
                             domain="com.microsoft")
        down = net.linear(net.put("Relu", net.linear(y, size, 2 * size)), 2 * size, size)
        y, _, _, x = net.put("SkipLayerNormalization", down, x, *net.weights(), outputs=4, domain="com.microsoft")
    for node in net.nodes:
        if node.op_type == "SkipLayerNormalization":
            node.output[1] = node.output[2] = ""
    return net.model("x", [1, TOKENS, 8], net.linear(y, size, 4))


def gelu_stem(size):
    """Nothing in front takes the rotation, and the stream itself is an output (Whisper's encoder)."""
    net = Net(size)
    x = net.put("Add", gelu(net, net.linear("x", 8, size)), net.massive())
    for _ in range(3):
        x = block(net, x, norm_op)
    return net.model("x", [1, TOKENS, 8], net.put("LayerNormalization", x, *net.weights(), axis=-1))


GOOD = {
    "torch, opset 17": (lambda: vision(24, norm_op), (2, 1, 5, 0)),
    "torch, opset 17, odd part 15": (lambda: vision(60, norm_op), (2, 1, 5, 0)),
    "torch, norms written out": (lambda: vision(48, norm_written, 14), (2, 1, 5, 0)),
    "Q, K and V joined": (lambda: vision(48, norm_op, joined=True), (2, 1, 5, 0)),
    "LayerScale": (lambda: vision(24, norm_op, scaled=True), (2, 1, 5, 0)),
    "no biases": (lambda: vision(24, norm_op, bias=False), (2, 1, 5, 0)),
    "language": (lambda: language(24), (2, 1, 5, 0)),
    "language, Hadamard of order 12": (lambda: language(36), (2, 1, 5, 0)),
    "fused": (lambda: fused(24), (2, 1, 5, 0)),
    "products at both ends": (lambda: gelu_stem(24), (3, 1, 6, 2)),
}


# --- Running ---


def rotate(model, words, folder):
    """The rotated model, the numbers of the report, and what is left alone."""
    onnx.save(model, folder / "in.onnx")
    done = subprocess.run([tool("rotate_run")], capture_output=True, check=True, text=True,
                          input=f"{folder / 'in.onnx'}\t{folder / 'out.onnx'}\t{words}\n")
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert lines[-1][0] == "OK", done.stdout
    return onnx.load(folder / "out.onnx"), tuple(map(int, lines[-1][1:5])), [line[1] for line in lines[:-1]]


def samples_for(model):
    info = model.graph.input[0].type.tensor_type
    dims = [d.dim_value for d in info.shape.dim]
    rng = np.random.default_rng(9)
    tokens = rng.integers(0, 50, dims) if len(dims) == 2 else rng.normal(size=dims)
    return tokens.astype(helper.tensor_dtype_to_np_dtype(info.elem_type))


def run(model, more=()):
    model = onnx.ModelProto.FromString(model.SerializeToString())
    for name in more:
        model.graph.output.append(helper.make_empty_tensor_value_info(name))
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    return session.run(None, {"x": samples_for(model)})


def error(wanted, got):
    wanted, got = (np.concatenate([np.ravel(v).astype(np.float64) for v in values]) for values in (wanted, got))
    return float(np.linalg.norm(got - wanted) / np.linalg.norm(wanted))


def crest(values):
    """The peak beside the root of the mean square."""
    return float(np.abs(values).max() / np.sqrt(np.mean(np.square(values))))


def last_sum(model):
    """What the last norm reads."""
    for node in reversed(model.graph.node):
        if node.op_type in ("LayerNormalization", "SkipLayerNormalization"):
            return node.output[3] if node.op_type.startswith("Skip") else node.input[0]
        if node.op_type in ("ReduceMean",):
            producer = {out: n for n in model.graph.node for out in n.output}.get(node.input[0])
            if producer.op_type == "Add":
                return node.input[0]
            return producer.input[0] if producer.op_type != "Pow" or producer.input[0].startswith("Add") \
                else {out: n for n in model.graph.node for out in n.output}[producer.input[0]].input[0]
    return None


class Checks(Score):
    def that(self, good, *words):
        return self.check(good, " ".join(map(str, words)))


def check_good(score, folder):
    for name, (make, wanted) in GOOD.items():
        model = make()
        stream = last_sum(model)
        before = run(model, [stream])
        for words, expected in ((ALL, wanted), ("heads", (wanted[0], 0, 0, 0)), ("stream,products", (0, *wanted[1:]))):
            turned, told, left = rotate(model, words, folder)
            score.that(told == expected, name, words, told, expected, left)
            after = run(turned, [] if wanted[3] else [stream])
            off = error(before[:-1], after if wanted[3] else after[:-1])
            score.that(off < 1e-5, name, words, "outputs differ by", off)
            same = [a.name for a, b in zip(model.graph.initializer, turned.graph.initializer) if a == b]
            score.that(len(same) < len(model.graph.initializer), name, words, "no constant changed")
            added = len(turned.graph.node) - len(model.graph.node)
            biases = sum(node.name.startswith("rotate_bias_add") for node in turned.graph.node)
            score.that(added == expected[3] + biases, name, words, "has", added, "more nodes")
            if expected[1] and not wanted[3]:
                score.that(crest(after[-1]) < crest(before[-1]) / 1.5, name, "crest", crest(before[-1]),
                            crest(after[-1]))
        turned, told, _ = rotate(model, "heads,stream", folder)
        score.that(told[1] == (0 if wanted[3] else 1), name, "without products", told)


# --- What is left alone ---


def shared():
    net = Net(24)
    x = stem(net)
    weight = net.const(net.draw(24, 24))
    for _ in range(2):
        x = net.put("Add", x, net.put("MatMul", norm_op(net, x), weight))
    return net.model("x", PICTURE, net.linear(norm_op(net, x), 24, 4))


def post_norm():
    """BERT: the residual reads what a norm gives."""
    net = Net(24)
    x = stem(net)
    for _ in range(2):
        x = norm_op(net, net.put("Add", x, heads_of(net, x)))
        x = norm_op(net, net.put("Add", x, net.linear(gelu(net, net.linear(x, 24, 48)), 48, 24)))
    return net.model("x", PICTURE, net.linear(x, 24, 4))


def no_weight():
    return vision(24, lambda net, x: norm_written(net, x, False), 14)


def half():
    model = vision(24, norm_op)
    for constant in model.graph.initializer:
        if constant.data_type == TensorProto.FLOAT:
            constant.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(constant).astype(np.float16), constant.name))
    for value in [*model.graph.input, *model.graph.output]:
        value.type.tensor_type.elem_type = TensorProto.FLOAT16
    return model


def crossing():
    """The stream is an output of the model."""
    net = Net(24)
    x = block(net, stem(net), norm_op)
    return net.model("x", PICTURE, [net.linear(norm_op(net, x), 24, 4), x])


def relu_heads():
    """Heads go through an operator that does not turn."""
    net = Net(24)
    x = net.put("Relu", heads_of(net, "x"))
    model = net.model("x", [1, TOKENS, 24], x)
    reshape = model.graph.node[-4]
    at = len(model.graph.node) - 4
    model.graph.node.insert(at, helper.make_node("Relu", [reshape.input[0]], ["clipped"], "clip"))
    model.graph.node[at + 1].input[0] = "clipped"
    return model


def one_infinite():
    """A constant that holds a mask's infinity joins the stream."""
    net = Net(24)
    value = net.draw(1, 10, 24)
    x = net.put("Add", stem(net), net.const(value))
    net.constants[net.nodes[-1].input[1]] = np.where(value > 3, np.float32(-np.inf), value)
    if not np.isinf(net.constants[net.nodes[-1].input[1]]).any():
        net.constants[net.nodes[-1].input[1]][0, 0, 0] = -np.inf
    x = net.put("Max", x, net.const(np.float32(-50)))
    for _ in range(2):
        x = block(net, x, norm_op)
    return net.model("x", PICTURE, net.linear(norm_op(net, x), 24, 4))


def masked():
    """Infinities of a mask are not in the way."""
    net = Net(24)
    x = block(net, stem(net), norm_op)
    for node in net.nodes:
        if node.op_type == "Softmax":
            mask = np.zeros((10, 10), np.float32)
            mask[:, 7:] = -np.inf
            net.nodes.insert(net.nodes.index(node), helper.make_node("Add", [node.input[0], net.const(mask)], ["masked"]))
            node.input[0] = "masked"
            break
    return net.model("x", PICTURE, net.linear(norm_op(net, x), 24, 4))


def dead():
    """Channels that a norm switches off, and weights of zeros."""
    model = vision(24, norm_op)
    for constant in model.graph.initializer:
        value = numpy_helper.to_array(constant).copy()
        if value.shape == (24,):
            value[3] = 0
            constant.CopyFrom(numpy_helper.from_array(value, constant.name))
    return model


def not_per_channel():
    """A number that all channels share is added: it stays, and a product stands behind it."""
    net = Net(24)
    x = net.put("Add", stem(net), net.const(np.float32(0.25)))
    for _ in range(2):
        x = block(net, x, norm_op)
    return net.model("x", PICTURE, net.linear(norm_op(net, x), 24, 4))


BAD = {
    "shared weights": (shared, (0, 0, 0, 0), "more products|norms that fold|meets no norm"),
    "post-norm": (post_norm, (2, 0, 0, 0), "post-norm"),
    "norm without weight": (no_weight, (2, 0, 0, 0), "meets no norm"),
    "float16": (half, (0, 0, 0, 0), "not float32|meets no norm"),
    "Relu between heads": (relu_heads, (0, 0, 0, 0), "does not turn with its input"),
}
FINE = {
    "a mask's infinities in attention": (masked, (1, 1, 3, 0)),
    "the stream is an output": (crossing, (1, 1, 3, 1)),
    "dead channels": (dead, (2, 1, 5, 0)),
    "a constant that is not per channel": (not_per_channel, (2, 1, 5, 1)),
    "infinities in the stream": (one_infinite, (2, 1, 5, 1)),
}


def check_bad(score, folder):
    for name, (make, wanted, reason) in BAD.items():
        model = make()
        turned, told, left = rotate(model, ALL, folder)
        score.that(told == wanted, name, told, wanted, left)
        score.that(any(part in line for line in left for part in reason.split("|")), name, "no reason", left)
        off = error(run(model), run(turned))
        score.that(off < 1e-5, name, "outputs differ by", off)
    for name, (make, wanted) in FINE.items():
        model = make()
        turned, told, left = rotate(model, ALL, folder)
        score.that(told == wanted, name, told, wanted, left)
        off = error(run(model), run(turned))
        score.that(off < 1e-5, name, "outputs differ by", off)


def main():
    score = Checks()
    with tempfile.TemporaryDirectory() as folder:
        check_good(score, pathlib.Path(folder))
        check_bad(score, pathlib.Path(folder))
    raise SystemExit(score.finish())


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
