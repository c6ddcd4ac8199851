"""Float16 models to integers: what `baryon quantize` writes is valid, opens and runs in ONNX Runtime, and is
near the float model; scales of float16 are what integers were rounded by."""

import collections
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper
from pass_check import build, node, session

BARYON = Path(os.environ.get("BARYON", "build/baryon"))
F32, F16 = TensorProto.FLOAT, TensorProto.FLOAT16
rng = np.random.default_rng(3)


def network(opset=17, factor=1.0):
    """Three layers of float16 with inputs and outputs of it."""

    def weights(*shape):
        return (rng.normal(size=shape) / np.sqrt(np.prod(shape[1:])) * factor).astype(np.float16)

    nodes = [node("Conv", "x w1 b1", "a", pads=[1, 1, 1, 1], name="conv1"), node("Relu", "a", "r", name="relu1"),
             node("Conv", "r w2 b2", "c", pads=[1, 1, 1, 1], name="conv2"), node("Relu", "c", "d", name="relu2"),
             node("Conv", "d w3 b3", "e", name="conv3"), node("Sigmoid", "e", "y", name="sigmoid")]  # fmt: skip
    constants = {"w1": weights(8, 3, 3, 3), "w2": weights(8, 8, 3, 3), "w3": weights(4, 8, 1, 1)}
    constants |= {name: (rng.normal(size=size) / 8).astype(np.float16) for name, size in (("b1", 8), ("b2", 8), ("b3", 4))}
    return build(nodes, {"x": ([1, 3, 16, 16], F16)}, {"y": ([1, 4, 16, 16], F16)}, constants, opset=opset)


class Flow:
    def __init__(self, folder):
        self.folder = Path(folder)
        self.passed = self.failed = 0

    def note(self, name, problem):
        if problem:
            print(f"FAIL {name}: {problem}")
        self.passed += not problem
        self.failed += bool(problem)

    def run(self, *words):
        done = subprocess.run([BARYON, *map(str, words)], capture_output=True, text=True, check=False, timeout=900)
        return None if done.returncode == 0 else done.stderr

    def samples(self):
        data = self.folder / "data"
        if not data.exists():
            data.mkdir()
            for i in range(8):
                np.savez(data / f"{i}.npz", x=rng.normal(size=(1, 3, 16, 16)).astype(np.float16))
        return data

    def quantize(self, model, *options):
        """The quantized model, or the message."""
        before, after = self.folder / "in.onnx", self.folder / "out.onnx"
        onnx.save(model, before)
        problem = self.run("quantize", "--no-judge", before, "-o", after, "-d", self.samples(), "--cle", "off", "--bias-correction", "false", "--quiet", "--force", *options)
        return problem or onnx.load(after)

    def case(self, name, model, options, wanted, casts, decibels):
        """wanted: types of scales, each with the number of pairs' halves."""
        result = self.quantize(model, *options)
        self.note(name, result if isinstance(result, str) else self.look(model, result, wanted, casts, decibels))

    def look(self, model, result, wanted, casts, decibels):
        onnx.checker.check_model(result, full_check=True)
        constants = {i.name: i for i in result.graph.initializer}
        scales = collections.Counter(constants[n.input[1]].data_type for n in result.graph.node if "Linear" in n.op_type)
        if dict(scales) != wanted:
            return f"scales are {dict(scales)}, not {wanted}"
        found = sum(n.op_type == "Cast" for n in result.graph.node)
        if found != casts:
            return f"{found} Casts, not {casts}"
        ports = [p.type.tensor_type.elem_type for p in (*result.graph.input, *result.graph.output)]
        if ports != [F16, F16]:
            return f"inputs and outputs are {ports}"
        return self.rounded(model, result, constants) or self.near(model, result, decibels)

    @staticmethod
    def rounded(model, result, constants):
        """Each weight is within half a step of what its integers and its scale mean, or at the last level."""
        floats = {i.name: numpy_helper.to_array(i).astype(np.float64) for i in model.graph.initializer}
        for n in result.graph.node:
            name = n.input[0].removesuffix("_quantized")
            if n.op_type != "DequantizeLinear" or n.input[0] not in constants or name not in floats:
                continue
            integers, scale, zero = (numpy_helper.to_array(constants[i]).astype(np.float64) for i in n.input)
            if not (scale > 0).all():
                return f"a scale of {name} is {scale.min()}"
            off = np.abs(floats[name] - (integers - zero) * scale)
            if (off > scale * 0.5001)[np.abs(integers) < 127].any():
                return f"{name} is off by {(off / scale).max():g} steps"
        return None

    def near(self, model, result, decibels):
        one, other = session(model), session(result)
        signal = noise = 0.0
        for path in sorted(self.samples().glob("*.npz")):
            x = np.load(path)["x"]
            a, b = (np.asarray(s.run(None, {"x": x})[0], np.float64) for s in (one, other))
            signal, noise = signal + (a**2).sum(), noise + ((a - b) ** 2).sum()
        found = 10 * np.log10(signal / noise)
        return None if found > decibels else f"{found:.1f} dB, {decibels} are wanted"


def whole(flow):
    """All of it in float16: float32 between inputs and outputs, or float16 throughout."""
    model = network()
    # Weights, biases, both halves of the pairs of activations; A8W8 has no integers for biases of float16.
    for preset, count, kept in (("XINT8", 16, 14), ("A8W8", 16, 11), ("VINT8", 20, 18)):
        wanted = {F32: count}
        flow.case(f"{preset}", model, ["-p", preset], wanted, 2, 20)
        flow.case(f"{preset}, asked for", model, ["-p", preset, "--extra", "QuantizeFP16=True"], wanted, 2, 20)
        flow.case(f"{preset}, kept", network(21), ["-p", preset, "--half-floats", "keep", "--exclude-op-type", "Sigmoid"],
                  {F16: kept}, 0, 20)  # fmt: skip
    flow.case("excluded nodes stay", model, ["-p", "XINT8", "-x", "conv3,sigmoid"], {F32: 10}, 2, 20)
    # ONNX has pairs of float16 from opset 19 on, com.microsoft has them before.
    flow.case("kept, old opset", model, ["-p", "XINT8", "--extra", "UseFP32Scale=False"], {F16: 16}, 0, 20)
    small = network(21, factor=2e-5)
    flow.case("kept, small weights", small, ["-p", "A8W8", "--half-floats", "keep"], {F16: 13}, 0, 20)
    flow.case("kept, small weights, powers of two", small, ["-p", "XINT8", "--half-floats", "keep"], {F16: 16}, 0, 20)


def mixed(flow):
    """A part in float32 as `baryon convert` makes it."""
    for opset in (17, 21):
        before, part = flow.folder / "half.onnx", flow.folder / "part.onnx"
        onnx.save(network(opset), before)
        problem = flow.run("convert", before, "-o", part, "--to", "fp32", "--only-between", "conv1", "relu2", "--force", "--quiet")
        flow.note(f"a part, opset {opset}", problem)
        model = onnx.load(part)
        flow.case(f"mixed, opset {opset}", model, ["-p", "XINT8", "-x", "conv3,sigmoid"], {F32: 10}, 2, 20)
        flow.case(f"mixed, all float32, opset {opset}", model, ["-p", "XINT8", "--half-floats", "float32"], {F32: 16}, 2, 20)


def main():
    with tempfile.TemporaryDirectory() as folder:
        flow = Flow(folder)
        whole(flow)
        mixed(flow)
    print(f"{flow.passed} passed, {flow.failed} failed")
    raise SystemExit(bool(flow.failed))


main()
