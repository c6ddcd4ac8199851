"""Weights of 2 and 3 bits: integers, levels and bytes of the written file beside NumPy, and what ONNX Runtime
computes with them at every level of optimization.
"""

import itertools
import json
import pathlib
import subprocess
import tempfile

import numpy as np
import onnx
import onnxruntime
from dump import BUILD, Score
from onnx import helper, numpy_helper
from test_round import Net, Written, smooth

onnxruntime.set_default_logger_severity(4)
BITS = {"int2": 2, "uint2": 2, "int3": 3, "uint3": 3}
OPTIMIZATIONS = [onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL,
                 onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC,
                 onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
                 onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL]
PARTS = {"tensor": [], "channel": ["--weight-granularity", "channel"],
         "group": ["--weight-granularity", "group", "--group-size", "16"]}
# What a product of int8 inputs, which ONNX Runtime makes of MatMul behind small integers, may be off by.
NOISE = 0.03


def save(path, opset):
    """A model with every layer that is solved, and a matrix whose values do not fill whole bytes."""
    net = Net([1, 4, 9, 9], opset, seed=21)
    net.layer("Conv", "conv", (12, 4, 3, 3), 12, pads=[1, 1, 1, 1], strides=[2, 2])
    net.layer("ConvTranspose", "up", (12, 6, 3, 3), 6, strides=[2, 2])
    net.layer("Conv", "deep", (6, 1, 2, 2), 6, group=6)
    net.add("Flatten", "flat").layer("Gemm", "gemm", (33, 600), 33, transB=1)
    net.layer("MatMul", "even", (33, 48), relu=False)
    net.layer("MatMul", "matmul", (48, 49), relu=False)
    net.layer("Gemm", "odd", (49, 7), 7, relu=False).save(path)
    onnx.save(onnx.shape_inference.infer_shapes(onnx.load(path)), path)  # the checker wants shapes of outputs


# ONNX Runtime mixes up 2 bits of these: columns that do not fill bytes.
MISREAD = ("matmul", "odd")


def stored_as(kind, opset, domain, name, alone=True):
    """The smallest type that DequantizeLinear of the domain has in the opset; alone: without activations, beside
    which ONNX Runtime takes no 2 bits."""
    if name in MISREAD or not alone:
        opset = min(opset, 24)
    sign, bits = kind[:-1], BITS[kind]
    if domain == "microsoft":
        return f"{sign}4"
    return f"{sign}2" if bits == 2 and opset >= 25 else f"{sign}4" if opset >= 21 else f"{sign}8"


def unpacked(tensor, stored):
    """Integers out of the bytes of the file, the first of a byte in the low bits."""
    bits, count = int(stored.lstrip("uint")), int(np.prod(tensor.dims))
    raw = np.frombuffer(tensor.raw_data, "u1")
    codes = (raw[:, None] >> np.arange(0, 8, bits, dtype="u1") & (2**bits - 1 if bits < 8 else 255)).ravel()
    spare, codes = codes[count:], codes[:count].astype("i8")
    if stored[0] == "i":
        codes -= (codes >= 2**(bits - 1)) * 2**bits
    return codes.reshape(tensor.dims), len(raw) == -(-count * bits // 8) and not spare.any()


def levels_of(kind):
    """Symmetric ones as those of other types: without the lowest."""
    return (1 - 2**(BITS[kind] - 1), 2**(BITS[kind] - 1) - 1) if kind[0] == "i" else (0, 2**BITS[kind] - 1)


class Case:
    def __init__(self, score, folder, what):
        self.score, self.folder, self.what = score, folder, what
        self.model, self.made = f"{folder}/model.onnx", f"{folder}/made.onnx"

    def check(self, good, what):
        return self.score.check(bool(good), f"{self.what}: {what}")

    def baryon(self, *words):
        return subprocess.run([BUILD / "baryon", *words], capture_output=True, text=True)

    def quantize(self, *options):
        done = self.baryon("quantize", "--no-judge", self.model, "-o", self.made, "-f", "-q", *options)
        if not self.check(done.returncode == 0, done.stderr):
            return False
        self.float, self.written = Written(self.model), Written(self.made)
        onnx.checker.check_model(self.made, full_check=True)
        return True

    def weights(self):
        """(node, tensor of integers, DequantizeLinear) of the layers."""
        for node in self.float.graph.node:
            if len(node.input) > 1 and node.input[1] in self.float.constants:
                other = self.written.nodes[node.name]
                dequantize = self.written.makers[other.input[1]]
                yield node, self.written.constants[dequantize.input[0]], dequantize

    def integers(self, kind, opset, domain, alone=True):
        """Those that NumPy gets from the scales in the file."""
        low, high = levels_of(kind)
        for node, tensor, _ in self.weights():
            stored = stored_as(kind, opset, domain, node.name, alone)
            wanted = getattr(onnx.TensorProto, stored.upper())
            if not self.check(tensor.data_type == wanted, f"{node.name}: type {tensor.data_type}, not {stored}"):
                continue
            got, full = unpacked(tensor, stored)
            _, scale, zero, _ = self.written.integers(self.written.nodes[node.name].input[1], 0)
            values = self.float.array(node.input[1])
            level = np.clip(np.rint(values / scale.astype("f4")) + zero, low, high)
            self.check(full, f"{node.name}: bytes that nothing fills")
            self.check(np.array_equal(got, level), f"{node.name}: {np.sum(got != level)} other integers")
            self.check(got.min() == low or got.max() == high, f"{node.name}: levels {got.min()} to {got.max()}")

    def told(self, kind, opset, domain, *options):
        """Plan and report name levels and bytes as they are."""
        types = {}
        for node, _, _ in self.weights():
            stored = stored_as(kind, opset, domain, node.name)
            types[node.input[1]] = kind if kind == stored else f"{kind} in {stored}"
        report = f"{self.folder}/report.json"
        if not self.quantize(*options, "--report", report):
            return
        told = json.loads(pathlib.Path(report).read_text())
        plan = json.loads(self.baryon("plan", self.model, *options, "--json").stdout)
        for one in (told, plan):
            rows = {row["name"]: row["type"].split(",")[0] for row in one["tensors"]}
            self.check({name: rows.get(name) for name in types} == types, f"{rows}, not {types}")
        size = pathlib.Path(self.made).stat().st_size
        self.check(size in found(told), f"{size} bytes are told")

    def runs(self):
        """As the float model whose weights are what the integers mean."""
        sample = smooth(self.float_shape())[0]
        wanted = self.run(self.meant(), OPTIMIZATIONS[0], sample)
        for level in OPTIMIZATIONS:
            got = self.run(self.written.model, level, sample)
            off = np.abs(got - wanted).max() / np.abs(wanted).max()
            self.check(off < (1e-5 if level == OPTIMIZATIONS[0] else NOISE), f"{level}: off by {off:.2g}")

    def float_shape(self):
        return [one.dim_value for one in self.float.graph.input[0].type.tensor_type.shape.dim]

    def meant(self):
        """Where activations are quantized too, the model itself without rewriting is what is meant."""
        if any(node.op_type == "QuantizeLinear" for node in self.written.graph.node):
            return self.written.model
        model = onnx.ModelProto()
        model.CopyFrom(self.float.model)
        places = {one.name: one for one in model.graph.initializer}
        for node, _, _ in self.weights():
            integers, scale, zero, _ = self.written.integers(self.written.nodes[node.name].input[1], 0)
            values = ((integers - zero) * scale).astype("f4")
            places[node.input[1]].CopyFrom(numpy_helper.from_array(values, node.input[1]))
        return model

    def run(self, model, level, sample):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = level
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(model.SerializeToString(), options)
        return session.run(None, {"image": sample})[0]


def found(told):
    """All numbers of a report."""
    if isinstance(told, dict):
        return found(list(told.values()))
    if isinstance(told, list):
        return set().union(*map(found, told))
    return {told} if isinstance(told, (int, float)) else set()


def written(score):
    for kind, (part, options), (opset, domain) in itertools.product(
            BITS, PARTS.items(), ((17, "auto"), (17, "microsoft"), (21, "auto"), (25, "onnx"), (25, "microsoft"))):
        if part == "group" and opset < 21:
            continue
        with tempfile.TemporaryDirectory() as folder:
            case = Case(score, folder, f"{kind} {part} {opset} {domain}")
            save(case.model, opset)
            given = ["--approach", "weights", "-w", kind, "--domain", domain, *options]
            if case.quantize(*given):
                case.integers(kind, opset, domain)
                case.runs()
                case.told(kind, opset, domain, *given)


def with_activations(score):
    """Between activations of 8 and 16 bits, biases of the same type too."""
    for kind, opset, (what, (domain, more)) in itertools.product(
            BITS, (17, 21, 25), {"A8": ("microsoft", ["--preset", "A8W8"]),
                                 "A16": ("microsoft", ["--preset", "A16W8", "--bias", "as-weight"]),
                                 "U8": ("auto", ["--preset", "U8S8_AAWS"])}.items()):
        with tempfile.TemporaryDirectory() as folder:
            case = Case(score, folder, f"{kind} {what} {opset}")
            save(case.model, opset)
            np.save(f"{folder}/data.npy", np.concatenate(smooth([1, 4, 9, 9])))
            given = [*more, "-w", kind, "--cle", "off", "--smooth", "off", "--split-outliers", "off", "--weight-method", "minmax", "--weight-rows-auto=false", "--data", f"{folder}/data.npy"]
            if case.quantize(*given):
                case.integers(kind, opset, domain, alone=False)
                case.runs()


def commands(score):
    """What reads models takes them as they are."""
    for kind, opset in (("int2", 25), ("uint2", 25), ("int3", 21), ("uint3", 17)):
        with tempfile.TemporaryDirectory() as folder:
            case = Case(score, folder, f"{kind} {opset} through commands")
            save(case.model, opset)
            sample = smooth([1, 4, 9, 9])[0]
            np.save(f"{folder}/x.npy", sample)
            if not case.quantize("--approach", "weights", "-w", kind, *PARTS["channel"]):
                continue
            made, copy = pathlib.Path(case.made), pathlib.Path(folder, "copy.onnx")
            for words in (["check", made], ["copy", made, copy], ["copy", made, f"{folder}/out.onnx", "--external", "w"],
                          ["check", f"{folder}/out.onnx"],
                          ["run", made, "--data", f"{folder}/x.npy", "--out", f"{folder}/runs"],
                          ["calibrate", made, "--data", f"{folder}/x.npy", "-o", f"{folder}/x.stats"]):
                done = case.baryon(*map(str, words))
                case.check(done.returncode == 0, f"{words}: {done.stdout}{done.stderr}")
            case.check(made.read_bytes() == copy.read_bytes(), "a copy has other bytes")
            apart = onnx.load(f"{folder}/out.onnx")
            case.check(all(one.raw_data == other.raw_data for one, other in zip(
                apart.graph.initializer, case.written.graph.initializer)), "data apart has other bytes")
            stored = stored_as(kind, opset, "auto", "conv")
            case.check(f"weights {stored}" in case.baryon("inspect", case.made).stdout, f"inspect tells no {stored}")
            found = np.load(next(pathlib.Path(folder, "runs").rglob("*.npy")))
            wanted = case.run(case.written.model, OPTIMIZATIONS[-1], sample)
            case.check(np.abs(found - wanted).max() <= 1e-5 * np.abs(wanted).max(), "run gives something else")


def main():
    score = Score()
    for part in (written, with_activations, commands):
        part(score)
    return score.finish()


if __name__ == "__main__":
    raise SystemExit(main())
