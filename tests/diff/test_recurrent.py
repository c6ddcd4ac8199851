"""LSTM, GRU and RNN with integers: what is in the model is decoded and computed by numpy beside ONNX Runtime's run.

`--approach weights`, dynamic and static, one and two directions, every attribute and optional input that ONNX Runtime
computes. DynamicQuantizeLSTM is compared with that of onnxruntime.quantization. What stays float says why.
"""

import collections
import contextlib
import logging
import os
import pathlib
import subprocess
import tempfile

import numpy as np
import onnx
import onnxruntime
from dump import BUILD, Score, some
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

onnxruntime.set_default_logger_severity(4)
logging.disable(logging.WARNING)
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
STEPS, BATCH, INPUTS, HIDDEN, SAMPLES = 9, 2, 12, 16, 6
OPTIONS = {
    "weights": ["--approach", "weights", "-w", "int8"],
    "weights channel": ["--approach", "weights", "-w", "int8", "--weight-granularity", "channel"],
    "weights group": ["--approach", "weights", "-w", "int4", "--weight-granularity", "group", "--group-size", "4",
                      "--opset", "21"],
    "dynamic": ["--approach", "dynamic", "-w", "int8", "--extra-op-types", "GRU,RNN"],
    "dynamic channel": ["--approach", "dynamic", "-w", "int8", "--weight-granularity", "channel", "--extra-op-types",
                        "GRU,RNN"],
    "static": ["-p", "U8S8_AAWS", "--extra-op-types", "LSTM,GRU,RNN"],
    "static channel": ["-p", "U8S8_AAWS", "--extra-op-types", "LSTM,GRU,RNN", "--weight-granularity", "channel"],
    "static 16": ["-p", "A16W8", "--extra-op-types", "LSTM,GRU,RNN", "--weight-granularity", "channel"],
}
LEAST = {"weights": 25, "weights channel": 34, "weights group": 13, "dynamic": 25, "dynamic channel": 31, "static": 24,
         "static channel": 28, "static 16": 33}


# --- Networks ---


def case(op, direction="forward", bias=True, opset=17, attributes=(), lengths=False, initial=None, peepholes=False,
         half=False, twice=False, seed=0):
    """A model of one node, or two that share their weights, and samples."""
    rng = np.random.default_rng([seed, *map(ord, op + direction)])
    kind = "f2" if half else "f4"
    directions, gates = 2 if direction == "bidirectional" else 1, GATES[op]
    rows = rng.uniform(0.05, 0.6, (directions, gates * HIDDEN, 1))
    constants = {"w": rng.normal(size=(directions, gates * HIDDEN, INPUTS)) * rows,
                 "r": rng.normal(size=(directions, gates * HIDDEN, HIDDEN)) * rows[:, ::-1]}
    inputs = {"x": (STEPS, BATCH, INPUTS)}
    names = ["x", "w", "r"] + [""] * 5
    if bias:
        names[3], constants["b"] = "b", rng.normal(0, 0.1, (directions, 2 * gates * HIDDEN))
    if lengths:
        names[4] = "lengths"
    state = (directions, BATCH, HIDDEN)
    for slot, name in ((5, "h0"), (6, "c0")) if initial and op == "LSTM" else ((5, "h0"),) if initial else ():
        names[slot] = name
        if initial == "constant":
            constants[name] = rng.normal(0, 0.5, state)
        else:
            inputs[name] = state
    if peepholes:
        names[7], constants["p"] = "p", rng.normal(0, 0.2, (directions, 3 * HIDDEN))
    constants = {name: value.astype(kind) for name, value in constants.items()}
    if lengths:
        constants["lengths"] = np.array([STEPS, STEPS - 4], "i4")
    while not names[-1]:
        names.pop()
    outputs = ["y", "yh", "yc"][:3 if op == "LSTM" else 2]
    nodes = [helper.make_node(op, names, outputs, "one", hidden_size=HIDDEN, direction=direction, **dict(attributes))]
    if twice:
        inputs["x2"] = inputs["x"]
        nodes.append(helper.make_node(op, ["x2", *names[1:]], ["z", "zh"], "two", hidden_size=HIDDEN,
                                      direction=direction, **dict(attributes)))
        outputs += ["z", "zh"]
    return model_of(nodes, inputs, outputs, constants, opset, kind), [
        {name: rng.normal(0, 1 if name[0] == "x" else 0.4, shape).astype(kind) for name, shape in inputs.items()}
        for _ in range(SAMPLES)]


def model_of(nodes, inputs, outputs, constants, opset=17, kind="f4"):
    elem = TensorProto.FLOAT16 if kind == "f2" else TensorProto.FLOAT
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info(n, elem, s) for n, s in inputs.items()],
                              [helper.make_tensor_value_info(n, elem, [None] * (4 if n in "yz" else 3)) for n in outputs],
                              [numpy_helper.from_array(v, n) for n, v in constants.items()])
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", opset)])


def cases():
    for op in GATES:
        yield op, case(op)
        yield f"{op} reverse, no bias", case(op, "reverse", bias=False)
        yield f"{op} both directions", case(op, "bidirectional", opset=13)
        yield f"{op} lengths", case(op, "bidirectional", lengths=True)
        yield f"{op} constant states", case(op, initial="constant")
        yield f"{op} given states", case(op, "bidirectional", initial="input")
        yield f"{op} clip", case(op, attributes={"clip": 0.7})
        yield f"{op} float16", case(op, half=True)
        yield f"{op} twice", case(op, "bidirectional", twice=True)
    yield "LSTM peepholes", case("LSTM", "bidirectional", peepholes=True)
    yield "LSTM forget from input", case("LSTM", attributes={"input_forget": 1})
    yield "LSTM functions", case("LSTM", attributes={"activations": ["HardSigmoid", "Relu", "Tanh"]})
    yield "GRU linear before reset", case("GRU", "bidirectional", attributes={"linear_before_reset": 1})
    yield "GRU functions", case("GRU", attributes={"activations": ["HardSigmoid", "Relu"]})
    yield "RNN functions", case("RNN", attributes={"activations": ["Relu"]})


# --- What they compute ---

FUNCTIONS = {"Sigmoid": lambda x: 1 / (1 + np.exp(-x)), "Tanh": np.tanh, "Relu": lambda x: np.maximum(x, 0),
             "HardSigmoid": lambda x: np.clip(0.2 * x + 0.5, 0, 1)}


def cell(op, a, f, at, direction):
    """A function of a step's input and states; a: weights by name, f: the three functions."""
    w, r = a["w"][direction], a["r"][direction]
    gates = GATES[op]
    wb, rb = np.split(a["b"][direction] if "b" in a else np.zeros(2 * gates * HIDDEN), 2)
    limit = at.get("clip", np.inf)

    def clip(x):
        return np.clip(x, -limit, limit)

    if op == "RNN":
        return lambda x, h, c: (f[0](clip(x @ w.T + h @ r.T + wb + rb)), c)
    if op == "GRU":
        wz, wr, wh = np.split(w, 3)
        rz, rr, rh = np.split(r, 3)
        bz, br, bh = np.split(wb, 3)
        cz, cr, ch = np.split(rb, 3)

        def gru(x, h, c):
            z, reset = f[0](clip(x @ wz.T + h @ rz.T + bz + cz)), f[0](clip(x @ wr.T + h @ rr.T + br + cr))
            old = reset * (h @ rh.T + ch) if at.get("linear_before_reset") else (reset * h) @ rh.T + ch
            return (1 - z) * f[1](clip(x @ wh.T + bh + old)) + z * h, c

        return gru
    pi, po, pf = np.split(a["p"][direction] if "p" in a else np.zeros(3 * HIDDEN), 3)

    def lstm(x, h, c):
        i, o, forget, new = np.split(x @ w.T + h @ r.T + wb + rb, 4, axis=-1)
        i = f[0](clip(i + pi * c))
        forget = 1 - i if at.get("input_forget") else f[0](clip(forget + pf * c))
        c = forget * c + i * f[1](clip(new))
        return f[0](clip(o + po * c)) * f[2](c), c

    return lstm


def computed(op, a, at, x):
    """All outputs, in double; a: the other inputs by name."""
    a = {name: np.asarray(value, "i4" if name == "lengths" else "f8") for name, value in a.items()}
    directions = len(a["w"])
    default = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}[op]
    y = np.zeros((STEPS, directions, BATCH, HIDDEN))
    last = np.zeros((2, directions, BATCH, HIDDEN))
    for d in range(directions):
        step = cell(op, a, [FUNCTIONS[name] for name in at.get("activations", default)], at, d)
        for b in range(BATCH):
            length = a["lengths"][b] if "lengths" in a else STEPS
            back = d == 1 or at["direction"] == "reverse"
            h, c = (a[name][d, b] if name in a else np.zeros(HIDDEN) for name in ("h0", "c0"))
            for t in range(length)[::-1 if back else 1]:
                h, c = step(np.asarray(x[t, b], "f8"), h, c)
                y[t, d, b] = h
            last[0, d, b], last[1, d, b] = h, c
    return [y, last[0], last[1]][:3 if op == "LSTM" else 2]


# --- What is in a model ---


def run(model, feeds, level="ORT_ENABLE_ALL"):
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
    source = model if isinstance(model, str) else model.SerializeToString()
    return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"]).run(None, feeds)


def sqnr(wanted, found):
    noise = sum(np.sum((w.astype("f8") - f)**2) for w, f in zip(wanted, found))
    return 10 * np.log10(sum(np.sum(w.astype("f8")**2) for w in wanted) / noise) if noise else np.inf


def along(values, scale, zero, axis):
    """Levels as numbers; scales of one axis, of blocks along it, or one."""
    zero = np.zeros_like(scale) if zero is None else zero
    if scale.ndim == 1 and scale.size > 1:
        shape = [-1 if i == axis else 1 for i in range(values.ndim)]
        scale, zero = scale.reshape(shape), zero.reshape(shape)
    elif scale.ndim > 1:
        times = -(-values.shape[axis] // scale.shape[axis])
        scale, zero = (np.repeat(v, times, axis)[..., :values.shape[axis]] for v in (scale, zero))
    return (values.astype("f8") - zero) * scale


class Reader:
    """Finds the values that a node's inputs stand for."""

    def __init__(self, model):
        self.constants = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
        self.makers = {name: node for node in model.graph.node for name in node.output}

    def constant(self, name):
        node = self.makers.get(name)
        if node is None:
            return self.constants.get(name)
        if node.op_type == "Reshape":
            return self.constant(node.input[0]).reshape(self.constants[node.input[1]])
        if node.op_type == "Cast":
            return self.constant(node.input[0])
        assert node.op_type == "DequantizeLinear", node.op_type
        levels, scale = self.constants.get(node.input[0]), self.constants[node.input[1]]
        zero = self.constants[node.input[2]] if len(node.input) > 2 else None
        axis = next((a.i for a in node.attribute if a.name == "axis"), 1)
        return None if levels is None else along(levels, scale, zero, axis)

    def through_pair(self, name, values):
        """An activation behind its pair; as it is without one."""
        node = self.makers.get(name)
        while node is not None and node.op_type == "Cast":
            name, node = node.input[0], self.makers.get(node.input[0])
        if node is None or node.op_type != "DequantizeLinear":
            return values
        scale, zero = (self.constants[i] for i in node.input[1:3])
        limits = np.iinfo(zero.dtype)
        levels = np.clip(np.rint(np.asarray(values, "f4") / scale) + zero, limits.min, limits.max)
        return (levels - zero) * np.float64(scale)


def recurrent(model):
    return [n for n in model.graph.node if n.op_type in (*GATES, "DynamicQuantizeLSTM")]


def attributes_of(node):
    found = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    found = {k: v.decode() if isinstance(v, bytes) else v for k, v in found.items()}
    return {k: [x.decode() for x in v] if k == "activations" else v for k, v in found.items()}


def of_node(model, node, feeds):
    """What numpy computes of a node with the weights in the model; None of an output that has no pair."""
    reader, slots = Reader(model), ["x", "w", "r", "b", "lengths", "h0", "c0", "p"]
    op = "LSTM" if node.op_type == "DynamicQuantizeLSTM" else node.op_type
    given = dict(zip(slots, node.input))
    source = "x2" if node.name.startswith("two") else "x"
    inputs = {}
    for name, of in given.items():
        if name == "x" or not of:
            continue
        inputs[name] = reader.constant(of)
        if inputs[name] is None:
            inputs[name] = reader.through_pair(of, feeds[name])
    if node.op_type == "DynamicQuantizeLSTM":
        for name, at in (("w", 8), ("r", 10)):
            inputs[name] = levels_of_lstm(reader, node, name).transpose(0, 2, 1) * scales_of_lstm(reader, node, at)
    x = reader.through_pair(given["x"], feeds[source])
    return computed(op, inputs, attributes_of(node), x)


def levels_of_lstm(reader, node, name):
    """[direction][input][row], without zero points."""
    slot, at = (1, 9) if name == "w" else (2, 11)
    zero = reader.constants[node.input[at]].astype("i4").reshape(len(reader.constants[node.input[slot]]), 1, -1)
    return reader.constants[node.input[slot]].astype("i4") - zero


def scales_of_lstm(reader, node, at):
    scale = reader.constants[node.input[at]]
    return scale.reshape(len(scale), -1, 1).astype("f8")


def behind_pairs(model, outputs, found):
    """Outputs as their pairs leave them."""
    reader = Reader(model)
    return [reader.through_pair(name, value) for name, value in zip(outputs, found)]


# --- Tests ---


def quantize(folder, model, options, data):
    onnx.save(model, f"{folder}/in.onnx")
    for i, sample in enumerate(data):
        np.savez(f"{folder}/data/{i}.npz", **sample)
    words = [BUILD / "baryon", "quantize", f"{folder}/in.onnx", "-o", f"{folder}/out.onnx", "-f", *options]
    if "-p" in options:
        words += ["-d", f"{folder}/data", "--no-judge"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.stderr.strip() if done.returncode else f"{folder}/out.onnx"


def check(score, what, settings, model, made, data):
    levels = [run(made, data[0], level) for level in ("ORT_DISABLE_ALL", "ORT_ENABLE_ALL")]
    decibels = sqnr(run(model, data[0]), levels[1])
    score.check(sqnr(*levels) > 45, f"{what}, {settings}: {sqnr(*levels):.1f} dB between levels")
    score.check(decibels > LEAST[settings], f"{what}, {settings}: {decibels:.1f} dB")
    graph = onnx.load(made)
    onnx.checker.check_model(graph)
    wanted = [v for node in recurrent(graph) for v in of_node(graph, node, data[0])[:3 if node.name[:3] == "one" else 2]]
    wanted = behind_pairs(graph, [o.name for o in graph.graph.output], wanted)
    same = sqnr(wanted, levels[1])
    runtime = "DynamicQuantizeLSTM" in [n.op_type for n in recurrent(graph)]
    least = 28 if runtime else 38 if settings in ("static", "static channel") else 60
    score.check(same > least, f"{what}, {settings}: {same:.1f} dB between numpy and the model")
    kept = [i.name for i in graph.graph.initializer if i.data_type in (1, 10) and len(i.dims) == 3 and i.dims[1] > BATCH]
    score.check(not kept or settings == "weights group", f"{what}, {settings}: {kept} are still float")
    check_steps(score, f"{what}, {settings}", model, graph)


def check_steps(score, what, model, graph):
    """No weight is further from the float one than half of its row's step; rows of both directions have their own."""
    reader, before = Reader(graph), Reader(model)
    for node in recurrent(graph):
        for slot, name, at in ((1, "w", 8), (2, "r", 10)):
            exact = before.constants[name].astype("f8")
            if node.op_type == "DynamicQuantizeLSTM":
                values = levels_of_lstm(reader, node, name).transpose(0, 2, 1) * scales_of_lstm(reader, node, at)
            else:
                values = reader.constant(node.input[slot])
            row = np.abs(exact).max(2, keepdims=True) if "channel" in what else np.abs(exact).max()
            step = row / (7 if "group" in what else 127)
            far = np.max(np.abs(values - exact) / step)
            score.check(far < 0.6 if "channel" in what else far < 1.1, f"{what}: {name} is {far:.2f} steps off")


def all_cases(score, folder):
    for what, (model, data) in some(list(cases())):
        op = what.split()[0]
        reference = [v for node in recurrent(model) for v in of_node(model, node, data[0])[:3 if node.name == "one" else 2]]
        exact = sqnr(reference, run(model, data[0]))
        score.check(exact > (50 if "float16" in what else 90), f"{what}: numpy and the float model: {exact:.1f} dB")
        for settings, options in OPTIONS.items():
            made = quantize(folder, model, options, data)
            if not made.endswith(".onnx"):
                score.check(False, f"{what}, {settings}: {made}")
                continue
            check(score, what, settings, model, made, data)
            count = collections.Counter(n.op_type for n in onnx.load(made).graph.node)
            wanted = "DynamicQuantizeLSTM" if op == "LSTM" and "dynamic" in settings else op
            score.check(count[wanted] == len(recurrent(model)), f"{what}, {settings}: {count}")


def beside_runtime(score, folder):
    """Integers, scales and attributes of DynamicQuantizeLSTM are those of onnxruntime.quantization."""
    for what, (model, data) in (item for item in cases() if item[0].startswith("LSTM")):
        if "float16" in what or "twice" in what:
            continue  # it leaves float16 float, and transposes shared weights twice
        for channels in (False, True):
            made = quantize(folder, model, OPTIONS["dynamic channel" if channels else "dynamic"], data)
            onnx.save(model, f"{folder}/theirs_in.onnx")
            with open(os.devnull, "w", encoding="utf-8") as nothing, contextlib.redirect_stdout(nothing):
                quantize_dynamic(f"{folder}/theirs_in.onnx", f"{folder}/theirs.onnx", weight_type=QuantType.QInt8,
                                 per_channel=channels)
            pair = [onnx.load(p) for p in (made, f"{folder}/theirs.onnx")]
            for one, other in zip(*map(recurrent, pair)):
                ours, theirs = (Reader(m) for m in pair)
                same = attributes_of(one) == attributes_of(other)
                score.check(same, f"{what}: {attributes_of(one)} and {attributes_of(other)}")
                for name, at in (("w", 8), ("r", 10)):
                    levels = levels_of_lstm(ours, one, name), levels_of_lstm(theirs, other, name)
                    scales = scales_of_lstm(ours, one, at), scales_of_lstm(theirs, other, at)
                    score.check(np.array_equal(*levels), f"{what}: {np.max(np.abs(levels[0] - levels[1]))} levels apart")
                    score.check(np.allclose(*scales, rtol=1e-6), f"{what}: scales of {name} differ")


def stays_float(score, folder):
    """Each with its reason."""
    dynamic, weights = OPTIONS["dynamic"], OPTIONS["weights"]
    for op in GATES:
        model, data = case(op)
        for name in ("w", "r"):
            free = onnx.ModelProto.FromString(model.SerializeToString())
            constant = next(i for i in free.graph.initializer if i.name == name)
            free.graph.initializer.remove(constant)
            free.graph.input.append(helper.make_tensor_value_info(name, 1, constant.dims))
            said = quantize(folder, free, dynamic, [])
            score.check("its weights are not constant" in said, f"{op} without {name}: {said}")
    for op in ("GRU", "RNN"):
        said = quantize(folder, case(op)[0], ["--approach", "dynamic"], [])
        score.check(f"ONNX Runtime has no {op} that quantizes at run time" in said, f"{op}: {said}")
    model, _ = case("LSTM", attributes={"layout": 1})
    said = quantize(folder, model, dynamic, [])
    score.check("the batch must not be its first axis" in said, f"LSTM with layout: {said}")
    made = quantize(folder, model, weights, [])
    score.check(made.endswith(".onnx"), f"weights of an LSTM with layout: {made}")


def main():
    score = Score()
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "data").mkdir()
        for test in (all_cases, beside_runtime, stays_float):
            test(score, folder)
    raise SystemExit(score.finish())


if __name__ == "__main__":
    main()
