"""Passes that replace operators: each on models of all ranks, shapes, groups and opsets that it takes, and on models
that look alike and have to stay. The outputs are those of the model before."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from pass_check import Passes, build, node, port, random_inputs, session

rng = np.random.default_rng(11)
F16 = TensorProto.FLOAT16


def normal(*shape, kind=np.float32):
    return rng.normal(size=shape).astype(kind)


def positive(*shape):
    return (rng.random(shape) + 0.2).astype(np.float32)


def initializers(model):
    return {item.name: numpy_helper.to_array(item) for item in model.graph.initializer}


def names(model):
    return [item.name for item in model.graph.node]


def attributes(model, op):
    return [{a.name: helper.get_attribute_value(a) for a in item.attribute} for item in model.graph.node if item.op_type == op]


# ---- Split


def split_model(opset, sizes, axis, shape, how, outs="a b c", used="abc"):
    """how: "sizes", "equal" or "num" (num_outputs)."""
    inputs, kwargs, constants = "x", {} if axis is None else {"axis": axis}, {}
    if how == "sizes" and opset < 13:
        kwargs["split"] = sizes
    elif how == "sizes":
        inputs, constants = "x s", {"s": np.array(sizes)}
    elif how == "num":
        kwargs["num_outputs"] = len(outs.split())
    nodes = [node("Split", inputs, outs, **kwargs)] + [node("Neg", out, "n" + out) for out in used]
    return build(nodes, {"x": shape}, {"n" + out: None for out in used}, constants, opset=opset)


def split_to_slice(passes):
    for opset in (11, 12, 13, 17, 18, 21, 22):
        how = "num" if opset >= 18 else "equal"
        for rank in (1, 2, 3, 4, 5):
            for axis in {0, rank - 1, -1, -rank}:
                shape = [6] * rank
                passes.check(f"split sizes {opset} {rank} {axis}", split_model(opset, [1, 3, 2], axis, shape, "sizes"),
                             "split-to-slice", changes=1, ops={"Slice": 3, "Neg": 3},
                             origins={"a_0": ["a_node"], "b_1": ["a_node"]})  # fmt: skip
                passes.check(f"split equal {opset} {rank} {axis}", split_model(opset, None, axis, shape, how),
                             "split-to-slice", changes=1, ops={"Slice": 3, "Neg": 3})  # fmt: skip
        passes.check(f"split default axis {opset}", split_model(opset, [1, 3, 2], None, [6, 2], "sizes"),
                     "split-to-slice", changes=1, gone=["Split"])  # fmt: skip
        passes.check(f"split unread {opset}", split_model(opset, [1, 3, 2], 0, [6, 2], "sizes", used="ac"),
                     "split-to-slice", ops={"Slice": 2, "Neg": 2})  # fmt: skip
        passes.check(f"split unknown size {opset}", split_model(opset, [1, 3, 2], 1, ["N", "M", 4], "sizes"),
                     "split-to-slice", ops={"Slice": 3, "Neg": 3}, sizes={"M": 6})  # fmt: skip
        passes.check(f"split unknown equal {opset}", split_model(opset, None, 1, ["N", "M", 4], how),
                     "split-to-slice", changes=0, sizes={"M": 6})  # fmt: skip
    for whole in (7, 8, 10):
        passes.check(f"split uneven {whole}", split_model(18, None, 0, [whole, 2], "num"), "split-to-slice", gone=["Split"])
    passes.check("split empty part", split_model(13, [0, 4, 2], 0, [6], "sizes"), "split-to-slice", gone=["Split"])
    nodes = [node("Split", "x s", "a b", axis=0), node("Split", "x z", "c d", axis=0), node("Split", "x s", "e f", axis=0)]
    model = build(nodes, {"x": [6], "z": ([2], TensorProto.INT64)}, {n: None for n in "abcdef"}, {"s": np.array([2, 4])})
    result, changes, _ = passes.run(model, "split-to-slice")
    good = changes == 2 and sorted(names(result)) == ["a_0", "b_1", "c_node", "e_0", "f_1"]
    passes.note("split: others are tried when one has sizes that are not constant", None if good else names(result))
    model = split_model(13, [1, 3, 2], 0, [6], "sizes", outs="a _ c", used="ac")  # ONNX Runtime itself crashes on it
    result, changes, _ = passes.run(model, "split-to-slice")
    passes.note("split left out", None if names(result) == ["a_0", "na_node", "c_2", "nc_node"] else names(result))
    passes.check("split excluded", split_model(13, [1, 3, 2], 0, [6], "sizes"), "split-to-slice", options="exclude=a_node",
                 changes=0)  # fmt: skip
    nodes = [node("Split", "x s", "a b", axis=0), node("Add", "a b", "y")]
    model = build(nodes, {"x": ([6], TensorProto.INT64)}, {"y": (None, TensorProto.INT64), "b": (None, TensorProto.INT64)},
                  {"s": np.array([3, 3])})  # fmt: skip
    passes.check("split of integers, to an output", model, "split-to-slice", ops={"Slice": 2, "Add": 1})
    inner = [node("Split", "x s", "p q", axis=0), node("Add", "p q", "t")]
    then = helper.make_graph(inner, "t", [], [port("t", [3])])
    other = helper.make_graph([node("Slice", "x z h", "e")], "e", [], [port("e", [3])])
    model = build([node("If", "c", "y", then_branch=then, else_branch=other)], {"x": [6], "c": ([], TensorProto.BOOL)},
                  {"y": [3]}, {"s": np.array([3, 3]), "z": np.array([0]), "h": np.array([3])})  # fmt: skip
    passes.check("split nested", model, "split-to-slice", ops={"If": 1, "Slice": 3, "Add": 1}, changes=1)


# ---- Means and pools


def mean(axes, opset, keepdims=1, data="x", out="y", suffix="", **more):
    """A ReduceMean and its constants."""
    if opset < 18:
        return node("ReduceMean", data, out, axes=axes, keepdims=keepdims), {}
    return node("ReduceMean", f"{data} axes{suffix}", out, keepdims=keepdims, **more), {"axes" + suffix: np.array(axes, np.int64)}


def mean_to_pool(passes):
    for opset in (11, 13, 17, 18, 22):
        for rank, axes in ((3, [2]), (3, [-1]), (4, [2, 3]), (4, [-1, -2]), (4, [3, -2]), (5, [2, 3, 4])):
            made, constants = mean(axes, opset)
            model = build([made], {"x": [2, 3, 5, 7, 4][:rank]}, {"y": None}, constants, opset=opset)
            passes.check(f"mean {opset} {axes}", model, "reduce-mean-to-global-average-pool", changes=1,
                         ops={"GlobalAveragePool": 1}, origins={"y_node": ["y_node"]})  # fmt: skip
        for label, shape, axes, keep in (("dims go", [2, 3, 5, 7], [2, 3], 0), ("channels", [2, 3, 5, 7], [1, 2], 1),
                                         ("one axis", [2, 3, 5, 7], [3], 1), ("all", [2, 3, 5, 7], [0, 1, 2, 3], 1),
                                         ("rank 2", [2, 3], [1], 1)):  # fmt: skip
            made, constants = mean(axes, opset, keep)
            model = build([made], {"x": shape}, {"y": None}, constants, opset=opset)
            passes.check(f"mean stays: {label} {opset}", model, "reduce-mean-to-global-average-pool", changes=0)
    model = build([node("ReduceMean", "x", "y", axes=[2, 3])], {"x": ["N", "C", "H", "W"]}, {"y": None})
    passes.check("mean of unknown sizes", model, "reduce-mean-to-global-average-pool", changes=1)
    model = build([node("ReduceMean", "x", "y", keepdims=1)], {"x": [2, 3, 5, 7]}, {"y": None})
    passes.check("mean over everything", model, "reduce-mean-to-global-average-pool", changes=0)
    model = build([node("ReduceMean", "x", "y", noop_with_empty_axes=1)], {"x": [2, 3, 5, 7]}, {"y": None}, opset=18)
    passes.check("mean over nothing", model, "reduce-mean-to-global-average-pool", changes=0)
    model = build([node("ReduceMean", "x a", "y")], {"x": [2, 3, 5, 7], "a": ([2], TensorProto.INT64)}, {"y": None}, opset=18)
    result, changes, _ = passes.run(model, "reduce-mean-to-global-average-pool")
    passes.note("mean over axes that are not constant", None if changes == 0 else "changed")
    model = build([node("ReduceMean", "x", "y", axes=[2, 3])], {"x": ([2, 3, 5, 7], TensorProto.INT32)},
                  {"y": (None, TensorProto.INT32)})  # fmt: skip
    passes.check("mean of integers", model, "reduce-mean-to-global-average-pool", changes=0)


def split_large_pool(passes):
    for height, width, kernel in ((24, 24, [4, 4]), (32, 17, [4, 1]), (56, 56, [7, 7]), (30, 40, [5, 5]), (513, 1, [19, 1]),
                                  (160, 8, [10, 2])):  # fmt: skip
        model = build([node("GlobalAveragePool", "x", "y")], {"x": ["N", 2, height, width]}, {"y": None})
        passes.check(f"pool {height}x{width}", model, "split-large-pool", changes=1,
                     ops={"AveragePool": 1, "GlobalAveragePool": 1}, origins={"x_Split": ["y_node"]},
                     look=lambda m: None if attributes(m, "AveragePool") == [{"kernel_shape": kernel, "strides": kernel}]
                     else attributes(m, "AveragePool"))  # fmt: skip
    for shape in ([1, 2, 16, 32], [1, 2, 22, 23], [1, 2, 31, 37], [1, 2, 2000, 2003], [1, 2, "H", 600], [1, 2, 700],
                  [1, 2, 9, 9, 9]):  # fmt: skip
        model = build([node("GlobalAveragePool", "x", "y")], {"x": shape}, {"y": None})
        passes.check(f"pool stays {shape}", model, "split-large-pool", changes=0, sizes={"H": 3})


# ---- BatchNormalization


def norm_model(shape, channels, opset=17, ir=8, **kwargs):
    constants = {"s": normal(channels), "b": normal(channels), "m": normal(channels), "v": positive(channels) * 1e-3}
    return build([node("BatchNormalization", "x s b m v", "y", **kwargs)], {"x": shape}, {"y": None}, constants, opset=opset, ir=ir)


def batch_norm_to_conv(passes):
    for opset in (9, 11, 13, 14, 15, 17, 21, 22):
        for shape in ([2, 3, 5], [1, 4, 5, 7], [2, 1, 3, 3], [1, 2, 3, 4, 5], ["N", 3, "H", "W"]):
            for kwargs in ({}, {"epsilon": 0.01}, {"momentum": 0.5}):
                passes.check(f"batch norm {opset} {shape} {kwargs}", norm_model(shape, shape[1], opset, **kwargs),
                             "batch-norm-to-conv", ops={"Conv": 1}, changes=1, origins={"y_node": ["y_node"]})  # fmt: skip
    for shape in ([2, 3], [2, 3, 2, 2, 2, 2]):
        passes.check(f"batch norm stays {shape}", norm_model(shape, 3), "batch-norm-to-conv", changes=0)
    for shape, changes in (([2, 3, 5], 0), ([2, 3, 5, 7], 1), ([2, 3, 5, 7, 4], 0)):
        _, count, _ = passes.run(norm_model(shape, 3), "batch-norm-to-conv", "compat")
        passes.note(f"batch norm compat {shape}", None if count == changes else count)
        model = build([node("ReduceMean", "x", "y", axes=[2, 3, 4][: len(shape) - 2])], {"x": shape}, {"y": None})
        _, count, _ = passes.run(model, "reduce-mean-to-global-average-pool", "compat")
        passes.note(f"mean compat {shape}", None if count == changes else count)
    passes.check("batch norm with names", norm_model([1, 3, 2, 2], 3), "batch-norm-to-conv",
                 look=lambda m: None if sorted(initializers(m)) == ["ybias", "yweights"]
                 and attributes(m, "Conv")[0]["group"] == 3 else initializers(m))  # fmt: skip
    model = norm_model([1, 3, 2, 2], 3, epsilon=0.0)
    model.graph.initializer[3].CopyFrom(numpy_helper.from_array(np.zeros(3, np.float32), "v"))
    result, changes, _ = passes.run(model, "batch-norm-to-conv")
    passes.note("batch norm by nothing", None if changes == 0 else "changed")
    model = build([node("BatchNormalization", "x s b m v", "y")], {"x": [1, 3, 2, 2], "s": [3]}, {"y": None},
                  {"b": normal(3), "m": normal(3), "v": positive(3)})  # fmt: skip
    passes.check("batch norm of an input's scale", model, "batch-norm-to-conv", changes=0)
    model = build([node("BatchNormalization", "x s b m v", "y r1 r2", training_mode=1)], {"x": [4, 3, 2, 2]},
                  {"y": None, "r1": None}, {n: positive(3) for n in "sbmv"})  # fmt: skip
    passes.check("batch norm that trains", model, "batch-norm-to-conv", changes=0)
    model = norm_model([1, 3, 2, 2], 3)
    start = initializers(model)
    for label, options, epsilon in (("", "", 1e-5), (" compat", "compat", 1e-10)):
        result, _, _ = passes.run(model, "batch-norm-to-conv", options)
        wanted = start["s"].astype("f8") / np.sqrt(start["v"].astype("f8") + np.float32(epsilon))
        got = initializers(result)
        same = np.array_equal(got["yweights"].ravel(), wanted.astype("f4")) and np.array_equal(
            got["ybias"], (start["b"] - start["m"].astype("f8") * wanted).astype("f4"))  # fmt: skip
        passes.note("batch norm: doubles rounded once" + label, None if same else got)
    dead = norm_model([1, 5, 2, 2], 5)
    limit = np.float32(1e-5) * 2.0**-32
    variances = np.array([0.1, 1e-36, 0, limit, np.nextafter(np.float32(limit), np.float32(0))], np.float32)
    dead.graph.initializer[3].CopyFrom(numpy_helper.from_array(variances, "v"))
    shift = initializers(dead)["b"]
    for options, alive in (("", [True, False, False, True, False]), ("compat", [True] * 5)):
        got = initializers(passes.run(dead, "batch-norm-to-conv", options)[0])
        same = (got["yweights"].ravel() != 0).tolist() == alive and all(
            on or bias == want for on, bias, want in zip(alive, got["ybias"], shift, strict=True))  # fmt: skip
        passes.note(f"batch norm with dead channels {options}", None if same else got)
    nodes = [node("BatchNormalization", "x s b m v", "y"), node("BatchNormalization", "y s b m v", "z")]
    model = build(nodes, {"x": [1, 3, 2, 2]}, {"y": None, "z": None}, {n: positive(3) for n in "sbmv"})
    passes.check("batch norms that share", model, "batch-norm-to-conv", changes=2, ops={"Conv": 2})


# ---- Clip


def clip_model(opset, low, high, shape=(2, 3)):
    """low, high: a number, None, or "input"."""
    if opset < 11:
        kwargs = {key: value for key, value in (("min", low), ("max", high)) if value is not None}
        return build([node("Clip", "x", "y", **kwargs)], {"x": list(shape)}, {"y": None}, opset=opset)
    words = ["x", "l" if low is not None else "_", "h" if high is not None else "_"]
    while words[-1] == "_":
        words.pop()
    constants = {n: np.float32(v) for n, v in (("l", low), ("h", high)) if isinstance(v, (int, float))}
    inputs = {"x": list(shape)} | {n: [] for n, v in (("l", low), ("h", high)) if v == "input"}
    return build([node("Clip", " ".join(words), "y")], inputs, {"y": None}, constants, opset=opset)


def clips(passes):
    huge = float(np.finfo(np.float32).max)
    for opset in (7, 10, 11, 12, 13, 17, 22):
        for high in (None, huge) + ((float("inf"),) if opset > 10 else ()):
            passes.check(f"open clip {opset} {high}", clip_model(opset, 0.0, high), "open-clip-to-relu", ops={"Relu": 1})
        for low, high in ((0.0, 6.0), (None, None), (None, 6.0), (0.1, None), (-0.1, huge)):
            passes.check(f"clip stays {opset} {low} {high}", clip_model(opset, low, high), "open-clip-to-relu", changes=0)
        for low, high, compat, changes in ((0.0, 100.0, "", 1), (0.0, None, "", 1), (1.0, 100.0, "", 0), (None, 9.0, "", 0),
                                           (-1.0, 100.0, "", 0)):  # fmt: skip
            passes.check(f"clip to relu {opset} {low} {high}", clip_model(opset, low, high), "clip-to-relu", options=compat,
                         changes=changes)  # fmt: skip
    _, changes, _ = passes.run(clip_model(13, 1.0, 6.0), "ConvertClipToRelu", "compat")
    passes.note("clip to relu compat", None if changes == 1 else "not changed")
    for low, high in (("input", None), (0.0, "input")):
        passes.check(f"clip by inputs {low} {high}", clip_model(13, low, high), "open-clip-to-relu,clip-to-relu", changes=0)


# ---- Copies


def copies(passes):
    nodes = [node("Conv", "x w b", "c1", pads=[1, 1, 1, 1]), node("Conv", "c1 w b", "c2", pads=[1, 1, 1, 1]),
             node("Add", "c2 k", "a"), node("Mul", "a k", "m"), node("Conv", "m w b", "y", pads=[1, 1, 1, 1])]  # fmt: skip
    weights = {"w": normal(3, 3, 3, 3), "b": normal(3), "k": normal(1, 3, 1, 1)}
    model = build(nodes, {"x": [1, 3, 4, 4]}, {"y": None}, weights)

    def shares(model):
        readers = {}
        for item in model.graph.node:
            for name in set(item.input):
                readers.setdefault(name, set()).add(item.name)
        return sorted(name for name in initializers(model) if len(readers.get(name, ())) > 1)

    for passname, options, changes, left in (
        ("copy-shared-init", "", 5, []), ("CopySharedInit", "copy=Conv", 4, ["k"]), ("copy-shared-init", "copy=Mul", 0, ["b", "k", "w"]),
        ("copy-shared-init", "copy=Add,copy=Mul", 1, ["b", "w"]), ("copy-bias-init", "", 2, ["k", "w"]),
        ("copy-bias-init", "copy-bias=Gemm", 0, ["b", "k", "w"]), ("copy-shared-init", "exclude=y_node", 3, ["b", "w"]),
    ):  # fmt: skip
        passes.check(f"{passname} {options}", model, passname, options=options, changes=changes,
                     look=lambda m: None if shares(m) == left else shares(m))  # fmt: skip
    nodes = [node("Mul", "k k", "c"), node("Add", "x c", "a"), node("Mul", "a k", "y")]
    model = build(nodes, {"x": [3]}, {"y": None}, {"k": normal(3)})
    passes.check("copies: a node that reads it twice", model, "copy-shared-init", changes=1)
    then = helper.make_graph([node("Add", "x k", "t")], "t", [], [port("t", [3])])
    other = helper.make_graph([node("Mul", "x k", "e")], "e", [], [port("e", [3])])
    nodes = [node("If", "c", "i", then_branch=then, else_branch=other), node("Add", "i k", "y")]
    model = build(nodes, {"x": [3], "c": ([], TensorProto.BOOL)}, {"y": [3]}, {"k": normal(3)})
    passes.check("copies: nested graphs", model, "copy-shared-init", changes=2)


# ---- Shapes and layout


def fold_reshape(passes):
    """Reshape to a Concat of what `sizes` says; "d0", "d1", "e0", "e1": sizes of x [N, M, 6], "z0", "z1": of relu(x)."""

    def model(sizes, opset=17, **kwargs):
        nodes, constants = [node("Shape", "x", "s")], {"i0": np.array([0]), "i1": np.array([1]), "i01": np.array([0, 1])}
        constants |= {"f0": np.array([1]), "f1": np.array([2])}
        for d in ("0", "1", "01"):
            nodes.append(node("Gather", f"s i{d}", "d" + d))
            if d != "01":
                nodes.append(node("Slice", f"s i{d} f{d}", "e" + d))
        nodes += [node("Relu", "x", "z"), node("Shape", "z", "zs"), node("Gather", "zs i0", "z0"), node("Gather", "zs i1", "z1")]
        words = []
        for i, size in enumerate(sizes):
            if isinstance(size, str):
                words.append(size)
            else:
                constants[f"k{i}"] = np.array(size if isinstance(size, list) else [size])
                words.append(f"k{i}")
        nodes += [node("Concat", " ".join(words), "c", axis=0), node("Reshape", "x c", "y", **kwargs)]
        rank = sum(len(size) if isinstance(size, list) else 2 if size == "d01" else 1 for size in sizes)
        return build(nodes, {"x": ["N", "M", 6]}, {"y": [None] * rank}, constants, opset=opset)

    def shape(result):
        return initializers(result)[result.graph.node[-1].input[1]].tolist() if len(result.graph.node) == 1 else None

    for sizes, wanted in ((["d0", 5, 6], [0, 5, 6]), ([3, "d1", 6], [3, 0, 6]), ([0, "d1", 2, 3], [0, 0, 2, 3]), (["d1", 18], [-1, 18]),
                          (["d0", [5, 2, 3]], [0, 5, 2, 3]), (["d0", "d1", 6], [0, 0, 6]), (["d0", -1], [0, -1]), (["d0", [-1, 6]], [0, -1, 6]),
                          (["d0", "d1", 2, 3], [0, 0, 2, 3]), ([2, "d0", 15], [2, -1, 15]), (["e0", "e1", 6], [0, 0, 6]),
                          (["z0", 5, 6], [0, 5, 6]), (["z1", 18], [-1, 18])):  # fmt: skip
        for opset in (11, 13, 17, 22):
            passes.check(f"fold-reshape {sizes} {opset}", model(sizes, opset=opset), "fold-reshape,remove-dead", sizes={"N": 3, "M": 5},
                         look=lambda m: None if shape(m) == wanted else f"{shape(m)}")  # fmt: skip
    for sizes in ((["d01", 6]), (["d1", "d0", 6]), (["d1", -1])):
        _, changes, _ = passes.run(model(sizes), "fold-reshape")
        passes.note(f"fold-reshape: {sizes} stays", None if changes == 0 else changes)
    _, changes, _ = passes.run(model([0, "d1", 6], opset=17, allowzero=1), "fold-reshape")
    passes.note("fold-reshape: zeros that mean it stay", None if changes == 0 else changes)
    _, changes, _ = passes.run(model([3, "d1", 6]), "fold-reshape", "exclude=y_node")
    passes.note("fold-reshape: excluded", None if changes == 0 else changes)


def shapes_of(items):
    return {item.name: [d.dim_param or d.dim_value for d in item.type.tensor_type.shape.dim] for item in items}


def fix_shapes(passes):
    nodes = [node("Conv", "x w", "c", pads=[1, 1, 1, 1]), node("GlobalAveragePool", "c", "g"), node("Add", "g k", "y")]
    model = build(nodes, {"x": ["N", 3, "H", "W"], "k": ["N", 4, 1, 1]}, {"y": ["N", 4, 1, 1]}, {"w": normal(4, 3, 3, 3)},
                  infos=[port("c", ["N", 4, "H", "W"])])  # fmt: skip

    def look(result):
        ins, outs, infos = (shapes_of(part) for part in (result.graph.input, result.graph.output, result.graph.value_info))
        good = ins == {"x": [2, 3, 8, 6], "k": [2, 4, 1, 1]} and outs == {"y": [2, 4, 1, 1]} and infos == {"c": [2, 4, 8, 6]}
        return None if good else f"{ins} {outs} {infos}"

    def fixed(name, options, look=None, given=model):
        result, message, _ = passes.run(given, "FixShapes", "shapes=" + options)
        problem = message if result is None else look(result) if look else None
        if result is not None and not problem:
            opened = session(result)
            opened.run(None, random_inputs(opened, 0, {"N": 1}))
        passes.note(name, problem)

    fixed("fix-shapes", "x:[2|3|8|6]", look)
    fixed("fix-shapes of an output too", "x:[2|3|8|6]; y:[2|4|1|1]", look)
    fixed("fix-shapes changes numbers", "x:[1|3|5|5]", given=build(nodes[:2], {"x": [1, 3, 9, 9]}, {"g": None}, {"w": normal(4, 3, 3, 3)}))
    for label, options, text in (
        ("name", "xx:[1|3|8|8]", "no input or output 'xx'"), ("word", "x:[1|3|a|8]", "'a' is not a size"),
        ("rank", "x:[1|3|8]", "has 4 dimensions, 3 sizes are given"), ("form", "x=[1]", "is not a shape"),
        ("negative", "x:[-1|3|8|8]", "'-1' is not a size"), ("two sizes", "x:[2|3|8|8];k:[1|4|1|1]", "'N' is 2 and 1"),
        ("output", "x:[2|3|8|8];y:[2|5|1|1]", "is 4 by shape inference, not 5"),
    ):  # fmt: skip
        if label == "two sizes":
            model.graph.input[1].type.tensor_type.shape.dim[0].dim_param = "N"
        passes.refused("fix-shapes refuses: " + label, model, "fix-shapes", text, "shapes=" + options)


def nchw_to_nhwc(passes):
    nodes = [node("Conv", "x w", "c"), node("Relu", "x", "r"), node("Add", "c k", "y")]
    model = build(nodes, {"x": ["N", 3, 8, "W"], "k": [4]}, {"y": None, "r": None}, {"w": normal(4, 3, 1, 1)})

    def compare(name, model, options, turned):
        result, changes, _ = passes.run(model, "ConvertNCHWToNHWC", options)
        if result is None:
            return passes.note(name, changes)
        one, other = session(model), session(result)
        inputs = random_inputs(one, 1, {"W": 4})
        swapped = {key: value.transpose(0, 2, 3, 1) if key in turned else value for key, value in inputs.items()}
        same = all(np.array_equal(a, b) for a, b in zip(one.run(None, inputs), other.run(None, swapped)))
        passes.note(name, None if same and changes == len(turned) else f"{changes} changes")
        return result

    result = compare("nchw-to-nhwc", model, "", ["x"])
    ins = shapes_of(result.graph.input)
    passes.note("nchw-to-nhwc declares", None if ins == {"x": ["N", 8, "W", 3], "k": [4]} else ins)
    two = build([node("Relu", "x", "a"), node("Relu", "z", "b")], {"x": [1, 2, 3, 4], "z": [1, 2, 3, 4]}, {"a": None, "b": None})
    compare("nchw-to-nhwc of one", two, "nhwc=z", ["z"])
    compare("nchw-to-nhwc of all", two, "", ["x", "z"])
    passes.refused("nchw-to-nhwc without such an input", model, "nchw-to-nhwc", "no input 'q'", "nhwc=q")
    passes.refused("nchw-to-nhwc of four axes", model, "nchw-to-nhwc", "must be a float tensor of four axes", "nhwc=k")


if __name__ == "__main__":
    checks = Passes()
    for part in (split_to_slice, mean_to_pool, split_large_pool, batch_norm_to_conv, clips, copies, fold_reshape, fix_shapes, nchw_to_nhwc):
        part(checks)
    checks.end()
