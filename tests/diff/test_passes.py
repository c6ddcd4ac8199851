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


def main():
    passes = Passes()
    for part in (clean_up, fold_shapes, fold_constants, remove_noops):
        part(passes)
    passes.end()


main()
