"""A model in which nearly every option of Quark has something to change."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

rng = np.random.default_rng(7)


class Graph:
    """Nodes and constants as they are added; each node gives the name of its output."""

    def __init__(self):
        self.nodes, self.constants = [], []

    def constant(self, name, values, kind=np.float32):
        if all(known.name != name for known in self.constants):
            self.constants.append(numpy_helper.from_array(np.asarray(values, kind), name))
        return name

    def weights(self, name, *shape):
        return self.constant(name, rng.normal(size=shape) * (2 / max(1, np.prod(shape[1:]))) ** 0.5)

    def add(self, kind, name, *inputs, outputs=None, **attributes):
        outputs = outputs or [name]
        self.nodes.append(helper.make_node(kind, list(inputs), outputs, name, **attributes))
        return outputs[0] if len(outputs) == 1 else outputs

    def conv(self, name, source, inputs, outputs, size=3, weight=None):
        weight = weight or self.weights(f"{name}.weight", outputs, inputs, size, size)
        bias = self.constant(f"{name}.bias", rng.normal(size=outputs))
        return self.add("Conv", name, source, weight, bias, pads=[size // 2] * 4)


def front(g):
    """Convolutions with what folds into them, equalization across a Clip, and one without a bias."""
    ones = [g.constant(f"bn.{part}", rng.uniform(0.5, 1.5, 8)) for part in ("scale", "bias", "mean", "var")]
    x = g.add("BatchNormalization", "bn", g.conv("first", "image", 3, 8), *ones)
    x = g.add("Clip", "six", x, g.constant("zero", 0), g.constant("sixth", 6))
    x = g.add("Relu", "relu", g.conv("second", x, 8, 8))
    x = g.add("BatchNormalization", "alone", x, *ones)
    x = g.add("LeakyRelu", "leaky", g.conv("third", x, 8, 8), alpha=0.1)
    x = g.add("PRelu", "prelu", g.conv("fourth", x, 8, 8), g.constant("slope", np.full((8, 1, 1), 0.25)))
    x = g.add("Clip", "positive", g.conv("fifth", x, 8, 8), g.constant("zero", 0), g.constant("bound", 1e30))
    return g.add("HardSigmoid", "hard", g.conv("sixth_", x, 8, 8, weight="fifth.weight"), alpha=1 / 6)


def middle(g, x):
    """Activations of other ranges that meet, pools, pads and slices."""
    swish = g.add("Mul", "swish", x, g.add("Sigmoid", "gate", x))
    scaled = g.add("Mul", "scaled", swish, g.constant("factor", np.full((1, 8, 1, 1), 40)))
    moved = g.add("Add", "moved", scaled, g.constant("offset", np.full((1, 8, 1, 1), -3)))
    x = g.add("Concat", "joined", g.add("AveragePool", "average", moved, kernel_shape=[3, 3], pads=[1] * 4), x, axis=1)
    x = g.add("Add", "sum", x, g.add("MaxPool", "most", x, kernel_shape=[3, 3], pads=[1] * 4))
    x = g.add("Pad", "padded", x, g.constant("pads", [0, 0, 1, 1, 0, 0, 1, 1], np.int64), g.constant("far", -100))
    one, two = g.add("Split", "halves", x, g.constant("sizes", [8, 8], np.int64), outputs=["left", "right"], axis=1)
    starts, ends, axes = (g.constant(name, [at], np.int64) for name, at in (("starts", 1), ("ends", 17), ("axis", 2)))
    return g.add("Slice", "cut", g.add("Sub", "apart", one, two), starts, ends, axes)


def norms(g, x):
    """Norms and GELU written out."""
    e = g.constant("epsilon", 1e-5)
    mean = g.add("ReduceMean", "in.mean", x, axes=[2, 3], keepdims=1)
    centred = g.add("Sub", "in.centred", x, mean)
    square = g.add("Mul", "in.square", centred, centred)
    spread = g.add("Sqrt", "in.sqrt", g.add("Add", "in.add", g.add("ReduceMean", "in.var", square, axes=[2, 3], keepdims=1), e))
    x = g.add("Mul", "in.scale", g.add("Div", "in.div", centred, spread), g.constant("in.s", np.full((8, 1, 1), 1.5)))
    x = g.add("Add", "in.shift", x, g.constant("in.b", np.full((8, 1, 1), 0.5)))
    x = g.conv("after", x, 8, 8)
    erf = g.add("Erf", "gelu.erf", g.add("Div", "gelu.div", x, g.constant("root", 2**0.5)))
    x = g.add("Mul", "gelu.mul", x, g.add("Add", "gelu.add", erf, g.constant("one", 1)))
    x = g.add("Mul", "gelu", x, g.constant("half", 0.5))
    return g.add("InstanceNormalization", "instance", x, g.constant("i.s", np.ones(8)), g.constant("i.b", np.ones(8)))


def head(g, x, half):
    """Pools of all positions, products, a norm of vectors and one of layers."""
    wide = g.add("AveragePool", "wide", g.add("Resize", "large", x, "", g.constant("scales", [1, 1, 2, 2])), kernel_shape=[32, 36])
    pooled = g.add("ReduceMean", "pooled", x, axes=[2, 3], keepdims=1)
    x = g.add("Reshape", "flat", g.add("Add", "both", pooled, wide), g.constant("shape", [1, 1, 8], np.int64))
    x = g.add("MatMul", "product", x, g.weights("product.weight", 8, 16))
    x = g.add("Add", "product.bias", x, g.constant("product.b", rng.normal(size=16)))
    square = g.add("ReduceSum", "l2.sum", g.add("Mul", "l2.square", x, x), g.constant("last", [-1], np.int64), keepdims=1)
    x = g.add("Div", "l2", x, g.add("Sqrt", "l2.sqrt", square))
    centred = g.add("Sub", "ln.centred", x, g.add("ReduceMean", "ln.mean", x, axes=[-1], keepdims=1))
    power = g.add("Pow", "ln.power", centred, g.constant("two", 2))
    variance = g.add("Add", "ln.add", g.add("ReduceMean", "ln.var", power, axes=[-1], keepdims=1), "epsilon")
    x = g.add("Mul", "ln.scale", g.add("Div", "ln.div", centred, g.add("Sqrt", "ln.sqrt", variance)), g.constant("ln.s", np.ones(16)))
    x = g.add("Add", "ln", x, g.constant("ln.b", np.zeros(16)))
    turned = g.add("Transpose", "turned", x, perm=[0, 2, 1])
    x = g.add("MatMul", "outer", turned, x)
    if half:
        x = g.add("Cast", "narrow", x, to=TensorProto.FLOAT16)
        x = g.add("MatMul", "narrow.product", x, g.constant("narrow.weight", rng.normal(size=(16, 16)), np.float16))
        x = g.add("Cast", "again", x, to=TensorProto.FLOAT)
    x = g.add("Reshape", "row", x, g.constant("row.shape", [1, 256], np.int64))
    return g.add("Softmax", "scores", g.add("Gemm", "fc1", x, g.weights("fc.weight", 256, 5), g.constant("fc.bias", np.ones(5))))


def rich(half=False):
    """With `half` a part is in float16."""
    g = Graph()
    head(g, norms(g, middle(g, front(g))), half)
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, 16, 16])
    listed = helper.make_tensor_value_info("first.bias", TensorProto.FLOAT, [8])
    scores = helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, 5])
    graph = helper.make_graph(g.nodes, "rich", [image, listed], [scores], g.constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
