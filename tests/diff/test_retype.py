"""Changes of float types: models before and after run alike, are valid for the onnx package, and have
as many Casts as they need. The table of operators is compared with the onnx package's schemas."""

import collections
import pathlib
import re

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from pass_check import Passes, build, node, port

F32, F16, BF16 = TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16
rng = np.random.default_rng(7)


def normal(*shape, kind=np.float32):
    return np.asarray(rng.normal(size=shape), kind)


def ports(model):
    return [p.type.tensor_type.elem_type for p in list(model.graph.input) + list(model.graph.output)]


def elems(model):
    infos = [p.type.tensor_type.elem_type for p in model.graph.value_info]
    return {i.data_type for i in model.graph.initializer} | set(ports(model)) | set(infos)


def types_of(**wanted):
    """look: initializers have these types."""

    def look(model):
        found = {i.name: i.data_type for i in model.graph.initializer}
        wrong = {name: found.get(name) for name, elem in wanted.items() if found.get(name) != elem}
        return f"types are {wrong}, not {wanted}" if wrong else None

    return look


def all_of(*looks):
    return lambda model: next((problem for look in looks if (problem := look(model))), None)


def ports_are(*wanted):
    return lambda model: None if tuple(ports(model)) == wanted else f"inputs and outputs are {ports(model)}, not {wanted}"


HALF_ROW = {"w": normal(4, 5, kind=np.float16), "b": normal(5, kind=np.float16)}
ROW = {name: value.astype(np.float32) for name, value in HALF_ROW.items()}
CHAIN = [node("MatMul", "x w", "m"), node("Add", "m b", "a"), node("Tanh", "a", "t"), node("Mul", "t b", "u"), node("Sub", "u m", "y")]
CHAIN_OPS = {"MatMul": 1, "Add": 1, "Tanh": 1, "Mul": 1, "Sub": 1}


def branches(elem, other_cast=None):
    """An If whose branches read what is around it."""
    then = helper.make_graph([node("Add", "m b", "t")], "t", [], [port("t", [2, 5], elem)])
    extra = [node("Cast", "s", "e0", to=other_cast)] if other_cast else [node("Identity", "s", "e0")]
    other = helper.make_graph([*extra, node("Add", "m e0", "e")], "e", [], [port("e", [2, 5], elem)])
    return [node("MatMul", "x w", "m"), node("ReduceMax", "m", "r", keepdims=0), node("Greater", "r z", "c"),
            node("If", "c", "y", then_branch=then, else_branch=other)]  # fmt: skip


def loop(elem):
    """Three rounds of v = tanh(v @ k) * b, each kept."""
    body = helper.make_graph(
        [node("Identity", "go", "go2"), node("MatMul", "v k", "v1"), node("Tanh", "v1", "v2"), node("Mul", "v2 b", "v3"), node("Identity", "v3", "s")],
        "body", [port("i", [], TensorProto.INT64), port("go", [], TensorProto.BOOL), port("v", [2, 5], elem)],
        [port("go2", [], TensorProto.BOOL), port("v3", [2, 5], elem), port("s", [2, 5], elem)])  # fmt: skip
    return [node("MatMul", "x w", "m"), node("Loop", "n go0 m", "l all", body=body), node("ReduceSum", "all ax", "a", keepdims=0), node("Add", "a l", "y")]


LOOP = {"n": np.int64(3), "go0": np.bool_(True), "ax": np.array([0], np.int64), "k": normal(5, 5) / 2}


def widen(passes):
    def case(name, nodes, constants, out=[2, 5], options="", look=None, ops=None, same_types=False, infos=(), outputs=None):
        model = build(nodes, {"x": ([2, 4], F16)}, outputs or {"y": (out, F16)}, constants, infos=infos)
        passes.check(f"fp16-to-fp32 {name}", model, "fp16-to-fp32", options=options, look=look, ops=ops, close=6e-3, same_types=same_types)

    def no_half(model):
        return "float16 is left" if F16 in elems(model) else None

    case("whole", [node("MatMul", "x w", "m"), node("Add", "m b", "y")], HALF_ROW, look=no_half, infos=[port("m", [2, 5], F16)])
    case("whole with Casts", [node("Cast", "x", "c", to=1), node("Exp", "c", "e"), node("Cast", "e", "f", to=F16), node("MatMul", "f w", "y")], HALF_ROW,
         look=no_half, ops={"Exp": 1, "MatMul": 1})  # fmt: skip
    constant = node("Constant", "", "k", value=numpy_helper.from_array(normal(5, kind=np.float16)))
    case("whole with Constants", [constant, node("MatMul", "x w", "m"), node("Add", "m k", "y")], HALF_ROW, look=no_half)
    nested = {**HALF_ROW, "s": normal(5), "z": np.float16(0)}
    case("whole, nested", branches(F16, F16), nested, look=no_half)
    case("whole, loop", loop(F16), {**HALF_ROW, **LOOP, "k": LOOP["k"].astype(np.float16)}, look=no_half)
    sequence = [node("MatMul", "x w", "m"), node("SequenceConstruct", "m m", "q"), node("ConcatFromSequence", "q", "y", axis=0)]
    case("whole with a sequence", sequence, HALF_ROW, out=[4, 5], look=no_half)
    case("whole, inputs and outputs stay", CHAIN, HALF_ROW, options="keep-io", ops={**CHAIN_OPS, "Cast": 2}, look=ports_are(F16, F16), same_types=True)
    case("whole, one node stays", CHAIN, HALF_ROW, options="keep-excluded,exclude=t_node", ops={**CHAIN_OPS, "Cast": 2}, look=ports_are(F32, F32))
    passes.check("fp16-to-fp32 of float32", build([node("Relu", "x", "y")], {"x": [2]}, {"y": [2]}), "fp16-to-fp32", changes=0)


def regions(passes):
    """Types at the borders stay."""

    def case(name, nodes, constants=HALF_ROW, options="", look=None, ops=None, infos=(), outputs=None):
        model = build(nodes, {"x": ([2, 4], F16)}, outputs or {"y": ([2, 5], F16)}, constants, infos=infos)
        passes.check(f"fp16-to-fp32 region {name}", model, "fp16-to-fp32", options=options, look=look, ops=ops, close=6e-3)

    case("in the middle", CHAIN, options="from=a_node,to=t_node", ops={**CHAIN_OPS, "Cast": 3})
    case("with constants", CHAIN, options="from=m_node,to=u_node", look=types_of(w=F32, b=F32), ops={**CHAIN_OPS, "Cast": 3},
         infos=[port("m", [2, 5], F16), port("t", [2, 5], F16)])  # fmt: skip
    nameless = [node(n.op_type, " ".join(n.input), n.output[0], name="") for n in CHAIN]
    case("of nodes without names", nameless, options="from=a,to=t", ops={**CHAIN_OPS, "Cast": 3})
    case("from the beginning", CHAIN, options="to=a_node")
    case("to the end", CHAIN, options="from=t_node")
    case("with an output inside", CHAIN, options="from=m_node,to=u_node", outputs={"y": ([2, 5], F16), "t": ([2, 5], F16)})
    nested = {**HALF_ROW, "s": normal(5), "z": np.float16(0)}
    case("with graphs in it", branches(F16, F16), nested, options="from=m_node", look=types_of(w=F32, b=F32))
    case("around graphs", branches(F16, F16), nested, options="from=m_node,to=m_node", ops={"MatMul": 1, "ReduceMax": 1, "Greater": 1, "If": 1, "Add": 2, "Cast": 3})
    case("of a nested graph", loop(F16), {**HALF_ROW, **LOOP, "k": LOOP["k"].astype(np.float16)}, options="from=v1_node,to=v2_node", look=types_of(k=F32))
    case("of a loop", loop(F16), {**HALF_ROW, **LOOP, "k": LOOP["k"].astype(np.float16)}, options="from=l_node,to=l_node",
         ops={"MatMul": 2, "Identity": 2, "Tanh": 1, "Mul": 1, "Loop": 1, "ReduceSum": 1, "Add": 1, "Cast": 3})  # fmt: skip
    twice = [node("MatMul", "x w", "m"), node("Cast", "m", "c", to=F32), node("Tanh", "c", "t"), node("Cast", "t", "h", to=F16), node("Mul", "h b", "y")]
    case("behind another", twice, options="from=y_node", ops={"MatMul": 1, "Tanh": 1, "Mul": 1, "Cast": 2})
    quantized = {"q": np.int8(rng.integers(-9, 9, (4, 5))), "s": np.float16(0.1), "b": normal(5, kind=np.float16)}
    weights = [node("DequantizeLinear", "q s", "w"), node("MatMul", "x w", "m"), node("Add", "m b", "y")]
    model = build(weights, {"x": ([2, 4], F16)}, {"y": ([2, 5], F16)}, quantized, opset=19)
    passes.check("fp16-to-fp32 region with weights", model, "fp16-to-fp32", options="from=m_node,to=m_node", close=6e-3, look=types_of(s=F32),
                 ops={"DequantizeLinear": 1, "MatMul": 1, "Add": 1, "Cast": 2})  # fmt: skip
    plain = build(CHAIN, {"x": ([2, 4], F16)}, {"y": ([2, 5], F16)}, HALF_ROW)
    for text, options in (("names node 'nobody', which is not in the model", "from=nobody"), ("did you mean 't_node'?", "from=t_nod"),
                          ("no path leads from 't_node' to 'm_node'", "from=t_node,to=m_node")):  # fmt: skip
        passes.refused(f"fp16-to-fp32 region: {text}", plain, "fp16-to-fp32", text, options)
    model = build(loop(F16), {"x": ([2, 4], F16)}, {"y": ([2, 5], F16)}, {**HALF_ROW, **LOOP, "k": LOOP["k"].astype(np.float16)})
    passes.refused("fp16-to-fp32 region of two graphs", model, "fp16-to-fp32", "names node 'v1_node', which is in another graph", "from=m_node,to=v1_node")


def narrow(passes):
    def case(name, nodes, constants=ROW, options="", look=None, ops=None, inputs=None, outputs=None, opset=17, close=6e-3, infos=()):
        model = build(nodes, inputs or {"x": [2, 4]}, outputs or {"y": [2, 5]}, constants, opset=opset, infos=infos)
        passes.check(f"fp32-to-fp16 {name}", model, "fp32-to-fp16", options=options, look=look, ops=ops, close=close, same_types=False)

    def no_single(model):
        return "float32 is left" if F32 in elems(model) else None

    case("whole", CHAIN, ops=CHAIN_OPS, look=all_of(no_single, ports_are(F16, F16)), infos=[port("m", [2, 5])])
    case("inputs and outputs stay", CHAIN, options="keep-io", ops={**CHAIN_OPS, "Cast": 2}, look=all_of(types_of(w=F16, b=F16), ports_are(F32, F32)))
    case("one node stays", CHAIN, options="exclude=t_node", ops={**CHAIN_OPS, "Cast": 2}, look=ports_are(F16, F16))
    case("the last node stays", CHAIN, options="exclude=y_node", ops={**CHAIN_OPS, "Cast": 3}, look=ports_are(F16, F16))
    case("the last node stays, outputs too", CHAIN, options="exclude=y_node,keep-io", ops={**CHAIN_OPS, "Cast": 3}, look=ports_are(F32, F32))
    case("one Cast for two readers", [node("Relu", "x", "r"), node("Exp", "r", "e"), node("Abs", "r", "a"), node("Add", "e a", "y")], {},
         outputs={"y": [2, 4]}, options="exclude=r_node", ops={"Relu": 1, "Exp": 1, "Abs": 1, "Add": 1, "Cast": 2})  # fmt: skip
    case("an output that is read", CHAIN, options="keep-io", outputs={"y": [2, 5], "m": [2, 5]}, ops={**CHAIN_OPS, "Cast": 3}, look=ports_are(F32, F32, F32))
    case("a constant read by both", CHAIN, options="exclude=u_node", ops={**CHAIN_OPS, "Cast": 3}, look=types_of(w=F16, b=F32))
    case("region", CHAIN, options="from=a_node,to=t_node", ops={**CHAIN_OPS, "Cast": 3}, look=ports_are(F32, F32))
    case("nested", branches(F32), {**ROW, "s": normal(5), "z": np.float32(0)}, look=no_single)
    case("nested, one branch stays", branches(F32), {**ROW, "s": normal(5), "z": np.float32(0)}, options="exclude=e_node,keep-io", look=ports_are(F32, F32))
    case("nested, the If stays", branches(F32), {**ROW, "s": normal(5), "z": np.float32(0)}, options="exclude=y_node", look=ports_are(F16, F16))
    case("loop", loop(F32), {**ROW, **LOOP}, look=no_single)
    case("loop, it stays", loop(F32), {**ROW, **LOOP}, options="exclude=l_node", look=types_of(k=F16))
    case("loop, its body stays", loop(F32), {**ROW, **LOOP}, options="exclude=v1_node", look=types_of(k=F32))
    casts = [node("Cast", "x", "h", to=F16), node("Exp", "h", "e"), node("Cast", "e", "s", to=F32), node("MatMul", "s w", "y")]
    case("Casts that there were", casts, ops={"Exp": 1, "MatMul": 1}, look=no_single)
    sizes = [node("Shape", "x", "n"), node("Cast", "n", "f", to=F32), node("Mul", "f two", "g"), node("Cast", "g", "k", to=TensorProto.INT64),
             node("Expand", "one k", "o"), node("Gather", "f zero", "c"), node("Mul", "o c", "y")]  # fmt: skip
    model_sizes = {"two": np.float32(2), "one": normal(1), "zero": np.int64(1)}
    case("whole numbers", sizes, model_sizes, inputs={"x": [2, 4]}, outputs={"y": [4, 8]}, look=types_of(two=F32))
    resize = [node("Resize", "x _ scales", "r", mode="nearest"), node("Relu", "r", "y")]
    case("Resize", resize, {"scales": np.array([1, 1, 2, 2], np.float32)}, inputs={"x": [1, 2, 3, 3]}, outputs={"y": [1, 2, 6, 6]},
         ops={"Resize": 1, "Relu": 1}, look=types_of(scales=F32))  # fmt: skip
    normalized = [node("LayerNormalization", "x s b", "y m _")]
    case("LayerNormalization", normalized, {"s": normal(4), "b": normal(4)}, outputs={"y": [2, 4], "m": [2, 1]}, look=types_of(s=F16, b=F16), close=2e-2)
    filled = [node("Shape", "x", "n"), node("ConstantOfShape", "n", "z"), node("Add", "x z", "y")]
    case("ConstantOfShape without a value", filled, {}, outputs={"y": [2, 4]}, ops={"Shape": 1, "ConstantOfShape": 1, "Add": 1, "Cast": 1})
    filled[1] = node("ConstantOfShape", "n", "z", value=numpy_helper.from_array(np.array([2], np.float32)))
    case("ConstantOfShape", filled, {}, outputs={"y": [2, 4]}, ops={"Shape": 1, "ConstantOfShape": 1, "Add": 1})
    single = [node("Constant", "", "k", value_float=1.5), node("Add", "x k", "y")]
    case("Constant with value_float", single, {}, outputs={"y": [2, 4]}, ops={"Constant": 1, "Add": 1, "Cast": 1})
    sequence = [node("MatMul", "x w", "m"), node("SequenceConstruct", "m m", "q"), node("ConcatFromSequence", "q", "c", axis=0), node("Relu", "c", "y")]
    case("sequence", sequence, outputs={"y": [4, 5]}, look=ports_are(F16, F16), ops={"MatMul": 1, "SequenceConstruct": 1, "ConcatFromSequence": 1, "Relu": 1, "Cast": 2})
    pair = {"q": np.float32(0.05), "z": np.int8(3), **ROW}
    quantized = [node("QuantizeLinear", "x q z", "i"), node("DequantizeLinear", "i q z", "d"), node("MatMul", "d w", "y")]
    case("pairs", quantized, pair, opset=21, look=types_of(q=F32, w=F16))
    case("isinf, opset 19", [node("IsInf", "x", "i"), node("Where", "i b x", "y")], {"b": normal(4)}, opset=19, outputs={"y": [2, 4]}, ops={"IsInf": 1, "Where": 1, "Cast": 1})
    case("isinf, opset 20", [node("IsInf", "x", "i"), node("Where", "i b x", "y")], {"b": normal(4)}, opset=20, outputs={"y": [2, 4]}, ops={"IsInf": 1, "Where": 1})


def limits(passes):
    """Constants that float16 or bfloat16 cannot hold."""

    def model(value, kind=np.float32):
        return build([node("Min", "x k", "y")], {"x": [3]}, {"y": [3]}, {"k": np.asarray(value, kind)})

    def holds(*wanted):
        def look(result):
            found = numpy_helper.to_array(result.graph.initializer[0]).astype(np.float64).ravel().tolist()
            same = len(found) == len(wanted) and all(a == b or (a != a and b != b) for a, b in zip(found, wanted))
            return None if same else f"{found}, not {wanted}"
        return look

    passes.refused("fp16 overflow", model([1, 70000, 2]), "fp32-to-fp16", "tensor 'k': element 1 is 70000, float16 represents up to 65504; clamp it with --clamp, or keep its consumers")
    passes.refused("fp16 overflow by rounding", model(-65520), "fp32-to-fp16", "element 0 is -65520, float16 represents up to 65504")
    passes.refused("bf16 overflow", model(3.4e38), "fp32-to-bf16", "element 0 is 3.4e+38, bfloat16 represents up to 3.38953e+38")
    cases = [("at the end", [65519], "", [65504]), ("clamped", [1e9, -1e9, 3], "clamp", [65504, -65504, 3]),
             ("not finite", [np.inf, -np.inf, np.nan], "", [np.inf, -np.inf, np.nan]), ("one small number", [1e-12], "", [2.0**-24]),
             ("one small number below zero", [-1e-12], "", [-(2.0**-24)]), ("small numbers", [1e-12, 1, 1e-7], "", [0, 1, 2 * 2.0**-24]),
             ("zero", [0], "", [0])]  # fmt: skip
    for name, values, options, wanted in cases:
        result, count, _ = passes.run(model(values), "fp32-to-fp16", options)
        passes.note(f"limits: {name}", count if result is None else holds(*wanted)(result))
    old = build([node("Relu", "x", "y")], {"x": [2]}, {"y": [2]}, opset=12)
    passes.refused("bf16 in an old opset", old, "fp32-to-bf16", "bfloat16 requires opset 13, the model has 12; convert the model with --opset 13")


def brain(passes):
    """ONNX Runtime has no bfloat16 on processors; the onnx package's reference has."""

    def case(name, nodes, constants=ROW, options="", ops=None, opset=17, shape=(2, 4), out=(2, 5), look=None):
        model = build(nodes, {"x": list(shape)}, {"y": list(out)}, constants, opset=opset)
        result, message, _ = passes.run(model, "fp32-to-bf16", options)
        if result is None:
            return passes.note(f"fp32-to-bf16 {name}", message)
        onnx.checker.check_model(result, full_check=True)
        found = dict(collections.Counter(n.op_type for n in result.graph.node))
        problem = f"operators are {found}, not {ops}" if ops and found != ops else look(result) if look else None
        kind = ml_dtypes.bfloat16 if result.graph.input[0].type.tensor_type.elem_type == BF16 else np.float32
        x = normal(*shape)
        a = ReferenceEvaluator(model).run(None, {"x": x})[0]
        b = np.asarray(ReferenceEvaluator(result).run(None, {"x": x.astype(kind)})[0]).astype(np.float32)
        worst = np.abs(a - b).max() / np.abs(a).max()
        passes.note(f"fp32-to-bf16 {name}", problem or (None if worst < 4e-2 else f"off by {worst:g}"))

    case("whole", CHAIN, ops=CHAIN_OPS, look=all_of(types_of(w=BF16, b=BF16), ports_are(BF16, BF16)))
    case("inputs and outputs stay", CHAIN, options="keep-io", ops={**CHAIN_OPS, "Cast": 2}, look=ports_are(F32, F32))
    conv = [node("Conv", "x k", "c"), node("Relu", "c", "y")]
    kernel = {"k": normal(3, 2, 1, 1)}
    case("Conv, opset 17", conv, kernel, shape=(1, 2, 3, 3), out=(1, 3, 3, 3), ops={"Conv": 1, "Relu": 1, "Cast": 2}, look=types_of(k=F32))
    case("Conv, opset 22", conv, kernel, opset=22, shape=(1, 2, 3, 3), out=(1, 3, 3, 3), ops={"Conv": 1, "Relu": 1}, look=types_of(k=BF16))
    # And back: bfloat16 in float32 is exact.
    model = build(CHAIN, {"x": [2, 4]}, {"y": [2, 5]}, ROW, opset=17)
    result, _, _ = passes.run(model, "fp32-to-bf16")
    back, message, _ = passes.run(result, "bf16-to-fp32")
    weights = back and {i.name: numpy_helper.to_array(i) for i in back.graph.initializer}
    wrong = message if back is None else [n for n, w in weights.items() if (w != ROW[n].astype(ml_dtypes.bfloat16).astype(np.float32)).any()]
    passes.note("bf16-to-fp32", None if back is not None and not wrong and elems(back) == {F32} else f"{wrong}")


ALWAYS_FLOAT = {"Resize": (1, 2), "Upsample": (1,)}
MORE_OUTPUTS = {"LayerNormalization": 1}  # the others have a type of their own


def since(versions, name, elem):
    """First version from which the operator takes elem wherever it takes float; None: it never takes float."""
    found = None
    for version in sorted(versions):
        schema = versions[version]
        if schema.deprecated:
            continue
        places = [p for i, p in enumerate(schema.inputs) if i not in ALWAYS_FLOAT.get(name, ())]
        places += list(schema.outputs)[: MORE_OUTPUTS.get(name)]
        types = [p.types for p in places if any("tensor(float)" in t for t in p.types)]
        if not types:
            return None
        takes = all(any(f"tensor({elem})" in t for t in some) for some in types)
        found = (found or version) if takes else None
    return found or 0


def table(passes):
    text = pathlib.Path("src/ir/opfloat.c").read_text()
    ours = {name: (int(a), int(b)) for name, a, b in re.findall(r'\{"(\w+)", (\d+), (\d+)\}', text)}
    schemas = collections.defaultdict(dict)
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "":
            schemas[schema.name][schema.since_version] = schema
    for name, versions in sorted(schemas.items()):
        wanted = since(versions, name, "float16"), since(versions, name, "bfloat16")
        if wanted == (None, None):
            continue
        found = ours.get(name, (0, 0))
        passes.note(f"table: {name}", None if found == wanted else f"{found}, not {wanted}")
    strangers = sorted(set(ours) - set(schemas))
    passes.note("table: operators that there are not", f"{strangers}" if strangers else None)


def main():
    passes = Passes()
    for part in (widen, regions, narrow, limits, brain, table):
        part(passes)
    passes.end()


main()
