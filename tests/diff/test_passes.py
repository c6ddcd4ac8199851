"""Passes: every model gives the same values before and after, and has the nodes it should have."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from pass_check import Passes, build, node, port

rng = np.random.default_rng(7)


def normal(*shape, kind=np.float32):
    return rng.normal(size=shape).astype(kind)


def clean_up(passes):
    model = build([node("Relu", "x", "r"), node("Add", "r w", "y")], {"x": [2, 3], "w": [3]}, {"y": [2, 3]},
                  {"w": normal(3)})  # fmt: skip
    result, changes, _ = passes.run(model, "remove-input-init")
    passes.note("remove-input-init", None if [i.name for i in result.graph.input] == ["x"] and changes == 1 else "w")

    def constant(out, **value):
        return node("Constant", "", out, **value)

    nodes = [constant("a", value_float=2.5), constant("b", value_ints=[1, -1]), constant("c", value_floats=[1.0, 2.0, 3.0]),
             constant("t", value=numpy_helper.from_array(normal(3))), constant("i", value_int=3),
             node("Mul", "x a", "m"), node("Add", "m c", "n"), node("Sub", "n t", "o"), node("Reshape", "o b", "y"),
             node("Cast", "i", "z", to=TensorProto.FLOAT)]  # fmt: skip
    passes.check("lift-constants", build(nodes, {"x": [2, 3]}, {"y": [1, 6], "z": []}), "lift-constants", changes=5,
                 gone=["Constant"])  # fmt: skip
    model = build([constant("y", value_float=2.5), node("Add", "x y", "z")], {"x": [2]}, {"y": [], "z": [2]})
    passes.check("lift-constants output", model, "lift-constants", ops={"Constant": 1, "Add": 1}, changes=0)
    model = build([node("Relu", "x", "y"), node("Abs", "x", "dead"), node("Neg", "dead", "dead2")], {"x": [2]}, {"y": [2]},
                  {"unused": normal(4)})  # fmt: skip
    passes.check("remove-dead", model, "remove-dead", ops={"Relu": 1}, changes=3, origins={"y_node": ["y_node"]})


def fold_shapes(passes):
    nodes = [node("Shape", "x", "s"), node("Gather", "s one", "c", axis=0), node("Unsqueeze", "c zero", "u"),
             node("Concat", "u minus", "to", axis=0), node("Reshape", "x to", "y")]  # fmt: skip
    constants = {"one": np.int64(1), "zero": np.array([0]), "minus": np.array([-1])}
    model = build(nodes, {"x": ["N", 3, 4]}, {"y": [3, None]}, constants)
    passes.check("fold-shapes through a symbol", model, "fold-shapes", ops={"Reshape": 1}, sizes={"N": 5},
                 origins={"y_node": ["y_node", "s_node", "c_node", "u_node", "to_node"]})  # fmt: skip
    passes.check("fold-shapes excluded", model, "fold-shapes", options="exclude=s_node", ops={"Reshape": 1},
                 origins={"y_node": ["y_node", "c_node", "u_node", "to_node"]})  # fmt: skip


def fold_constants(passes):
    nodes = [node("Transpose", "w", "t", perm=[1, 0]), node("Mul", "t k", "u"), node("MatMul", "x u", "y")]
    model = build(nodes, {"x": [2, 4]}, {"y": [2, 5]}, {"w": normal(5, 4), "k": np.float32(2)})
    passes.check("fold-constants", model, "fold-constants", ops={"MatMul": 1}, changes=1,
                 origins={"y_node": ["y_node", "t_node", "u_node"]},
                 look=lambda m: None if {i.name for i in m.graph.initializer} == {"u"} else "names")  # fmt: skip
    passes.check("fold-constants excluded", model, "fold-constants", ops={"MatMul": 1, "Transpose": 1, "Mul": 1},
                 options="exclude=t_node")  # fmt: skip
    passes.check("fold-constants excluded half", model, "fold-constants", ops={"MatMul": 1, "Mul": 1},
                 options="exclude=u_node")  # fmt: skip
    nodes = [node("ConstantOfShape", "s", "c"), node("Add", "x c", "y")]
    model = build(nodes, {"x": [1]}, {"y": [2000, 2000]}, {"s": np.array([2000, 2000])})
    passes.check("fold-constants does not blow up", model, "fold-constants", ops={"ConstantOfShape": 1, "Add": 1})
    model = build(nodes, {"x": [1]}, {"y": [2, 3]}, {"s": np.array([2, 3])})
    passes.check("fold-constants small", model, "fold-constants", ops={"Add": 1})
    nodes = [node("RandomNormalLike", "w", "r"), node("Mul", "r zero", "z"), node("Add", "x z", "y")]
    model = build(nodes, {"x": [3]}, {"y": [3]}, {"w": normal(3), "zero": np.zeros(3, np.float32)})
    passes.check("fold-constants leaves random", model, "fold-constants", changes=0)
    nodes = [node("QuantizeLinear", "w s z", "q"), node("DequantizeLinear", "q s z", "d"), node("Add", "x d", "y")]
    model = build(nodes, {"x": [3]}, {"y": [3]}, {"w": normal(3), "s": np.float32(0.1), "z": np.int8(0)})
    passes.check("fold-constants leaves Q and DQ", model, "fold-constants", changes=0)
    nodes = [node("Split", "w", "a b", axis=0), node("Neg", "a", "n"), node("Add", "x n", "p"), node("Add", "p b", "y"),
             node("Neg", "w", "z")]  # fmt: skip
    model = build(nodes, {"x": [2]}, {"y": [2], "z": [4]}, {"w": normal(4)}, opset=13)
    passes.check("fold-constants outputs stay", model, "fold-constants", ops={"Add": 2, "Neg": 1}, changes=2)
    inner = [node("Neg", "w", "n"), node("Add", "x n", "t")]
    then = helper.make_graph(inner, "t", [], [port("t", [4])])
    other = helper.make_graph([node("Identity", "x", "e")], "e", [], [port("e", [4])])
    nodes = [node("If", "c", "y", then_branch=then, else_branch=other)]
    model = build(nodes, {"x": [4], "c": ([], TensorProto.BOOL)}, {"y": [4]}, {"w": normal(4)})
    passes.check("fold-constants nested", model, "fold-constants", ops={"If": 1, "Add": 1, "Identity": 1}, changes=1)
    half = build([node("Neg", "w", "n"), node("Add", "x n", "y")], {"x": ([4], TensorProto.FLOAT16)},
                 {"y": ([4], TensorProto.FLOAT16)}, {"w": normal(4, kind=np.float16)})  # fmt: skip
    passes.check("fold-constants float16", half, "fold-constants", ops={"Add": 1})


def remove_noops(passes):
    def case(name, nodes, constants={}, ops={"Relu": 2}, shape=[2, 3, 4], out=None, opset=17, sizes={}, changes=None):
        nodes = [node("Relu", "x", "r"), *nodes, node("Relu", "z", "y")]
        model = build(nodes, {"x": shape}, {"y": out or shape}, constants, opset=opset)
        passes.check(f"remove-noops {name}", model, "remove-noops", ops=ops, sizes=sizes, changes=changes)

    dynamic = ["N", 3, "M"]
    case("Identity", [node("Identity", "r", "z")], changes=1)
    case("chain", [node("Identity", "r", "a"), node("Identity", "a", "b"), node("Cast", "b", "z", to=1)], changes=3)
    case("Dropout", [node("Dropout", "r", "z")])
    case("Dropout off", [node("Dropout", "r ratio off", "z")], {"ratio": np.float32(0.4), "off": np.bool_(False)})
    case("Dropout 10", [node("Dropout", "r", "z", ratio=0.3)], opset=10)
    case("Transpose", [node("Transpose", "r", "z", perm=[0, 1, 2])])
    case("Transpose that moves", [node("Transpose", "r", "z", perm=[0, 2, 1])], out=[2, 4, 3], ops={"Relu": 2, "Transpose": 1})
    case("Reshape", [node("Reshape", "r to", "z")], {"to": np.array([2, 3, -1])})
    case("Reshape by zeros", [node("Reshape", "r to", "z")], {"to": np.array([0, 3, -1])}, shape=dynamic)
    case("Reshape that moves", [node("Reshape", "r to", "z")], {"to": np.array([0, -1, 3])}, shape=dynamic, out=["N", "a", 3],
         ops={"Relu": 2, "Reshape": 1}, sizes={"N": 2, "M": 6})  # fmt: skip
    case("Flatten", [node("Flatten", "r", "z")], shape=["N", 5])
    case("Pad", [node("Pad", "r p", "z")], {"p": np.zeros(6, np.int64)}, shape=dynamic)
    case("Pad 2", [node("Pad", "r", "z", pads=[0] * 6)], opset=10)
    case("Pad that pads", [node("Pad", "r p", "z")], {"p": np.array([0, 0, 0, 0, 0, 1])}, out=[2, 3, 5], ops={"Relu": 2, "Pad": 1})
    case("Slice", [node("Slice", "r s e a", "z")], {"s": np.array([0]), "e": np.array([2**63 - 1]), "a": np.array([2])}, shape=dynamic)
    case("Slice static", [node("Slice", "r s e", "z")], {"s": np.array([0, 0]), "e": np.array([2, 5])})
    case("Slice that cuts", [node("Slice", "r s e", "z")], {"s": np.array([0, 0]), "e": np.array([2, 2])}, out=[2, 2, 4],
         ops={"Relu": 2, "Slice": 1})  # fmt: skip
    case("Slice backwards", [node("Slice", "r s e a t", "z")],
         {"s": np.array([-1]), "e": np.array([-(2**40)]), "a": np.array([0]), "t": np.array([-1])}, ops={"Relu": 2, "Slice": 1})  # fmt: skip
    case("Concat", [node("Concat", "r", "z", axis=1)])
    case("Expand", [node("Expand", "r to", "z")], {"to": np.array([3, 1])})
    case("Expand that does", [node("Expand", "r to", "z")], {"to": np.array([5, 1, 1, 1])}, out=[5, 2, 3, 4],
         ops={"Relu": 2, "Expand": 1})  # fmt: skip
    case("Tile", [node("Tile", "r t", "z")], {"t": np.ones(3, np.int64)}, shape=dynamic)
    case("Add 0", [node("Add", "k r", "z")], {"k": np.zeros((1, 3, 1), np.float32)}, shape=dynamic)
    case("Add 0 that broadcasts", [node("Add", "r k", "z")], {"k": np.zeros((2, 1, 1, 1), np.float32)}, out=[2, 2, 3, 4],
         ops={"Relu": 2, "Add": 1})  # fmt: skip
    case("Mul 1", [node("Mul", "r k", "z")], {"k": np.float32(1)})
    case("Div 1", [node("Div", "r k", "z")], {"k": np.float32(1)})
    case("Sub 0", [node("Sub", "r k", "z")], {"k": np.float32(0)})
    case("0 - x", [node("Sub", "k r", "z")], {"k": np.float32(0)}, ops={"Relu": 2, "Sub": 1})
    case("1 / x", [node("Div", "k r", "z")], {"k": np.float32(1)}, shape=[], ops={"Relu": 2, "Div": 1})
    # Where an interface needs the node it stays.
    model = build([node("Identity", "x", "y")], {"x": [2]}, {"y": [2]})
    passes.check("remove-noops input is output", model, "remove-noops", changes=0)
    model = build([node("Relu", "x", "y"), node("Identity", "y", "z")], {"x": [2]}, {"y": [2], "z": [2]})
    passes.check("remove-noops two outputs", model, "remove-noops", changes=0)
    model = build([node("Relu", "x", "r"), node("Identity", "r", "z"), node("Neg", "r", "n")], {"x": [2]}, {"z": [2], "n": [2]})
    passes.check("remove-noops takes the output's name", model, "remove-noops", ops={"Relu": 1, "Neg": 1},
                 origins={"r_node": ["r_node", "z_node"]})  # fmt: skip
    model = build([node("Relu", "x", "r"), node("Identity", "r", "z"), node("Neg", "z", "n")], {"x": [2]}, {"n": [2]})
    passes.check("remove-noops excluded", model, "remove-noops", changes=0, options="exclude=z_node")
    then = helper.make_graph([node("Identity", "r", "t")], "t", [], [port("t", [4])])
    other = helper.make_graph([node("Identity", "r", "f"), node("Neg", "f", "e")], "e", [], [port("e", [4])])
    nodes = [node("Identity", "x", "r"), node("If", "c", "y", then_branch=then, else_branch=other)]
    model = build(nodes, {"x": [4], "c": ([], TensorProto.BOOL)}, {"y": [4]})
    passes.check("remove-noops nested", model, "remove-noops", ops={"If": 1, "Identity": 1, "Neg": 1}, changes=2)


def norm_constants(channels, name="", kind=np.float32):
    return {f"{name}g": normal(channels, kind=kind), f"{name}b": normal(channels, kind=kind), f"{name}m": normal(channels, kind=kind),
            f"{name}v": (rng.random(channels) + 0.1).astype(kind)}  # fmt: skip


def fold_batch_norm(passes):
    def case(name, nodes, constants, shape, out, gone=("BatchNormalization",), ops=None, options="", what="fold-batch-norm", **more):
        model = build(nodes, {"x": shape}, {"y": out}, constants, opset=more.pop("opset", 17))
        passes.check(f"{what} {name}", model, what, gone=gone, ops=ops, options=options, **more)

    bn = node("BatchNormalization", "c g b m v", "y")
    eps = node("BatchNormalization", "c g b m v", "y", epsilon=0.3)
    for groups, bias in ((1, True), (1, False), (2, True), (6, False)):
        constants = {"w": normal(6, 6 // groups, 3, 3), **norm_constants(6)} | ({"k": normal(6)} if bias else {})
        conv = node("Conv", "x w k" if bias else "x w", "c", group=groups, pads=[1] * 4)
        case(f"Conv of {groups}, bias {bias}", [conv, eps], constants, [2, 6, 5, 5], [2, 6, 5, 5], ops={"Conv": 1}, changes=1,
             origins={"c_node": ["c_node", "y_node"]})  # fmt: skip
        constants = {"w": normal(6, 8 // min(groups, 2), 3, 3), **norm_constants(8)} | ({"k": normal(8)} if bias else {})
        conv = node("ConvTranspose", "x w k" if bias else "x w", "c", group=min(groups, 2), strides=[2, 2])
        case(f"ConvTranspose of {groups}, bias {bias}", [conv, bn], constants, [2, 6, 4, 4], [2, 8, 9, 9], ops={"ConvTranspose": 1})
    for rank in (1, 3):
        kernel = [3, 2, 3][:rank]
        case(f"Conv of rank {rank + 2}", [node("Conv", "x w", "c"), bn], {"w": normal(4, 3, *kernel), **norm_constants(4)},
             [1, 3, *[6] * rank], [1, 4, *[6 - k + 1 for k in kernel]])  # fmt: skip
        case(f"ConvTranspose of rank {rank + 2}", [node("ConvTranspose", "x w", "c"), bn], {"w": normal(3, 4, *kernel), **norm_constants(4)},
             [1, 3, *[6] * rank], [1, 4, *[6 + k - 1 for k in kernel]])  # fmt: skip
    row = {"w": normal(4, 5), **norm_constants(5)}
    case("Gemm", [node("Gemm", "x w", "c"), bn], row, ["N", 4], ["N", 5], ops={"Gemm": 1}, sizes={"N": 3})
    case("Gemm with all", [node("Gemm", "x w k", "c", alpha=0.5, beta=3.0), eps], {**row, "k": normal(1, 5)}, [3, 4], [3, 5])
    case("Gemm of one bias", [node("Gemm", "x w k", "c", beta=3.0), bn], {**row, "k": np.float32(2)}, [3, 4], [3, 5])
    case("Gemm transposed", [node("Gemm", "x w", "c", transB=1), bn], {**row, "w": normal(5, 4)}, [3, 4], [3, 5])
    case("Gemm of a full bias", [node("Gemm", "x w k", "c"), bn], {**row, "k": normal(3, 5)}, [3, 4], [3, 5], gone=(), changes=0)
    case("MatMul", [node("MatMul", "x w", "c"), bn], row, [3, 4], [3, 5], ops={"MatMul": 1, "Add": 1})
    case("MatMul and Add", [node("MatMul", "x w", "a"), node("Add", "k a", "c"), bn], {**row, "k": normal(5)}, [3, 4], [3, 5],
         ops={"MatMul": 1, "Add": 1})  # fmt: skip
    case("MatMul of rank 3", [node("MatMul", "x w", "c"), bn], {**row, **norm_constants(3)}, [2, 3, 4], [2, 3, 5], gone=(), changes=0)
    half = build([node("Conv", "x w", "c"), bn], {"x": ([1, 3, 4, 4], TensorProto.FLOAT16)}, {"y": ([1, 4, 2, 2], TensorProto.FLOAT16)},
                 {"w": normal(4, 3, 3, 3, kind=np.float16), **norm_constants(4, kind=np.float16)})  # fmt: skip
    passes.check("fold-batch-norm float16", half, "fold-batch-norm", ops={"Conv": 1}, close=4e-3)
    wide = build([node("Gemm", "x w", "c"), bn], {"x": ([3, 4], TensorProto.DOUBLE)}, {"y": ([3, 5], TensorProto.DOUBLE)},
                 {"w": normal(4, 5, kind=np.float64), **norm_constants(5, kind=np.float64)})  # fmt: skip
    passes.check("fold-batch-norm float64", wide, "fold-batch-norm", ops={"Gemm": 1}, close=1e-12)
    # Before a layer.
    first = node("BatchNormalization", "x g b m v", "c")
    case("before Conv", [first, node("Conv", "c w k", "y", group=2)], {"w": normal(4, 3, 3, 3), "k": normal(4), **norm_constants(6)},
         [1, 6, 5, 5], [1, 4, 3, 3], ops={"Conv": 1}, origins={"y_node": ["c_node", "y_node"]})  # fmt: skip
    case("before Conv with padding", [first, node("Conv", "c w", "y", pads=[1] * 4)], {"w": normal(4, 6, 3, 3), **norm_constants(6)},
         [1, 6, 5, 5], [1, 4, 5, 5], gone=(), changes=0)  # fmt: skip
    case("before Conv with auto_pad", [first, node("Conv", "c w", "y", auto_pad="SAME_UPPER")], {"w": normal(4, 6, 3, 3), **norm_constants(6)},
         [1, 6, 5, 5], [1, 4, 5, 5], gone=(), changes=0)  # fmt: skip
    case("before Conv, compat", [first, node("Conv", "c w", "y")], {"w": normal(4, 6, 3, 3), **norm_constants(6)},
         [1, 6, 5, 5], [1, 4, 3, 3], gone=(), changes=0, options="compat")  # fmt: skip
    case("before Gemm", [first, node("Gemm", "c w k", "y", alpha=2.0, beta=0.5)], {"w": normal(4, 5), "k": normal(5), **norm_constants(4)},
         [3, 4], [3, 5], ops={"Gemm": 1})  # fmt: skip
    case("before Gemm transposed", [first, node("Gemm", "c w", "y", transB=1)], {"w": normal(5, 4), **norm_constants(4)}, [3, 4], [3, 5],
         ops={"Gemm": 1})  # fmt: skip
    # Left alone: others read it, it is an output, its weights are shared (copied), the user wants it.
    constants = {"w": normal(6, 6, 1, 1), **norm_constants(6)}
    case("read twice", [node("Conv", "x w", "c"), node("BatchNormalization", "c g b m v", "d"), node("Add", "c d", "y")], constants,
         [1, 6, 2, 2], [1, 6, 2, 2], gone=(), changes=0)  # fmt: skip
    model = build([node("Conv", "x w", "c"), bn], {"x": [1, 6, 2, 2]}, {"c": [1, 6, 2, 2], "y": [1, 6, 2, 2]}, constants)
    passes.check("fold-batch-norm output", model, "fold-batch-norm", changes=0)
    shared = [node("Conv", "x w", "c"), node("BatchNormalization", "c g b m v", "d"), node("Conv", "d w", "y")]
    case("shared weights", shared, constants, [1, 6, 2, 2], [1, 6, 2, 2], ops={"Conv": 2})
    case("excluded", [node("Conv", "x w", "c"), bn], constants, [1, 6, 2, 2], [1, 6, 2, 2], gone=(), changes=0, options="exclude=c_node")
    case("excluded norm", [node("Conv", "x w", "c"), bn], constants, [1, 6, 2, 2], [1, 6, 2, 2], gone=(), changes=0, options="exclude=y_node")
    body = helper.make_graph([node("Conv", "x w", "c"), node("BatchNormalization", "c g b m v", "t")], "t", [], [port("t", [1, 6, 2, 2])])
    other = helper.make_graph([node("Identity", "x", "e")], "e", [], [port("e", [1, 6, 2, 2])])
    model = build([node("If", "i", "y", then_branch=body, else_branch=other)], {"x": [1, 6, 2, 2], "i": ([], TensorProto.BOOL)},
                  {"y": [1, 6, 2, 2]}, constants)  # fmt: skip
    passes.check("fold-batch-norm nested", model, "fold-batch-norm", ops={"If": 1, "Conv": 1, "Identity": 1})
    chain = [node("Conv", "x w", "c"), node("Mul", "c s", "d"), node("BatchNormalization", "d g b m v", "e"), node("Add", "e t", "f"),
             node("BatchNormalization", "f g b m v", "y")]  # fmt: skip
    case("in a chain", chain, {**constants, "s": normal(6, 1, 1), "t": normal(1, 6, 1, 1)}, [1, 6, 2, 2], [1, 6, 2, 2], ops={"Conv": 1},
         what="fold-batch-norm,fold-scale", origins={"c_node": ["c_node", "d_node", "e_node", "f_node", "y_node"]})  # fmt: skip
    # Behind a Concat.
    nodes = [node("Conv", "x w", "p"), node("ConvTranspose", "x u k", "q", group=2), node("Concat", "p q", "c", axis=1), bn]
    constants = {"w": normal(3, 4, 1, 1), "u": normal(4, 2, 1, 1), "k": normal(4), **norm_constants(7)}
    case("both", nodes, constants, [1, 4, 3, 3], [1, 7, 3, 3], ops={"Conv": 1, "ConvTranspose": 1, "Concat": 1}, what="fold-batch-norm-concat",
         origins={"c_node": ["c_node", "y_node"]})  # fmt: skip
    nodes[2] = node("Concat", "p q", "c", axis=-3)
    case("negative axis", nodes, constants, [1, 4, 3, 3], [1, 7, 3, 3], ops={"Conv": 1, "ConvTranspose": 1, "Concat": 1},
         what="fold-batch-norm-concat")  # fmt: skip
    nodes = [node("Conv", "x w", "p"), node("Concat", "p x", "c", axis=1), bn]
    case("not all layers", nodes, constants, [1, 4, 3, 3], [1, 7, 3, 3], gone=(), changes=0, what="fold-batch-norm-concat")
    nodes = [node("Gemm", "x w", "p"), node("Gemm", "x u k", "q", beta=2.0), node("Concat", "p q", "c", axis=1), bn]
    constants = {"w": normal(4, 3), "u": normal(4, 4), "k": normal(4), **norm_constants(7)}
    case("of Gemm", nodes, constants, [2, 4], [2, 7], ops={"Gemm": 2, "Concat": 1}, what="fold-batch-norm-concat")


def fold_scale(passes):
    def case(name, tail, constant, ops, layer="Conv", changes=None):
        weights = {"Conv": normal(4, 3, 3, 3), "ConvTranspose": normal(3, 4, 3, 3), "Gemm": normal(3, 4)}
        shape = [2, 3] if layer == "Gemm" else [2, 3, 5, 5]
        out = [2, 4] if layer == "Gemm" else [2, 4, 3, 3] if layer == "Conv" else [2, 4, 7, 7]
        model = build([node(layer, "x w k", "c"), *tail], {"x": shape}, {"y": out},
                      {"w": weights[layer], "k": normal(4), "s": np.asarray(constant, np.float32)})  # fmt: skip
        passes.check(f"fold-scale {layer} {name}", model, "fold-scale", ops=ops, changes=changes)

    for op in ("Add", "Sub", "Mul", "Div"):
        case(op, [node(op, "c s", "y")], normal(4, 1, 1) + 3, {"Conv": 1}, changes=1)
        case(f"{op} reversed", [node(op, "s c", "y")], normal(1, 4, 1, 1), {"Conv": 1, **({"Div": 1} if op == "Div" else {})})
        case(f"{op} of one", [node(op, "c s", "y")], 2.5, {"ConvTranspose": 1}, layer="ConvTranspose")
        case(f"{op} of a row", [node(op, "c s", "y")], normal(4) + 3, {"Gemm": 1}, layer="Gemm")
    case("Mul of the last axis", [node("Mul", "c s", "y")], normal(3), {"Conv": 1, "Mul": 1})
    case("Add of a picture", [node("Add", "c s", "y")], normal(1, 4, 3, 3), {"Conv": 1, "Add": 1})
    case("Add of a batch", [node("Add", "c s", "y")], normal(2, 4, 1, 1), {"Conv": 1, "Add": 1})
    case("Gemm column", [node("Add", "c s", "y")], normal(2, 1), {"Gemm": 1, "Add": 1}, layer="Gemm")
    case("two", [node("Mul", "c s", "d"), node("Sub", "s d", "y")], normal(4, 1, 1), {"Conv": 1}, changes=2)
    case("itself", [node("Mul", "c c", "y")], 1, {"Conv": 1, "Mul": 1})
    case("read twice", [node("Mul", "c s", "d"), node("Add", "c d", "y")], 3, {"Conv": 1, "Mul": 1, "Add": 1})


def fold_pad(passes):
    def case(name, pads, tail, ops, out, shape=[1, 3, 6, 6], value=None, constants={}, first=("Relu",), opset=17, **attrs):
        given = {"p": np.array(pads), "w": normal(4, 3, 3, 3), "v": np.float32(value or 0), **constants}
        nodes = [node(first[0], "x", "r"), node("Pad", "r p v" if value is not None else "r p", "q", **attrs), *tail]
        model = build(nodes, {"x": shape}, {"y": out}, given, opset=opset)
        passes.check(f"fold-pad {name}", model, "fold-pad", ops=ops)

    pads = [0, 0, 1, 2, 0, 0, 0, 1]
    conv = node("Conv", "q w", "y")
    case("Conv", pads, [conv], {"Relu": 1, "Conv": 1}, [1, 4, 5, 7])
    case("Conv with its own", pads, [node("Conv", "q w", "y", pads=[1, 0, 0, 2])], {"Relu": 1, "Conv": 1}, [1, 4, 6, 9])
    case("Conv of VALID", pads, [node("Conv", "q w", "y", auto_pad="VALID")], {"Relu": 1, "Conv": 1}, [1, 4, 5, 7])
    case("Conv of SAME", pads, [node("Conv", "q w", "y", auto_pad="SAME_UPPER")], {"Relu": 1, "Pad": 1, "Conv": 1}, [1, 4, 7, 9])
    case("ones", pads, [conv], {"Relu": 1, "Pad": 1, "Conv": 1}, [1, 4, 5, 7], value=1)
    case("zeros, said", pads, [conv], {"Relu": 1, "Conv": 1}, [1, 4, 5, 7], value=0)
    case("edges", pads, [conv], {"Relu": 1, "Pad": 1, "Conv": 1}, [1, 4, 5, 7], mode="edge")
    case("cutting", [0, 0, 0, 0, 0, 0, -1, 0], [conv], {"Relu": 1, "Pad": 1, "Conv": 1}, [1, 4, 3, 4])
    case("channels", [0, 1, 0, 0, 0, 1, 0, 0], [node("Conv", "q u", "y")], {"Relu": 1, "Pad": 1, "Conv": 1}, [1, 4, 4, 4],
         constants={"u": normal(4, 5, 3, 3)})  # fmt: skip
    pool = {"kernel_shape": [3, 3]}
    case("AveragePool", pads, [node("AveragePool", "q", "y", **pool)], {"Relu": 1, "AveragePool": 1}, [1, 3, 5, 7])
    case("AveragePool with its own", pads, [node("AveragePool", "q", "y", pads=[1, 0, 0, 0], count_include_pad=1, **pool)],
         {"Relu": 1, "AveragePool": 1}, [1, 3, 6, 7])  # fmt: skip
    case("AveragePool that does not count", pads, [node("AveragePool", "q", "y", pads=[1, 0, 0, 0], **pool)],
         {"Relu": 1, "Pad": 1, "AveragePool": 1}, [1, 3, 6, 7])  # fmt: skip
    case("AveragePool, wide", [0, 0, 3, 0, 0, 0, 0, 0], [node("AveragePool", "q", "y", **pool)], {"Relu": 1, "Pad": 1, "AveragePool": 1}, [1, 3, 7, 4])
    case("MaxPool of Relu", pads, [node("MaxPool", "q", "y", **pool)], {"Relu": 1, "MaxPool": 1}, [1, 3, 5, 7])
    case("MaxPool of any", pads, [node("MaxPool", "q", "y", **pool)], {"Neg": 1, "Pad": 1, "MaxPool": 1}, [1, 3, 5, 7], first=("Neg",))
    case("MaxPool of the lowest", pads, [node("MaxPool", "q", "y", **pool)], {"Neg": 1, "MaxPool": 1}, [1, 3, 5, 7], first=("Neg",),
         value=-np.inf)  # fmt: skip
    case("read twice", pads, [node("Conv", "q w", "c"), node("ReduceMax", "q", "m", keepdims=1), node("Add", "c m", "y")],
         {"Relu": 1, "Pad": 1, "Conv": 1, "ReduceMax": 1, "Add": 1}, [1, 4, 5, 7])  # fmt: skip
    model = build([node("Pad", "x", "q", pads=pads), node("Conv", "q w", "y")], {"x": [1, 3, 6, 6]}, {"y": [1, 4, 5, 7]},
                  {"w": normal(4, 3, 3, 3)}, opset=10)  # fmt: skip
    passes.check("fold-pad by attribute", model, "fold-pad", ops={"Conv": 1}, origins={"y_node": ["q_node", "y_node"]})


def merge(passes):
    def case(name, nodes, ops, constants={}, shape=[2, 3, 4], out=None, opset=17, what="merge-activations", **more):
        model = build(nodes, {"x": shape}, {"y": out or shape}, constants, opset=opset)
        passes.check(f"{what} {name}", model, what, ops=ops, **more)

    zero, six, minus = {"z": np.float32(0)}, {"s": np.float32(6)}, {"m": np.float32(-1)}
    case("Relu of Relu", [node("Relu", "x", "a"), node("Relu", "a", "y")], {"Relu": 1}, origins={"a_node": ["a_node", "y_node"]})
    case("Relu of Clip", [node("Clip", "x z s", "a"), node("Relu", "a", "y")], {"Clip": 1}, {**zero, **six})
    case("Clip of Relu", [node("Relu", "x", "a"), node("Clip", "a z s", "y")], {"Clip": 1}, {**zero, **six})
    case("Clip below of Relu", [node("Relu", "x", "a"), node("Clip", "a m s", "y")], {"Relu": 1, "Clip": 1}, {**minus, **six})
    case("Relu read twice", [node("Relu", "x", "a"), node("Clip", "a z s", "b"), node("Add", "a b", "y")], {"Relu": 1, "Clip": 1, "Add": 1},
         {**zero, **six})  # fmt: skip
    case("Relu twice, read twice", [node("Relu", "x", "a"), node("Relu", "a", "b"), node("Add", "a b", "y")], {"Relu": 1, "Add": 1})
    case("Clip 6", [node("Relu", "x", "a"), node("Clip", "a", "y", min=0.0, max=6.0)], {"Clip": 1}, opset=10)
    moves = "merge-moves"
    case("Transpose", [node("Transpose", "x", "a", perm=[2, 0, 1]), node("Transpose", "a", "y", perm=[1, 0, 2])], {"Transpose": 1},
         out=[2, 4, 3], what=moves)  # fmt: skip
    case("back again", [node("Relu", "x", "r"), node("Transpose", "r", "a", perm=[2, 0, 1]), node("Transpose", "a", "b", perm=[1, 2, 0]),
                        node("Relu", "b", "y")], {"Relu": 2}, what="merge-moves,remove-noops")  # fmt: skip
    case("Transpose read twice", [node("Transpose", "x", "a", perm=[0, 2, 1]), node("Transpose", "a", "b", perm=[0, 2, 1]),
                                  node("ReduceSum", "a", "s", keepdims=1), node("Add", "b s", "y")],
         {"Transpose": 2, "ReduceSum": 1, "Add": 1}, what=moves)  # fmt: skip
    case("Reshape", [node("Reshape", "x p", "a"), node("Reshape", "a q", "y")], {"Reshape": 1},
         {"p": np.array([0, -1]), "q": np.array([6, 4])}, out=[6, 4], what=moves)  # fmt: skip
    case("Reshape by zero", [node("Reshape", "x p", "a"), node("Reshape", "a q", "y")], {"Reshape": 2},
         {"p": np.array([4, 6]), "q": np.array([0, 2, 3])}, out=[4, 2, 3], what=moves)  # fmt: skip
    case("Unsqueeze", [node("Unsqueeze", "x p", "a"), node("Reshape", "a q", "y")], {"Reshape": 1},
         {"p": np.array([0]), "q": np.array([6, -1])}, out=[6, 4], what=moves)  # fmt: skip


def products(passes):
    def case(name, nodes, ops, constants, shape=[3, 4], out=[3, 5], what="matmul-add-to-gemm", **more):
        passes.check(f"{what} {name}", build(nodes, {"x": shape}, {"y": out}, constants), what, ops=ops, **more)

    row = {"w": normal(4, 5), "b": normal(5)}
    pair = [node("MatMul", "x w", "m"), node("Add", "m b", "y")]
    case("plain", pair, {"Gemm": 1}, row, origins={"m_node_1": ["m_node", "y_node"]})
    case("reversed", [node("MatMul", "x w", "m"), node("Add", "b m", "y")], {"Gemm": 1}, {**row, "b": normal(1, 5)}, shape=["N", 4], out=["N", 5])
    case("rank 3", pair, {"MatMul": 1, "Add": 1}, row, shape=[2, 3, 4], out=[2, 3, 5])
    case("column", pair, {"MatMul": 1, "Add": 1}, {**row, "b": normal(3, 1)})
    case("higher rank of bias", pair, {"MatMul": 1, "Add": 1}, {**row, "b": normal(1, 1, 5)}, out=[1, 3, 5])
    case("excluded", pair, {"MatMul": 1, "Add": 1}, row, options="exclude=m_node")
    div = "fold-div-matmul"
    eight = {"k": np.float32(8)}
    case("of a layer", [node("MatMul", "x w", "m"), node("Div", "m k", "y")], {"MatMul": 1}, {**row, **eight}, what=div)
    attention = [node("MatMul", "x w", "q0"), node("Add", "q0 b", "q1"), node("Reshape", "q1 s", "q2"), node("Transpose", "q2", "q", perm=[1, 0, 2]),
                 node("MatMul", "x w", "k0"), node("Reshape", "k0 s", "k1"), node("Transpose", "k1", "k2", perm=[1, 2, 0]),
                 node("MatMul", "q k2", "m"), node("Div", "m k", "y")]  # fmt: skip
    constants = {"w": normal(4, 6), "b": normal(6), "s": np.array([0, 2, 3]), **eight}
    case("attention", attention, {"MatMul": 3, "Add": 1, "Reshape": 2, "Transpose": 2}, constants, out=[2, 3, 3], what=div,
         origins={"m_node": ["m_node", "y_node"]})  # fmt: skip
    case("of no layer", [node("MatMul", "x x", "m"), node("Div", "m k", "y")], {"MatMul": 1, "Div": 1}, eight, shape=[4, 4], out=[4, 4], what=div)
    case("by zero", [node("MatMul", "x w", "m"), node("Mul", "m k", "n"), node("Div", "n z", "o"), node("Clip", "o a c", "y")],
         {"MatMul": 1, "Div": 1, "Clip": 1}, {**row, **eight, "z": np.float32(0), "a": np.float32(-1), "c": np.float32(1)}, what=div)  # fmt: skip


def split_rows(passes):
    """Two rows with single weights far above all others; a network whose product is an output, is shared, or has nothing to split stays right."""

    def case(name, nodes, ops, constants, shape=(2, 3, 64), out=(2, 3, 256), **more):
        model = build(nodes, {"x": list(shape)}, {"y": list(out)}, constants)
        passes.check(f"split-weight-rows {name}", model, "split-weight-rows", ops=ops, **more)

    high = normal(64, 256)
    high[5, 7], high[40, 9] = 100, -100
    many = normal(64, 256)
    many[np.arange(20), np.arange(20)] = 100
    split = {"MatMul": 2, "Gather": 1, "Add": 1}

    def rows(model):
        numbers = [i for i in model.graph.initializer if i.data_type == TensorProto.INT64]
        rest = [numpy_helper.to_array(i) for i in model.graph.initializer if list(i.dims) == [64, 256]]
        right = len(numbers) == 1 and list(numpy_helper.to_array(numbers[0])) == [5, 40]
        return None if right and len(rest) == 1 and not rest[0][[5, 40]].any() else "other rows"

    case("output", [node("MatMul", "x w", "y")], split, {"w": high}, look=rows, origins={"y_node": ["y_node"]})
    case("inside", [node("MatMul", "x w", "m"), node("Relu", "m", "y")], {**split, "Relu": 1}, {"w": high}, look=rows)
    case("shared", [node("MatMul", "x w", "m"), node("Mul", "w w", "v"), node("MatMul", "x v", "n"), node("Add", "m n", "y")],
         {"MatMul": 3, "Gather": 1, "Add": 2, "Mul": 1}, {"w": high})  # fmt: skip
    flat = {"shape": (3, 64), "out": (3, 256)}
    gemm = {"MatMul": 1, "Gemm": 1, "Gather": 1, "Add": 1}
    case("Gemm", [node("Gemm", "x w b", "y", alpha=0.5, beta=2.0)], gemm, {"w": high, "b": normal(256)}, look=rows, **flat)
    case("turned", [node("Gemm", "x w", "y", transB=1)], gemm, {"w": high.T.copy()}, **flat)
    case("Gemm of turned data", [node("Gemm", "x w", "y", transA=1)], {"Gemm": 1}, {"w": high}, shape=(64, 3), out=(3, 256), changes=0)
    case("even", [node("MatMul", "x w", "y")], {"MatMul": 1}, {"w": normal(64, 256)}, changes=0)
    case("zeros", [node("MatMul", "x w", "y")], {"MatMul": 1}, {"w": np.zeros((64, 256), np.float32)}, changes=0)
    case("many", [node("MatMul", "x w", "y")], {"MatMul": 1}, {"w": many}, changes=0)
    infinite = high.copy()
    infinite[3, 3] = np.inf
    case("infinite", [node("MatMul", "x w", "m"), node("Clip", "m a c", "y")], {"MatMul": 1, "Clip": 1},
         {"w": infinite, "a": np.float32(-1), "c": np.float32(1)}, changes=0)  # fmt: skip
    case("excluded", [node("MatMul", "x w", "y")], {"MatMul": 1}, {"w": high}, options="exclude=y_node", changes=0)
    case("constant", [node("MatMul", "k w", "z"), node("Add", "x z", "y")], {"MatMul": 1, "Add": 1},
         {"w": high[:, :64], "k": normal(3, 64)}, out=(2, 3, 64), changes=0)  # fmt: skip


def convert_opset(passes):
    def case(name, nodes, since, shape=[2, 3, 4, 4], out=None, constants={}, to=(13, 17, 21), ops=None, **more):
        inputs = shape if isinstance(shape, dict) else {"x": shape}
        outputs = out if isinstance(out, dict) else {"y": out or shape}
        for target in (t for t in to if t > since):
            model = build(nodes, inputs, outputs, constants, opset=since)
            passes.check(f"convert-opset {name} {since} to {target}", model, "convert-opset", options=f"opset={target}", ops=ops,
                         look=lambda m: None if m.opset_import[0].version == target else f"opset {m.opset_import}", **more)  # fmt: skip

    weights = {"w": normal(4, 3, 3, 3), "k": normal(4)}
    case("Clip", [node("Clip", "x", "y", min=-0.5, max=0.75)], 7, ops={"Clip": 1})
    case("Clip above", [node("Clip", "x", "y", max=0.75)], 10)
    case("Clip below", [node("Clip", "x", "y", min=0.1)], 10)
    case("Clip of nothing", [node("Clip", "x", "y")], 10)
    case("Pad", [node("Pad", "x", "y", pads=[0, 0, 1, 2, 0, 0, 0, 1], value=1.5)], 10, out=[2, 3, 5, 7])
    case("Pad at edges", [node("Pad", "x", "y", pads=[0, 0, 1, 2, 0, 0, 0, 1], mode="reflect")], 7, out=[2, 3, 5, 7])
    case("Slice", [node("Slice", "x", "y", starts=[1, -3], ends=[3, 100], axes=[1, 3])], 9, out=[2, 2, 4, 3])
    case("Slice of the first", [node("Slice", "x", "y", starts=[0, 1], ends=[1, 3])], 7, out=[1, 2, 4, 4])
    case("TopK", [node("TopK", "x", "y i", k=2, axis=3)], 9, out={"y": [2, 3, 4, 2], "i": ([2, 3, 4, 2], TensorProto.INT64)})
    case("Squeeze", [node("Unsqueeze", "x", "u", axes=[0, 3]), node("Squeeze", "u", "y", axes=[0, 3])], 7)
    case("Squeeze all", [node("Unsqueeze", "x", "u", axes=[0]), node("Squeeze", "u", "y")], 11)
    case("Split", [node("Split", "x", "a b", axis=3, split=[1, 3]), node("Concat", "b a", "y", axis=3)], 11)
    case("Split evenly", [node("Split", "x", "a b", axis=3), node("Concat", "b a", "y", axis=3)], 11)
    case("Split evenly", [node("Split", "x", "a b", axis=3), node("Concat", "b a", "y", axis=3)], 13)
    case("Split by input", [node("Split", "x s", "a b", axis=3), node("Concat", "b a", "y", axis=3)], 13, constants={"s": np.array([3, 1])})
    for op in ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare"):
        case(f"Reduce{op}", [node("Abs", "x", "a"), node(f"Reduce{op}", "a", "y", axes=[1, 2], keepdims=0)], 11, out=[2, 4])
        case(f"Reduce{op} of all", [node("Abs", "x", "a"), node(f"Reduce{op}", "a", "y")], 7, out=[1, 1, 1, 1])
    for op in ("Softmax", "LogSoftmax", "Hardmax"):
        case(f"{op} by default", [node(op, "x", "y")], 11)
        case(f"{op} of matrices", [node(op, "x", "y")], 7, shape=["N", 5], ops={op: 1})
        case(f"{op} last", [node(op, "x", "y", axis=3)], 10, ops={op: 1})
        case(f"{op} -2", [node(op, "x", "y", axis=-2)], 11, shape=["N", 3, "H", 4], ops={op: 1, "Flatten": 1, "Shape": 1, "Reshape": 1})
        case(f"{op} from 13", [node(op, "x", "y", axis=1)], 13, ops={op: 1})
    case("Dropout", [node("Dropout", "x", "y", ratio=0.3)], 7)
    case("Dropout", [node("Dropout", "x", "y", ratio=0.3)], 10)
    case("BatchNormalization", [node("BatchNormalization", "x g b m v", "y", spatial=1, momentum=0.8)], 8, constants=norm_constants(3))
    case("BatchNormalization", [node("BatchNormalization", "x g b m v", "y", epsilon=0.1)], 9, constants=norm_constants(3))
    case("Upsample", [node("Upsample", "x", "y", scales=[1.0, 1.0, 2.0, 1.5], mode="nearest")], 7, out=[2, 3, 8, 6], ops={"Resize": 1})
    case("Upsample", [node("Upsample", "x s", "y", mode="linear")], 9, out=[2, 3, 8, 12], constants={"s": np.float32([1, 1, 2, 3])})
    case("Resize", [node("Resize", "x s", "y", mode="nearest")], 10, out=[2, 3, 8, 6], constants={"s": np.float32([1, 1, 2, 1.5])})
    case("Resize down", [node("Resize", "x s", "y", mode="nearest")], 10, shape=[1, 1, 8, 6], out=[1, 1, 4, 4],
         constants={"s": np.float32([1, 1, 0.5, 0.7])})  # fmt: skip
    case("Resize linear", [node("Resize", "x s", "y", mode="linear")], 10, out=[2, 3, 2, 6], constants={"s": np.float32([1, 1, 0.5, 1.5])})
    case("Resize", [node("Resize", "x r s", "y", mode="linear")], 11, out=[2, 3, 8, 6],
         constants={"s": np.float32([1, 1, 2, 1.5]), "r": np.zeros(0, np.float32)})  # fmt: skip
    case("Scatter", [node("Scatter", "x i u", "y", axis=1)], 9, shape=[2, 4], constants={"i": np.array([[1, 2], [0, 3]]), "u": normal(2, 2)})
    case("GridSample", [node("GridSample", "x g", "y", mode="bicubic")], 16, shape={"x": [1, 2, 4, 4], "g": [1, 3, 3, 2]}, out=[1, 2, 3, 3])
    case("RoiAlign", [node("RoiAlign", "x r b", "y", output_height=2, output_width=2)], 10, out=[1, 3, 2, 2],
         constants={"r": np.float32([[0, 0, 3, 3]]), "b": np.array([0])})  # fmt: skip
    case("Conv and pools", [node("Conv", "x w k", "c", pads=[1] * 4), node("MaxPool", "c", "p", kernel_shape=[2, 2]),
                            node("AveragePool", "p", "a", kernel_shape=[2, 2]), node("GlobalAveragePool", "a", "y")], 7, out=[2, 4, 1, 1],
         constants=weights)  # fmt: skip
    case("arithmetic", [node("Mul", "x x", "a"), node("Add", "a x", "b"), node("Sub", "b x", "c"), node("Sigmoid", "c", "d"), node("Tanh", "d", "e"),
                        node("LeakyRelu", "e", "f"), node("Max", "f x", "g"), node("Sum", "g a b", "y")], 8)  # fmt: skip
    case("Gemm", [node("Flatten", "x", "f"), node("Gemm", "f w k", "g"), node("PRelu", "g s", "p"), node("Transpose", "p", "y")], 9,
         shape=[2, 3, 2, 2], out=[5, 2], constants={"w": normal(12, 5), "k": normal(5), "s": normal(5)})  # fmt: skip
    case("ConvTranspose", [node("ConvTranspose", "x w", "c", strides=[2, 2]), node("InstanceNormalization", "c s k", "y")], 8, out=[2, 2, 9, 9],
         constants={"w": normal(3, 2, 3, 3), "s": normal(2), "k": normal(2)})  # fmt: skip
    case("moves", [node("DepthToSpace", "x", "d", blocksize=2), node("SpaceToDepth", "d", "s", blocksize=2), node("Gather", "s i", "g", axis=1),
                   node("Reshape", "g t", "y")], 10, shape=[2, 4, 3, 3], out=[2, 18], constants={"i": np.array([1, 2]), "t": np.array([2, -1])})  # fmt: skip
    case("Where", [node("Greater", "x x2", "c"), node("Where", "c x x2", "y")], 9, shape={"x": [3], "x2": [3]}, out=[3])
    body = helper.make_graph([node("Unsqueeze", "x", "u", axes=[0]), node("Clip", "u", "t", min=0.0)], "t", [], [port("t", [1, 4])])
    other = helper.make_graph([node("Unsqueeze", "x", "e", axes=[0])], "e", [], [port("e", [1, 4])])
    case("nested", [node("If", "c", "y", then_branch=body, else_branch=other)], 10, shape={"x": [4], "c": ([], TensorProto.BOOL)}, out=[1, 4],
         ops={"If": 1, "Unsqueeze": 2, "Clip": 1})  # fmt: skip
    half = build([node("Clip", "x", "y", min=-0.5, max=0.75)], {"x": ([4], TensorProto.FLOAT16)}, {"y": ([4], TensorProto.FLOAT16)}, opset=10)
    passes.check("convert-opset float16", half, "convert-opset", options="opset=13")
    relu = build([node("Relu", "x", "y")], {"x": [4]}, {"y": [4]}, opset=17)
    passes.refused("convert-opset back", relu, "convert-opset", "cannot be converted to the older opset 13", "opset=13")
    passes.refused("convert-opset too far", relu, "convert-opset", "must be from 7 to 25", "opset=26")
    odd = build([node("Odd", "x", "y", name="mine")], {"x": [4]}, {"y": [4]}, opset=17)
    passes.refused("convert-opset unknown", odd, "convert-opset", "node 'mine' (Odd) cannot be converted", "opset=18")
    group = build([node("GroupNormalization", "x s b", "y", num_groups=1)], {"x": [1, 2, 3]}, {"y": [1, 2, 3]}, {"s": normal(1), "b": normal(1)}, opset=18)
    passes.refused("convert-opset GroupNormalization", group, "convert-opset", "per group", "opset=21")


def main():
    passes = Passes()
    for part in (clean_up, fold_shapes, fold_constants, remove_noops, fold_batch_norm, fold_scale, fold_pad, merge, products, split_rows, convert_opset):
        part(passes)
    passes.end()


main()
