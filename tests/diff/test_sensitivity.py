"""'baryon sensitivity --decompose' on real models, beside ONNX Runtime and numpy.

The quantized model is written by 'baryon quantize' from the samples that calibration saw, the float
one is that of the last pass. What each layer gives and each tensor is comes out of runs of both,
each by itself; a layer's own share out of a copy of the float model that has each layer once more,
with its weights or its input as their integers mean them, computed by numpy; what floats and blocks
leave of them is computed by the nodes of their formats alone. All figures are those that are told,
within what other kernels may round.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper, numpy_helper

BUILD = pathlib.Path(os.environ.get("BUILD", "build"))
ZOO = pathlib.Path(os.environ.get("ZOO", "build/zoo"))
LONG = bool(os.environ.get("LONG"))
# Models, what is asked, samples that are not measured on.
JOBS = [("ppocr_cls", ["-p", "A8W8", "--cle", "off", "--bias-correction=false"], 3),
        ("ppocr_cls", ["-p", "MX6"], 3)]
if LONG:
    JOBS += [("ppocr_cls", ["-p", "XINT8", "--cle", "off", "--bias-correction=false"], 3),
             ("magika", ["-p", "U8S8_AAWS", "--cle", "off", "--bias-correction=false"], 10),
             ("ppocr_cls", ["-p", "BF16"], 3),
             ("ppocr_cls", ["-p", "FP16", "--float-form", "cast", "--cle", "off"], 3),
             ("magika", ["-p", "MXFP8E4M3"], 10)]
# Nodes of floats and blocks, whose names are those of pairs.
FORMATS = ("Cast", "ExtendedQuantizeLinear", "ExtendedDequantizeLinear", "BFPQuantizeDequantize",
           "MXQuantizeDequantize")
FAR = 0.05  # dB; kernels round otherwise, and integers near a half become others
OUTLIERS = 0.02  # share of figures that may be farther off, by 1 dB
ort.set_default_logger_severity(4)

passed, failures = 0, []


def check(condition, *words):
    global passed
    if condition:
        passed += 1
    else:
        failures.append(" ".join(map(str, words)))
        print("FAILED", *words, flush=True)


def baryon(*words):
    done = subprocess.run([BUILD / "baryon", *map(str, words)], capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{words}: {done.stderr.decode()}")
    return done.stdout


def session_of(model, level=ort.GraphOptimizationLevel.ORT_DISABLE_ALL):
    options = ort.SessionOptions()
    options.graph_optimization_level = level
    options.add_session_config_entry("session.disable_quant_qdq", "1")
    options.register_custom_ops_library(str(BUILD / "libbaryon_ops.so"))
    return ort.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])


def values_of(model, feeds):
    """[{tensor: array}], all of the main graph, inputs too, but codes of floats: numpy lacks bf16."""
    whole = onnx.ModelProto()
    whole.CopyFrom(model)
    del whole.graph.output[:]
    names = [name for node in whole.graph.node for name in node.output
             if name and node.op_type != "ExtendedQuantizeLinear"]
    whole.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    session = session_of(whole)
    return [{**feed, **dict(zip(names, session.run(names, feed)))} for feed in feeds]


def sqnr(wanted, found):
    wanted = [np.asarray(one, np.float64) for one in wanted]
    noise = sum(((one - np.asarray(other, np.float64)) ** 2).sum() for one, other in zip(wanted, found))
    signal = sum((one**2).sum() for one in wanted)
    return 150.0 if noise == 0 else min(10 * np.log10(signal / noise), 150.0) if signal else 0.0


class Quantized:
    """What the written model says of constants and of pairs."""

    def __init__(self, path):
        self.model = onnx.load(path)
        self.constants = {one.name: numpy_helper.to_array(one) for one in self.model.graph.initializer}
        self.producer = {name: node for node in self.model.graph.node for name in node.output}
        self.nodes = {node.name: node for node in self.model.graph.node}

    def dequantize(self, integers, node):
        scale = self.constants[node.input[1]]
        zero = self.constants[node.input[2]] if len(node.input) > 2 else np.zeros(1)
        if scale.ndim:
            axis = next((one.i for one in node.attribute if one.name == "axis"), 1)
            shape = [-1 if i == axis else 1 for i in range(integers.ndim)]
            scale, zero = scale.reshape(shape), zero.reshape(shape)
        return ((integers.astype(np.float32) - zero.astype(np.float32)) * scale).astype(np.float32)

    def chain(self, name):
        """(what comes in, nodes of its format) in front of a name."""
        nodes = []
        while (node := self.producer.get(name)) is not None and node.op_type in FORMATS \
                and "uantizeLinear" in node.name:
            nodes.insert(0, node)
            name = node.input[0]
        return name, nodes

    def through(self, nodes, values):
        """What nodes of a format leave of values."""
        first, last = nodes[0].input[0], nodes[-1].output[0]
        used = {name for node in nodes for name in node.input[1:]}
        graph = helper.make_graph(nodes, "format", [helper.make_tensor_value_info(first, 1, None)],
                                  [onnx.ValueInfoProto(name=last)],
                                  [one for one in self.model.graph.initializer if one.name in used])
        model = helper.make_model(graph, opset_imports=self.model.opset_import, ir_version=self.model.ir_version)
        return session_of(model).run(None, {first: values})[0]

    def constant(self, name):
        """What a layer's constant input means, None where it is none."""
        if name in self.constants:
            return self.constants[name]
        first, nodes = self.chain(name)
        if nodes and first in self.constants:
            return self.through(nodes, self.constants[first])
        node = self.producer.get(name)
        if node is None or node.op_type != "DequantizeLinear" or node.input[0] not in self.constants:
            return None
        return self.dequantize(self.constants[node.input[0]], node)

    def rounded(self, name, values):
        """A float tensor as its integers mean it; name: what a reader reads."""
        nodes = self.chain(name)[1]
        if nodes:
            return self.through(nodes, values)
        pair = self.producer.get(name)
        if pair is None or pair.op_type != "DequantizeLinear":
            return values
        quantize = self.producer[pair.input[0]]
        zero = self.constants[quantize.input[2]]
        info = np.iinfo(zero.dtype)
        scale = self.constants[quantize.input[1]]
        integers = np.clip(np.rint(values / scale) + zero.astype(np.float32), info.min, info.max)
        return self.dequantize(integers, pair)


def pairs_of(quantized):
    """{float tensor: what its readers read}, by the names that lowering gives."""
    found = {}
    for node in quantized.model.graph.node:
        first, nodes = quantized.chain(node.output[0])
        if nodes and first not in quantized.constants:
            found[first.removesuffix("_QuantizeLinear_Input")] = node.output[0]
        if node.op_type == "DequantizeLinear" and (of := quantized.producer.get(node.input[0])):
            found[of.input[0].removesuffix("_QuantizeLinear_Input")] = node.output[0]
    return found


def once_more(node, number, change):
    """The layer again, reading what `change` gives for its inputs: (node, constants)."""
    copy, constants = onnx.NodeProto(), []
    copy.CopyFrom(node)
    copy.name = ""
    copy.output[0] = f"again/{number}"
    for slot, name in enumerate(node.input):
        values = change(slot, name)
        if values is not None:
            copy.input[slot] = f"again/{number}/{slot}"
            constants.append(numpy_helper.from_array(np.asarray(values), copy.input[slot]))
    return copy, constants


def alone(model, layers, quantized, values, what):
    """{layer: SQNR}: weights, or what it reads, are integers; each sample's values are constants."""
    nodes = {node.name: node for node in model.graph.node}
    found = {layer["name"]: [] for layer in layers}
    for sample in values:
        work = helper.make_graph([], "again", [], [])
        for number, layer in enumerate(layers):
            node, other = nodes[layer["name"]], quantized.nodes[layer["name"]]

            def change(slot, name, other=other, sample=sample):
                if not name:
                    return None
                constant = quantized.constant(other.input[slot])
                if name in sample:
                    return quantized.rounded(other.input[slot], sample[name]) if what == "input" else sample[name]
                if what == "weights" and constant is not None:
                    return constant
                return FLOATS[name]

            copy, constants = once_more(node, number, change)
            work.node.append(copy)
            work.initializer.extend(constants)
            work.output.append(onnx.ValueInfoProto(name=copy.output[0]))
        again = helper.make_model(work, opset_imports=model.opset_import, ir_version=model.ir_version)
        for layer, result in zip(layers, session_of(again).run(None, {})):
            found[layer["name"]].append(result)
    return {layer["name"]: sqnr([one[layer["output"]] for one in values], found[layer["name"]]) for layer in layers}


def compare(title, told, found):
    """Figures by name, nearly all of them alike."""
    far = {name: abs(told[name] - found[name]) for name in told if min(told[name], found[name]) < 90}
    check(far and set(told) == set(found), title, "has figures")
    for name, gap in far.items():
        check(gap < 1, title, name, "told", told[name], "found", found[name])
    check(sum(gap > FAR for gap in far.values()) <= OUTLIERS * len(far) + 1, title, sorted(far.values())[-5:])


def outputs(path, feeds):
    session = session_of(onnx.load(path), ort.GraphOptimizationLevel.ORT_ENABLE_ALL)  # as judging does
    return [session.run(None, feed) for feed in feeds]


for name, words, seen in JOBS:
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        source, data = ZOO / "models" / f"{name}.onnx", ZOO / "data" / name
        report = json.loads(baryon("sensitivity", source, "-d", data, "--decompose", "--json", "-q", *words))
        given = ["-d", data, "--limit", seen] if report["samples"] else []
        baryon("quantize", "--no-judge", source, *given, "-o", folder / "q.onnx", "-q",
               "--dump-passes", folder / "passes", *words)
        feeds = [dict(np.load(path)) for path in sorted(data.iterdir())[seen:]]
        check(report["samples"] == (seen if given else 0) and report["samples_measured"] == len(feeds), name, "samples")

        # The whole, against the model as it came.
        exact, rounded = outputs(source, feeds), outputs(folder / "q.onnx", feeds)
        told = {one["name"]: one["both_db"] for one in report["outputs"]}
        compare(f"{name} outputs", told, {key: sqnr([one[i] for one in exact], [one[i] for one in rounded])
                                          for i, key in enumerate(told)})

        # Each layer and tensor, against the float model behind the passes.
        model = onnx.load(sorted((folder / "passes").glob("*.onnx"))[-1])
        FLOATS = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
        quantized = Quantized(folder / "q.onnx")
        floats, integers = values_of(model, feeds), values_of(quantized.model, feeds)
        layers, tensors = report["layers"], report["tensors"]
        behind = {one["name"]: quantized.nodes[one["name"]].output[0] for one in layers}
        compare(f"{name} layers", {one["name"]: one["whole_db"] for one in layers},
                {one["name"]: sqnr([value[one["output"]] for value in floats],
                                   [value[behind[one["name"]]] for value in integers]) for one in layers})
        read = pairs_of(quantized)
        compare(f"{name} tensors", {one["name"]: one["whole_db"] for one in tensors},
                {one["name"]: sqnr([value[one["name"]] for value in floats],
                                   [value[read[one["name"]]] for value in integers]) for one in tensors})

        # By themselves.
        compare(f"{name} tensors alone", {one["name"]: one["alone_db"] for one in tensors},
                {one["name"]: sqnr([value[one["name"]] for value in floats],
                                   [quantized.rounded(read[one["name"]], value[one["name"]]) for value in floats])
                 for one in tensors})
        for what in ("weights", "input"):
            compare(f"{name} layers, {what} alone", {one["name"]: one[f"{what}_db"] for one in layers},
                    alone(model, layers, quantized, floats, what))
        for one in tensors:
            values = [value[one["name"]] for value in floats]
            check(np.isclose(one["max"], max(value.max() for value in values), rtol=1e-4, atol=1e-5)
                  and np.isclose(one["min"], min(value.min() for value in values), rtol=1e-4, atol=1e-5),
                  name, one["name"], "range")
            at = values[one["greatest_sample"]][tuple(one["greatest_at"])]
            check(np.isclose(abs(at), max(np.abs(value).max() for value in values), rtol=1e-4), name, one["name"], "peak")

print(f"{passed} passed, {len(failures)} failed")
sys.exit(bool(failures))
