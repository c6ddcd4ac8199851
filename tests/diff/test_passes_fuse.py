"""Passes that fuse what exporters write out: normalizations, lengths and Gelu, in all their forms; and what looks like
them and is not."""

import itertools
import math

import numpy as np
from onnx import TensorProto, helper

from pass_check import Passes, build, node, port

rng = np.random.default_rng(13)


def normal(*shape):
    return rng.normal(size=shape).astype(np.float32)


class Writer:
    """Nodes and constants of one model, put down as they come."""

    def __init__(self, opset):
        self.opset, self.nodes, self.constants, self.count = opset, [], {}, 0

    def constant(self, array):
        name = f"k{len(self.constants)}"
        self.constants[name] = np.asarray(array)
        return name

    def put(self, op, *inputs, out=None, **attributes):
        self.count += 1
        out = out or f"v{self.count}"
        self.nodes.append(node(op, " ".join(inputs), out, **attributes))
        return out

    def number(self, value):
        return self.constant(np.float32(value))

    def reduce(self, op, data, axes, keepdims=1):
        since = 13 if op == "ReduceSum" else 18
        if self.opset < since:
            return self.put(op, data, axes=axes, keepdims=keepdims)
        return self.put(op, data, self.constant(np.array(axes, np.int64)), keepdims=keepdims)

    def model(self, shape, out="y", inputs=None, **more):
        outputs = {name: None for name in out.split()}
        return build(self.nodes, {"x": shape} | (inputs or {}), outputs, self.constants, opset=self.opset, **more)


def swapped(one, other, swap):
    return (other, one) if swap else (one, other)


# ---- Normalizations


def norm(opset, shape, axes, form="div", square="pow", pool=False, scale=None, shift=None, swap=False, twice=False, eps=1e-5,
         out="y", x="x", keep=False):  # fmt: skip
    """form: "div", "mul" (Reciprocal), "div1" (1 / root) or "sum" (x k + (shift - mean k))."""
    w = Writer(opset)

    def mean(data):
        return w.put("GlobalAveragePool", data) if pool else w.reduce("ReduceMean", data, axes)

    average = mean(x)
    centred = w.put("Sub", x, average)
    again = w.put("Sub", x, mean(x)) if twice else centred
    squares = w.put("Pow", again, w.number(2)) if square == "pow" else w.put("Mul", again, again)
    root = w.put("Sqrt", w.put("Add", *swapped(mean(squares), w.number(eps), swap)))
    name = w.constant(scale) if scale is not None else None
    if form == "div":
        last = w.put("Div", centred, root)
    else:
        inverse = w.put("Reciprocal", root) if form != "div1" else w.put("Div", w.number(1), root)
        last = inverse
    if form in ("mul", "div1"):
        last = w.put("Mul", *swapped(centred, inverse, swap))
    if form == "sum":
        k = w.put("Mul", *swapped(inverse, name, swap)) if name else inverse
        one, other = w.put("Mul", *swapped(x, k, swap)), w.put("Mul", *swapped(average, k, swap))
        if shift is None:
            last = w.put("Sub", one, other)
        else:
            last = w.put("Add", *swapped(one, w.put("Sub", w.constant(shift), other), swap))
    else:
        last = w.put("Mul", *swapped(last, name, swap)) if name else last
        last = w.put("Add", *swapped(last, w.constant(shift), swap)) if shift is not None else last
    w.nodes[-1].output[0] = out
    w.keep = (average, centred, root)
    return w


def layer_norm(passes):
    name, count = "fuse-layer-norm", 0
    for form, square, swap, twice in itertools.product(("div", "mul", "div1", "sum"), ("pow", "mul"), (False, True), (False, True)):
        for scale, shift in ((None, None), ((6,), None), (None, (6,)), ((6,), (6,)), ((1, 1, 6), (1,)), ((), ())):
            if form == "sum" and (twice or (scale is None and shift is not None)):
                continue
            opset = (17, 18, 20, 21, 22)[count % 5]
            count += 1
            w = norm(opset, [2, 5, 6], [-1], form, square, False, None if scale is None else normal(*scale),
                     None if shift is None else normal(*shift), swap, twice)  # fmt: skip
            passes.check(f"layer norm {form} {square} {swap} {twice} {scale} {shift}", w.model([2, 5, 6]), name, changes=1,
                         ops={"LayerNormalization": 1})  # fmt: skip
    for shape, axes, size in (([3, 6], [1], (6,)), ([2, 3, 4, 6], [-1, -2], (4, 6)), ([2, 3, 4, 6], [1, 2, 3], (3, 4, 6)),
                              (["N", "S", 6], [-1], (6,)), ([7], [0], (7,)), ([2, 3, 4, 6], [2, 3], (1, 6))):  # fmt: skip
        for opset in (17, 18):
            w = norm(opset, shape, axes, scale=normal(*size), shift=normal(*size), eps=1e-3)
            passes.check(f"layer norm {shape} {axes}", w.model(shape), name, changes=1,
                         ops={"LayerNormalization": 1}, sizes={"N": 3, "S": 4})  # fmt: skip
    w = norm(17, [2, 6], [-1], scale=normal(6), shift=normal(6))
    passes.check("layer norm origins", w.model([2, 6]), name, origins={w.nodes[-1].name: [n.name for n in w.nodes]})
    passes.check("layer norm with names", w.model([2, 6]), name, look=lambda m: None if m.graph.node[0].output[0] == "y" else "y")

    def stays(label, w, shape=(2, 5, 6), gone=("LayerNormalization",), **more):
        out = more.pop("out", "y")
        passes.check("layer norm stays: " + label, w.model(list(shape), out), name, changes=0, gone=gone, **more)

    stays("opset 16", norm(16, None, [-1], scale=normal(6)))
    stays("not the last axes", norm(17, None, [1]))
    stays("axes with a gap", norm(17, None, [0, 2]))
    stays("no sizes", norm(17, None, [-1]), (2, "S", "D"), sizes={"S": 3, "D": 4})
    stays("excluded half", norm(17, None, [-1]), options="exclude=v2_node")
    for i, value in enumerate(norm(17, None, [-1]).keep):
        stays(f"something else reads {i}", norm(17, None, [-1]), out=f"y {value}")
    w = norm(17, None, [-1], square="mul")
    w.nodes[2].input[1] = "x"
    stays("(x - mean) x", w)
    w = norm(17, None, [-1])
    w.constants[w.nodes[2].input[1]] = np.float32(4)
    stays("fourth powers", w)
    w = norm(17, None, [-1])
    w.nodes[3].attribute[0].ints[0] = 1
    stays("two kinds of axes", w)
    w = norm(17, None, [-1])
    w.nodes[1].input[:] = reversed(w.nodes[1].input)
    stays("mean - x", w)
    w = Writer(17)
    w.put("Div", "x", w.put("Sqrt", w.put("Add", w.reduce("ReduceMean", w.put("Mul", "x", "x"), [-1]), w.number(1e-5))), out="y")
    stays("without a mean", w)
    w = norm(17, None, [-1])
    for item in w.nodes:
        if item.op_type == "ReduceMean":
            item.attribute[1].i = 0
    stays("dims go", w, (5, 5))
    for label, scale, shift in (("a row", normal(5, 1), None), ("a table", None, normal(5, 6)), ("more axes", None, normal(2, 5, 6))):
        w = norm(17, None, [-1], scale=scale, shift=shift)
        passes.check("layer norm and then " + label, w.model([2, 5, 6]), name, changes=1,
                     ops={"LayerNormalization": 1, ("Mul" if shift is None else "Add"): 1})  # fmt: skip
    w = norm(17, None, [-1], out="n")
    w.put("Add", "n", "x", out="y")
    passes.check("layer norm in a residual", w.model([2, 6]), name, changes=1, ops={"LayerNormalization": 1, "Add": 1})
    w = norm(17, None, [-1], scale=normal(6), shift=normal(6), x="z")
    branch = helper.make_graph(w.nodes, "t", [], [port("y", [2, 6])])
    other = helper.make_graph([node("Identity", "z", "e")], "e", [], [port("e", [2, 6])])
    model = build([node("Relu", "x", "z"), node("If", "c", "o", then_branch=branch, else_branch=other)],
                  {"x": [2, 6], "c": ([], TensorProto.BOOL)}, {"o": [2, 6]}, w.constants)  # fmt: skip
    passes.check("layer norm nested", model, name, changes=1, ops={"Relu": 1, "If": 1, "Identity": 1, "LayerNormalization": 1})


def instance_norm(passes):
    name, count = "fuse-instance-norm", 0
    for form, square, swap, pool in itertools.product(("div", "mul", "sum"), ("pow", "mul"), (False, True), (False, True)):
        for scale, shift in (((1, 3, 1, 1), (1, 3, 1, 1)), ((3, 1, 1), (3, 1, 1)), ((1, 3, 1, 1), None), ((), (1,)), (None, None)):
            opset = (11, 12, 13, 17, 18, 22)[count % 6]
            count += 1
            w = norm(opset, None, [2, 3], form, square, pool, None if scale is None else normal(*scale),
                     None if shift is None else normal(*shift), swap)  # fmt: skip
            passes.check(f"instance norm {form} {square} {swap} {pool} {scale} {shift}", w.model([2, 3, 4, 5]), name, changes=1,
                         ops={"InstanceNormalization": 1})  # fmt: skip
    for shape, axes, size in (([2, 3, 7], [2], (1, 3, 1)), ([2, 3, 2, 3, 4], [2, 3, 4], (3, 1, 1, 1)),
                              (["N", 3, "H", "W"], [-2, -1], (3, 1, 1))):  # fmt: skip
        for form in ("div", "sum"):
            w = norm(13, None, axes, form, scale=normal(*size), shift=normal(*size), eps=1e-3)
            passes.check(f"instance norm {shape} {form}", w.model(shape), name, changes=1, ops={"InstanceNormalization": 1},
                         sizes={"N": 2, "H": 3, "W": 4})  # fmt: skip
    for label, w, shape in (
        ("of a vector", norm(17, None, [2], scale=normal(6), shift=normal(6)), [2, 5, 6]),
        ("without scale, rank 3", norm(17, None, [-1]), [2, 5, 6]),
        ("a picture's layer norm", norm(17, None, [2, 3], scale=normal(4, 5), shift=normal(4, 5)), [2, 3, 4, 5]),
        ("unknown channels", norm(17, None, [2, 3], scale=normal(1, 1, 1), shift=normal(1)), [2, "C", 4, 5]),
        ("over the channels", norm(17, None, [1, 2, 3]), [2, 3, 4, 5]),
        ("over one axis", norm(17, None, [3], scale=normal(3, 1, 1)), [2, 3, 4, 5]),
    ):  # fmt: skip
        passes.check("instance norm stays: " + label, w.model(shape), name, changes=0, sizes={"C": 3})
    w = norm(17, None, [2, 3], scale=normal(3, 1, 1), out="n")
    w.put("Relu", "n", out="y")
    passes.check("instance norm before a Relu", w.model([1, 3, 4, 4]), name, changes=1, ops={"InstanceNormalization": 1, "Relu": 1})


# ---- Lengths


def length(opset, form, axis, least, squares="mul", swap=False, x="x", out="y", expand=False):
    w = Writer(opset)
    if form in ("l2", "clip"):
        size = w.reduce("ReduceL2", x, [axis])
        if form == "clip":
            size = w.put("Clip", size, w.number(least))
        elif least is not None:
            size = w.put("Max", *swapped(size, w.number(least), swap))
    else:
        if squares == "one":
            total = w.reduce("ReduceSumSquare", x, [axis])
        else:
            total = w.reduce("ReduceSum", w.put("Mul", x, x) if squares == "mul" else w.put("Pow", x, w.number(2)), [axis])
        size = w.put("Sqrt", w.put("Max", *swapped(total, w.number(least), swap)) if least is not None else total)
    if expand:
        size = w.put("Expand", size, w.put("Shape", x))
    if form == "mul":
        w.put("Mul", *swapped(x, w.put("Reciprocal", size), swap), out=out)
    else:
        w.put("Div", x, size, out=out)
    return w


def l2_norm(passes):
    name = "fuse-l2-norm"
    for shape in ([6], [2, 6], [2, 3, 4], [2, 3, 4, 5]):
        for axis in {0, len(shape) - 1, -1, -len(shape)}:
            for i, (form, squares, swap) in enumerate(
                [("mul", "mul", False), ("mul", "pow", True), ("mul", "one", False), ("root", "mul", True), ("l2", "", False),
                 ("l2", "", True), ("clip", "", False)]
            ):  # fmt: skip
                opset = (11, 12, 13, 17, 18, 21, 22)[(i + axis) % 7]
                w = length(opset, form, axis, 1e-12, squares, swap, expand=i == 6 or i == 3)
                passes.check(f"length {shape} {axis} {form} {squares} {swap} {opset}", w.model(shape), name, changes=1,
                             ops={"LpNormalization": 1})  # fmt: skip
    w = length(13, "mul", 1, 1e-12, x="u")
    w.nodes.insert(0, node("Unsqueeze", "x a", "u"))
    w.constants["a"] = np.array([2])
    passes.check("length behind Unsqueeze", w.model([2, 3]), name, changes=1, ops={"Unsqueeze": 1, "LpNormalization": 1})
    for label, w in (("no least", length(17, "l2", 1, None)), ("a large least", length(17, "clip", 1, 0.1)),
                     ("a large least, squared", length(17, "mul", 1, 1e-4)), ("a negative least", length(17, "clip", 1, -1.0))):  # fmt: skip
        passes.check("length stays: " + label, w.model([2, 3]), name, changes=0)
    result, changes, _ = passes.run(length(17, "l2", 1, None).model([2, 3]), name, "compat")
    passes.note("length compat", None if changes == 1 else "not changed")
    w = Writer(17)
    w.put("Div", "x", w.put("Max", w.reduce("ReduceL2", "x", [0, 1]), w.number(1e-12)), out="y")
    passes.check("length stays: two axes", w.model([2, 3]), name, changes=0)
    w = Writer(17)
    w.put("Div", "z", w.put("Max", w.reduce("ReduceL2", "x", [1]), w.number(1e-12)), out="y")
    passes.check("length stays: of another", w.model([2, 3], inputs={"z": [2, 3]}), name, changes=0)
    w = length(17, "clip", 1, 1e-12)
    w.nodes[1].input.append(w.number(2))
    passes.check("length stays: a greatest", w.model([2, 3]), name, changes=0)
    w = length(17, "l2", 1, 1e-12)
    passes.check("length stays: something else reads it", w.model([2, 3], "y v1"), name, changes=0)
    w = Writer(17)
    w.put("Div", "x", w.put("Max", w.put("ReduceL2", "x", axes=[1], keepdims=0), w.number(1e-12)), out="y")
    passes.check("length stays: dims go", w.model([3, 3]), name, changes=0)


# ---- Gelu


def gelu(opset, curve, products, argument, swap=False, plus=1.0, half=0.5, inner=None, out="y", x="x", cubic=0.044715):
    """products: in which order x, 1/2 and 1 + curve are multiplied."""
    w = Writer(opset)
    if curve == "Erf":
        inner = inner or math.sqrt(2)
        inside = w.put("Div", x, w.number(inner)) if argument == "div" else w.put("Mul", *swapped(x, w.number(1 / inner), swap))
    else:
        inner = inner or math.sqrt(2 / math.pi)
        c = w.number(cubic)
        if argument == "pow":
            inside = w.put("Add", *swapped(x, w.put("Mul", *swapped(w.put("Pow", x, w.number(3)), c, swap)), swap))
        elif argument == "mul":
            cube = w.put("Mul", *swapped(w.put("Mul", x, x), x, swap))
            inside = w.put("Add", *swapped(x, w.put("Mul", *swapped(cube, c, swap)), swap))
        elif argument == "left":
            term = c
            for _ in range(3):
                term = w.put("Mul", *swapped(term, x, swap))
            inside = w.put("Add", *swapped(x, term, swap))
        else:
            square = w.put("Pow", x, w.number(2)) if argument == "factored-pow" else w.put("Mul", x, x)
            inside = w.put("Mul", *swapped(x, w.put("Add", *swapped(w.put("Mul", *swapped(square, c, swap)), w.number(1), swap)), swap))
        inside = w.put("Mul", *swapped(inside, w.number(inner), swap))
    value = w.put("Add", *swapped(w.put(curve, inside), w.number(plus), swap))
    h = w.number(half)
    if products == "x half":
        w.put("Mul", *swapped(w.put("Mul", *swapped(x, value, swap)), h, swap), out=out)
    elif products == "half x":
        w.put("Mul", *swapped(x, w.put("Mul", *swapped(value, h, swap)), swap), out=out)
    elif products == "(half x)":
        w.put("Mul", *swapped(w.put("Mul", *swapped(x, h, swap)), value, swap), out=out)
    else:
        w.put("Mul", *swapped(w.put("Div", x, w.number(1 / half)), value, swap), out=out)
    return w


def gelus(passes):
    name = "fuse-gelu"
    orders = ("x half", "half x", "(half x)", "(x / 2)")
    forms = [("Erf", "div"), ("Erf", "mul")] + [("Tanh", a) for a in ("pow", "mul", "left", "factored", "factored-pow")]
    for (curve, argument), products, swap, opset in itertools.product(forms, orders, (False, True), (20, 21, 22)):
        kind = "tanh" if curve == "Tanh" else "none"

        def look(model):
            found = [helper.get_attribute_value(a).decode() for a in model.graph.node[0].attribute] or ["none"]
            return None if found == [kind] else found

        w = gelu(opset, curve, products, argument, swap)
        passes.check(f"gelu {curve} {argument} {products} {swap}", w.model([2, 3, 4]), name, changes=1, ops={"Gelu": 1}, look=look,
                     origins={w.nodes[-1].name: [n.name for n in w.nodes]})  # fmt: skip
        w = gelu(opset, curve, products, argument, swap, x="p", out="q")
        w.nodes.insert(0, node("Mul", "x x", "p"))
        w.nodes.append(node("Mul", "q half", "y"))
        w.constants["half"] = np.float32(0.5)
        passes.check(f"gelu between products {curve} {argument} {products} {swap}", w.model([2, 3]), name, changes=1,
                     ops={"Gelu": 1, "Mul": 2})  # fmt: skip

    def stays(label, w, shape=(2, 3), **more):
        passes.check("gelu stays: " + label, w.model(list(shape), more.pop("out", "y"), more.pop("inputs", None)), name, changes=0, **more)

    for curve, argument in (("Erf", "div"), ("Tanh", "pow")):
        for products in orders:
            stays(f"opset 19 {curve} {products}", gelu(19, curve, products, argument))
            stays(f"another half {curve} {products}", gelu(20, curve, products, argument, half=0.51))
            stays(f"minus {curve} {products}", gelu(20, curve, products, argument, plus=-1.0))
            stays(f"argument {curve} {products}", gelu(20, curve, products, argument, inner=1.5))
        w = gelu(20, curve, "x half", argument)
        stays(f"something else reads {curve}", w, out="y " + w.nodes[-3].output[0])
        stays(f"excluded half {curve}", w, options="exclude=" + w.nodes[-3].name)
    stays("another cubic", gelu(20, "Tanh", "x half", "pow", cubic=0.05))
    w = gelu(20, "Erf", "half x", "div")
    w.nodes[-1].input[0] = "z"
    stays("x and another", w, inputs={"z": [2, 3]})
    w = gelu(20, "Tanh", "half x", "pow")
    w.nodes[-1].input[0] = "z"
    stays("x and another, tanh", w, inputs={"z": [2, 3]})
    w = gelu(20, "Erf", "x half", "div")
    w.constants[w.nodes[-1].input[1]] = np.full((1, 1, 1), 0.5, np.float32)
    stays("a constant with more axes", w)
    w = gelu(20, "Erf", "x half", "div")
    w.constants[w.nodes[-1].input[1]] = np.full(3, 0.5, np.float32)
    stays("several constants", w)


if __name__ == "__main__":
    checks = Passes()
    for part in (layer_norm, instance_norm, l2_norm, gelus):
        part(checks)
    checks.end()
