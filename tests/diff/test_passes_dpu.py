"""The arithmetic of DPUs on the float graph: factors beside a table and exact fractions, values beside numpy."""

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
from onnx import TensorProto, helper, numpy_helper

from pass_check import Passes, build, node, random_inputs, session

rng = np.random.default_rng(17)
# Of square kernels, as published for the hardware.
TABLE = {1: 1, 2: 1, 3: 0.984375, 4: 1, 5: 0.9765625, 6: 0.984375, 7: 1.0048828125, 8: 1, 10: 1.0009765625, 12: 1.001953125,
         13: 1.0005493164, 14: 1.0048828125, 16: 1, 28: 1.0048828125, 56: 1.0048828125, 256: 1, 300: 1}  # fmt: skip
HARD = 1.0001220703125


def mean_factor(count):
    """Nearest k / 2^n to 1 / count, n up to 6 + ceil(log2 count), the first of equals, times count."""
    best = None
    for n in range(7 + math.ceil(math.log2(count))):
        share = Fraction(round(Fraction(2**n, count)), 2**n)
        off = abs(share - Fraction(1, count))
        if best is None or off < best[0]:
            best = (off, share)
    return float(best[1] * count)


def look_for(factor, op, out="y"):
    """A function that looks for op -> <out>_Mul -> Mul by <out>_Scale -> <out>."""

    def look(model):
        nodes = {item.output[0]: item for item in model.graph.node}
        scales = {item.name: numpy_helper.to_array(item) for item in model.graph.initializer}
        if factor is None:
            return None if [item.op_type for item in model.graph.node] == [op] else "a factor"
        mul = nodes[out]
        if mul.op_type != "Mul" or list(mul.input) != [out + "_Mul", out + "_Scale"] or mul.name != out + "_Mul":
            return f"{mul}"
        if nodes[out + "_Mul"].op_type != op or scales[out + "_Scale"].shape != ():
            return f"{nodes[out + '_Mul']}"
        got = scales[out + "_Scale"]
        return None if got == np.float32(factor) else f"factor {got}, not {factor}"

    return look


def expect(passes, name, model, names, look=None, value=None, options="", changes=None, sizes={}):
    """value: what the outputs are, of those before."""
    result, count, _ = passes.run(model, names, options)
    problem = count if result is None else look(result) if look else None
    if result is not None and changes is not None and count != changes:
        problem = f"{count} changes, not {changes}"
    if result is not None and value and not problem:
        before, after = session(model), session(result)
        inputs = random_inputs(before, 3, sizes)
        for one, other in zip(before.run(None, inputs), after.run(None, inputs)):
            wanted = value(one, inputs)
            if wanted.shape != other.shape or not np.allclose(wanted, other, rtol=1e-6, atol=1e-6):
                problem = f"values are off by {np.abs(wanted - other).max()}"
    passes.note(name, problem)
    return result


def pools(passes):
    for kernel in sorted(TABLE):
        factor = TABLE[kernel]
        exact = mean_factor(kernel * kernel)
        special = {3: 0.984375, 5: 0.9765625, 6: 0.984375, 7: 21 * 49 / 1024, 14: 196 * 21 / 4096}
        wanted = 1 if kernel > 255 else special.get(kernel, exact)
        passes.note(f"the table at {kernel}", None if abs(wanted - factor) < 1e-9 else wanted)
        if kernel < 60:
            size = kernel + 2
            model = build([node("AveragePool", "x", "y", kernel_shape=[kernel] * 2)], {"x": [1, 2, size, size]}, {"y": None})
            expect(passes, f"AveragePool {kernel}", model, "average-pool-dpu", look_for(wanted if wanted != 1 else None, "AveragePool"),
                   lambda one, _: one * np.float32(wanted))  # fmt: skip
            expect(passes, f"AveragePool {kernel} compat", model, "average-pool-dpu", look_for(wanted, "AveragePool"), options="compat",
                   changes=1)  # fmt: skip
        model = build([node("GlobalAveragePool", "x", "y")], {"x": ["N", 2, kernel, kernel]}, {"y": None})
        expect(passes, f"GlobalAveragePool {kernel}", model, "ConvertAvgPoolToDPUVersion",
               look_for(wanted if wanted != 1 else None, "GlobalAveragePool"), lambda one, _: one * np.float32(wanted))  # fmt: skip
    for shape, op, kwargs in (([1, 2, 7, 5], "GlobalAveragePool", {}), ([1, 2, 7], "GlobalAveragePool", {}),
                              ([1, 2, "H", "H"], "GlobalAveragePool", {}), ([1, 2, 7, 7, 7], "GlobalAveragePool", {}),
                              ([1, 2, 7, 7], "AveragePool", {"kernel_shape": [3, 5]}), ([1, 2, 7], "AveragePool", {"kernel_shape": [3]}),
                              ([1, 2, 7, 7, 7], "AveragePool", {"kernel_shape": [3, 3, 3]})):  # fmt: skip
        model = build([node(op, "x", "y", **kwargs)], {"x": shape}, {"y": None})
        expect(passes, f"{op} {shape} stays", model, "average-pool-dpu", changes=0)
    for count in (1, 2, 3, 6, 7, 10, 49, 63, 100, 196, 1000, 12544):
        wanted = mean_factor(count)
        model = build([node("ReduceMean", "x", "y", axes=[1, -1], keepdims=0)], {"x": [2, 1, 3, count]}, {"y": None})
        expect(passes, f"ReduceMean {count}", model, "reduce-mean-dpu", look_for(wanted if wanted != 1 else None, "ReduceMean"),
               lambda one, _: one * np.float32(wanted))  # fmt: skip
        model = build([node("ReduceMean", "x a", "y")], {"x": [2, 1, 3, count]}, {"y": None}, {"a": np.array([3, 1])}, opset=18)
        expect(passes, f"ReduceMean {count}, axes as an input", model, "reduce-mean-dpu",
               look_for(wanted if wanted != 1 else None, "ReduceMean"), lambda one, _: one * np.float32(wanted))  # fmt: skip
    model = build([node("ReduceMean", "x", "y", axes=[1])], {"x": [2, "K"]}, {"y": None})
    expect(passes, "ReduceMean over an unknown size stays", model, "reduce-mean-dpu", changes=0, sizes={"K": 7})
    nodes = [node("GlobalAveragePool", "x", "g"), node("Relu", "g", "y"), node("Neg", "g", "z")]
    model = build(nodes, {"x": [1, 2, 7, 7]}, {"y": None, "z": None})
    result = expect(passes, "a factor inside", model, "average-pool-dpu", look_for(TABLE[7], "GlobalAveragePool", "g"), changes=1)
    expect(passes, "a factor stands already", result, "average-pool-dpu", changes=0)
    expect(passes, "excluded", model, "average-pool-dpu", options="exclude=g_node", changes=0)
    taken = build(nodes[:2] + [node("Neg", "g", "g_Mul"), node("Neg", "g", "g_Scale")], {"x": [1, 2, 7, 7]},
                  {"y": None, "g_Mul": None, "g_Scale": None})  # fmt: skip
    result = expect(passes, "taken names", taken, "average-pool-dpu", value=None, changes=1)
    muls = [item for item in result.graph.node if item.op_type == "Mul"]
    good = muls[0].name == muls[0].input[0] == "g_Mul_1" and muls[0].input[1] == "g_Scale_1" and muls[0].output[0] == "g"
    passes.note("taken names give others", None if good else muls)
    expect(passes, "taken names: a factor stands already", result, "average-pool-dpu", changes=0)


def activations(passes):
    for alpha, wanted in ((0.1, 26 / 256), (0.01, 3 / 256), (None, 3 / 256), (0.2, 51 / 256), (0.001953125, 0.0), (0.005859375, 2 / 256),
                          (0.25, 0.25), (-0.1, -26 / 256)):  # fmt: skip
        model = build([node("LeakyRelu", "x", "y", **({} if alpha is None else {"alpha": alpha}))], {"x": [2, 3]}, {"y": None})
        expect(passes, f"LeakyRelu {alpha}", model, "ConvertLeakyReluToDPUVersion", changes=int(alpha != 0.25),
               look=lambda m: None if [a.f for a in m.graph.node[0].attribute] == [wanted] else m.graph.node[0].attribute,
               value=lambda _, inputs: np.where(inputs["x"] > 0, inputs["x"], inputs["x"] * wanted).astype("f"))  # fmt: skip

    def hard(x):
        return np.clip(x / 6 + 0.5, 0, 1).astype("f")

    model = build([node("Sigmoid", "x", "y")], {"x": [2, 30]}, {"y": None})
    expect(passes, "Sigmoid", model, "sigmoid-to-hard-sigmoid", changes=1, value=lambda _, inputs: hard(inputs["x"]),
           look=lambda m: None if m.graph.node[0].op_type == "HardSigmoid" else "no HardSigmoid")  # fmt: skip
    expect(passes, "Sigmoid and HardSigmoid", model, "dpu", look_for(HARD, "HardSigmoid"),
           lambda _, inputs: hard(inputs["x"]) * np.float32(HARD))  # fmt: skip
    double = build([node("Sigmoid", "x", "y")], {"x": ([2], TensorProto.DOUBLE)}, {"y": (None, TensorProto.DOUBLE)})
    expect(passes, "Sigmoid of doubles stays", double, "sigmoid-to-hard-sigmoid", changes=0)
    for kwargs, changes in (({"alpha": 1 / 6}, 1), ({"alpha": 1 / 6, "beta": 0.5}, 1), ({"alpha": 0.16666667}, 1), ({}, 0),
                            ({"alpha": 0.2}, 0), ({"alpha": 1 / 6, "beta": 0.4}, 0), ({"alpha": 0.1667}, 0)):  # fmt: skip
        model = build([node("HardSigmoid", "x", "y", **kwargs)], {"x": [2, 30]}, {"y": None})
        expect(passes, f"HardSigmoid {kwargs}", model, "hard-sigmoid-dpu", look_for(HARD if changes else None, "HardSigmoid"),
               lambda one, _: one * np.float32(HARD) if changes else one, changes=changes)  # fmt: skip


def clips(passes):
    for opset in (7, 10, 11, 13, 22):
        for low, high, new in ((0.4, 5.6, (0, 6)), (None, 5.5, (-128, 6)), (0.5, None, (0, 127)), (None, None, (-128, 127)),
                               (-300.0, 200.0, (-128, 127)), (0.0, 6.0, None)):  # fmt: skip
            kwargs = {key: value for key, value in (("min", low), ("max", high)) if value is not None}
            words, constants = ["x"], {}
            if opset > 10:
                words += ["_" if low is None else "l", "_" if high is None else "h"]
                constants = {n: np.float32(v) for n, v in (("l", low), ("h", high)) if v is not None}
                kwargs = {}
            while words[-1] == "_":
                words.pop()
            model = build([node("Clip", " ".join(words), "y", **kwargs)], {"x": [40]}, {"y": None}, constants, opset=opset)
            expect(passes, f"Clip {opset} {low} {high}", model, "clip-dpu", changes=int(new is not None),
                   value=lambda one, inputs: np.clip(inputs["x"], *new) if new else one)  # fmt: skip


def softmaxes(passes):
    bf = ml_dtypes.bfloat16

    def short(x):
        return x.astype(bf).astype("f")

    def simulated(x, axis):
        x = short(x)
        k = np.floor(short(x * np.float32(1.4453125)))
        r = short(x - short(k * np.float32(0.69140625)))
        p = np.full_like(r, 0.21875)
        for number in (0.486328125, 1, 1):
            p = short(r * p + np.float32(number))
        e = short(np.exp2(k) * p)
        return short(e / short(e.sum(axis, keepdims=True)))

    for opset in (13, 17, 18, 22):
        for shape, axis in (([2, 10], None), ([2, 10], 1), ([2, 3, 4], 0), ([2, 3, 4, 5], -2)):
            model = build([node("Softmax", "x", "y", **({} if axis is None else {"axis": axis}))], {"x": shape}, {"y": None}, opset=opset)
            expect(passes, f"Softmax {opset} {shape} {axis}", model, "softmax-dpu", changes=1,
                   value=lambda one, inputs: simulated(inputs["x"], -1 if axis is None else axis))  # fmt: skip
            near = expect(passes, f"Softmax {opset} {shape} {axis} inside", model, "softmax-dpu")
            inside = [item.name for item in near.graph.node if "/dpu/" in item.name]
            passes.note("Softmax: parts are named", None if len(inside) == len(near.graph.node) else inside)
    model = build([node("Softmax", "x", "y")], {"x": [2, 10]}, {"y": None}, opset=12)
    expect(passes, "Softmax of opset 12 stays", model, "softmax-dpu", changes=0)
    nodes = [node("Softmax", "x", "s"), node("Relu", "s", "y")]
    result = expect(passes, "Softmax by default", build(nodes, {"x": [2, 10]}, {"y": None}), "dpu", changes=0)
    passes.note("Softmax stays by default", None if len(result.graph.node) == 2 else "taken apart")


if __name__ == "__main__":
    checks = Passes()
    for part in (pools, activations, clips, softmaxes):
        part(checks)
    checks.end()
