"""baryon quantize --format qoperator beside --format qdq of the same plan.

Each operator by itself: the integer operator is there, nothing is left of its pairs, and what it
computes is what the pairs give, but for the last rounding. Real models: closer to the pairs than
both are to float. LONG=1: every operator with both types, not every other one.
"""

import collections
import os
import pathlib
import subprocess
import tempfile

import numpy as np
import onnx
import onnxruntime
from dump import BUILD, Score
from onnx import TensorProto, helper, numpy_helper

ZOO = pathlib.Path("build/zoo")
PAIR = {"QuantizeLinear", "DequantizeLinear"}
U8, S8, POW2, CHANNEL = (["--activation", "uint8"], ["--activation", "int8"],
                         ["--activation-symmetric", "--activation-scale", "pow2"],
                         ["--weight-granularity", "channel"])
LONG = bool(os.environ.get("LONG"))
rng = np.random.default_rng(5)


def normal(*shape, scale=1.0):
    return rng.normal(0, scale, shape).astype("f4")


def node(op, inputs, outputs="y", **attributes):
    return helper.make_node(op, inputs.split(","), outputs.split(","), name=f"{op}_{outputs}", **attributes)


def build(nodes, inputs, constants, outputs=("y",), opset=17):
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
                     for name, v in inputs.items()],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
        [numpy_helper.from_array(np.asarray(v), name) for name, v in constants.items()])
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", opset)])
    return onnx.shape_inference.infer_shapes(model)


def run(path, feeds, level="ALL"):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel,
                                               {"ALL": "ORT_ENABLE_ALL", "NONE": "ORT_DISABLE_ALL"}[level])
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"]).run(None, feeds)


def quantize(folder, model, form, options, data):
    out = folder / f"{form}.onnx"
    words = [BUILD / "baryon", "quantize", "--no-judge", model, "-o", out, "-f", "--format", form, "--cle", "off",
             "--smooth", "off", "--auto-exclude", "off", *options, *data]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    return out


def counts(path):
    return collections.Counter(n.op_type for n in onnx.load(path).graph.node)


def output_scales(path):
    """The scale of the DequantizeLinear that gives each output."""
    graph = onnx.load(path).graph
    constants = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
    makers = {o: n for n in graph.node for o in n.output}
    return [float(constants[makers[o.name].input[1]]) for o in graph.output]


def both(score, what, folder, model, options, data, feeds):
    """Outputs of the pairs, unoptimized, and of the integers at both ends of optimization."""
    pairs, integers = (quantize(folder, model, form, options, data) for form in ("qdq", "qoperator"))
    made = onnx.load(integers)
    onnx.checker.check_model(made, full_check=True)
    names = [n.name for n in made.graph.node if n.name]
    score.check(len(set(names)) == len(names), f"{what}: a name of two nodes")
    used = {i for n in made.graph.node for i in n.input}
    score.check(all(i.name in used for i in made.graph.initializer), f"{what}: constants that nobody reads")
    return pairs, integers, run(pairs, feeds, "NONE"), [run(integers, feeds, level) for level in ("NONE", "ALL")]


def one(score, folder, what, model, feeds, wanted, options, pairs_left=(1, 1)):
    """wanted: operators of the integer model besides pairs; each may round the other way once."""
    steps = len([op for op in wanted if op.startswith("Q")]) + 0.01
    path = folder / "m.onnx"
    onnx.save(model, path)
    np.savez(folder / "x.npz", **feeds)
    data = ["--data", folder / "x.npz"]
    try:
        _, integers, expected, found = both(score, what, folder, path, options, data, feeds)
    except Exception as error:  # noqa: BLE001
        score.check(False, f"{what}: {error}")
        return
    has = counts(integers)
    left = (has.pop("QuantizeLinear", 0), has.pop("DequantizeLinear", 0))
    score.check(has == collections.Counter(wanted), f"{what}: {dict(has)}, not {wanted}")
    score.check(left == pairs_left, f"{what}: {left} of the pairs are left, not {pairs_left}")
    for result in found:
        for e, f, scale in zip(expected, result, output_scales(integers)):
            worst = float(np.max(np.abs(e - f))) / scale
            score.check(worst <= steps, f"{what}: {worst:.2f} steps from the pairs")


X = {"x": normal(2, 4, 8, 8)}
M = {"x": normal(3, 16)}
W, B = normal(6, 4, 3, 3, scale=0.2), normal(6)
SIX = {"zero": np.float32(0), "six": np.float32(1)}


def layers():
    conv = [node("Conv", "x,w,b", pads=[1, 1, 1, 1])]
    yield "Conv", build(conv, X, {"w": W, "b": B}), X, ["QLinearConv"]
    yield "Conv without a bias", build([node("Conv", "x,w", strides=[2, 2])], X, {"w": W}), X, ["QLinearConv"]
    groups = [node("Conv", "x,w,b", group=4, auto_pad="SAME_UPPER")]
    yield "Conv of groups", build(groups, X, {"w": normal(4, 1, 3, 3), "b": normal(4)}), X, ["QLinearConv"]
    chain = [node("Conv", "x,w,b", "c"), node("Conv", "c,v", "y")]
    yield "Conv, Conv", build(chain, X, {"w": W, "b": B, "v": normal(3, 6, 1, 1)}), X, ["QLinearConv"] * 2
    yield "MatMul", build([node("MatMul", "x,w")], M, {"w": normal(16, 5)}), M, ["QLinearMatMul"]
    two = {"x": normal(2, 3, 16), "z": normal(2, 16, 5)}
    yield "MatMul of two activations", build([node("MatMul", "x,z")], two, {}), two, ["QLinearMatMul"], (2, 1)
    yield "Gemm", build([node("Gemm", "x,w,b", transB=1)], M, {"w": normal(5, 16), "b": normal(5)}), M, ["QGemm"]
    factor = build([node("Gemm", "x,w,b", alpha=0.5, beta=2.0)], M, {"w": normal(16, 5), "b": normal(5)})
    yield "Gemm with factors", factor, M, ["QGemm"]
    yield "Gemm without a bias", build([node("Gemm", "x,w")], M, {"w": normal(16, 5)}), M, ["QGemm"]


def activations(symmetric):
    """The integer Clip is there where the levels do not cut by themselves."""
    relu = [node("Conv", "x,w,b", "c"), node("Relu", "c")]
    cut = ["QLinearConv", "Clip"] if symmetric else ["QLinearConv"]
    yield "Conv, Relu", build(relu, X, {"w": W, "b": B}), X, cut
    clip = [node("Conv", "x,w,b", "c"), node("Clip", "c,zero,six")]
    yield "Conv, Clip", build(clip, X, {"w": W, "b": B} | SIX), X, cut


def mathematics():
    two = {"x": normal(2, 4, 8, 8), "z": normal(2, 4, 1, 1, scale=3)}
    yield "Add", build([node("Add", "x,z")], two, {}), two, ["QLinearAdd"], (2, 1)
    yield "Mul", build([node("Mul", "x,z")], two, {}), two, ["QLinearMul"], (2, 1)
    yield "Add of a constant", build([node("Add", "x,k")], X, {"k": normal(4, 1, 1)}), X, ["QLinearAdd"]
    yield "Sigmoid", build([node("Sigmoid", "x")], X, {}), X, ["QLinearSigmoid"]
    yield "LeakyRelu", build([node("LeakyRelu", "x", alpha=0.2)], X, {}), X, ["QLinearLeakyRelu"]
    for opset, axis in ((11, {"axis": 1}), (17, {"axis": 1}), (17, {})):
        yield f"Softmax {opset} {axis}", build([node("Softmax", "x", **axis)], M, {}, opset=opset), M, ["QLinearSoftmax"]
    yield "GlobalAveragePool", build([node("GlobalAveragePool", "x")], X, {}), X, ["QLinearGlobalAveragePool"]
    for ceil in (0, 1):
        pool = node("AveragePool", "x", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], ceil_mode=ceil)
        yield f"AveragePool {ceil}", build([pool], X, {}), X, ["QLinearAveragePool"]
    two = {"x": normal(2, 4, 8, 8), "z": normal(2, 3, 8, 8, scale=3)}
    sigmoids = [node("Sigmoid", "x", "a"), node("LeakyRelu", "z", "b"), node("Concat", "a,b", axis=1)]
    yield "Concat", build(sigmoids, two, {}), two, ["QLinearSigmoid", "QLinearLeakyRelu", "QLinearConcat"], (2, 1)


def moves():
    """Behind a MaxPool, so that something is quantized, and in front of a Conv."""
    def model(middle, constants, weight, opset=17):
        nodes = [node("Conv", "x,w,b", "a"), *middle, node("MatMul", "m,k", "y")]
        return build(nodes, X, {"w": W, "b": B, "k": weight} | constants, opset=opset)

    square = normal(6, 3)
    ends = ["QLinearConv", "QLinearMatMul"]
    pool = node("MaxPool", "a", "m", kernel_shape=[2, 2], pads=[1, 1, 0, 0])
    yield "MaxPool", model([pool], {}, square), X, ends + ["MaxPool"]
    yield "Reshape", model([node("Reshape", "a,s", "m")], {"s": np.array([-1, 6])}, square), X, ends + ["Reshape"]
    yield "Transpose", model([node("Transpose", "a", "m", perm=[0, 2, 3, 1])], {}, square), X, ends + ["Transpose"]
    pads = {"p": np.array([0, 0, 0, 1, 0, 0, 1, 1]), "v": np.float32(0.7)}
    yield "Pad", model([node("Pad", "a,p,v", "m")], pads, normal(8, 3)), X, ends + ["Pad"]
    yield "Pad with zeros", model([node("Pad", "a,p", "m")], {"p": pads["p"]}, normal(8, 3)), X, ends + ["Pad"]
    yield "Pad, reflected", model([node("Pad", "a,p", "m", mode="reflect")], {"p": pads["p"]}, normal(8, 3)), X, ends + ["Pad"]
    sizes = {"r": np.zeros(0, "f4"), "t": np.array([1, 1, 2, 2], "f4")}
    yield "Resize", model([node("Resize", "a,r,t", "m", mode="nearest")], sizes, normal(12, 3)), X, ends + ["Resize"]


def operators(score, folder):
    for name, options in (("uint8", U8 + CHANNEL), ("int8, powers of two", S8 + POW2 + CHANNEL)):
        step = 2 if "int8" == name[:4] and not LONG else 1
        for what, model, feeds, wanted, *left in [*layers(), *activations("--activation-symmetric" in options), *mathematics(),
                                                  *moves()][::step]:
            one(score, folder, f"{what}, {name}", model, feeds, wanted, options, *left)


def excluded(score, folder):
    """A Softmax stays between integers. Where it is nearly even its steps are not so fine that the kernel which ONNX
    Runtime takes for it overflows."""
    nodes = [node("MatMul", "x,w", "a"), node("Softmax", "a", "s"), node("MatMul", "s,v")]
    for name, scale in (("uneven", 1.0), ("even", 0.001)):
        model = build(nodes, M, {"w": normal(16, 8, scale=scale), "v": normal(8, 5)})
        wanted = ["QLinearMatMul", "Softmax", "QLinearMatMul"]
        one(score, folder, f"Softmax, excluded, {name}", model, M, wanted, [*U8, "--exclude-op-type", "Softmax"], (2, 2))


def noise(wanted, found):
    """Of all outputs, as a share."""
    power = [float(np.sum(np.square(w, dtype="f8"))) for w in wanted]
    return sum(float(np.sum((w.astype("f8") - f) ** 2)) / p for w, f, p in zip(wanted, found, power)) / len(power)


def real(score, folder):
    """What the integers compute is not much farther from float than what the pairs compute."""
    for name, options in (("centerface", S8), ("ppocr_cls", U8)):
        model = ZOO / "models" / f"{name}.onnx"
        options = [*options, "--opset", "13"]
        files = sorted((ZOO / "data" / name).glob("*.npz"))
        samples = folder / "samples.txt"
        samples.write_text("".join(f"{f.resolve()}\n" for f in files[:4]))
        feeds = dict(np.load(files[-1]))
        _, integers, expected, found = both(score, name, folder, model, options, ["--data", samples], feeds)
        exact = run(model, feeds)
        for result in found:
            apart = noise(exact, result) / noise(exact, expected)
            score.check(apart < 1.6, f"{name}: {apart:.2f} times the error of the pairs")
        has = counts(integers)
        score.check(has["Conv"] == 0 and has["QLinearConv"] > 50, f"{name}: {dict(has)}")


def main():
    score = Score()
    with tempfile.TemporaryDirectory() as folder:
        operators(score, pathlib.Path(folder))
        excluded(score, pathlib.Path(folder))
        real(score, pathlib.Path(folder))
    return score.finish()


if __name__ == "__main__":
    raise SystemExit(main())
