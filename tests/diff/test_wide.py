"""Activations that 8 bits represent badly get 16 (--wide-auto, --wide-below), on made models.

Of the channels that a layer reads one is hundreds of times the others, and all of them matter. In
8 bits nothing is left of the small ones. ONNX Runtime runs what was written, and
numpy compares its outputs with those of the float model.
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
from onnx import TensorProto, helper, numpy_helper

BUILD = pathlib.Path(os.environ.get("BUILD", "build"))
CHANNELS = 32
SAMPLES = 16
GOOD_PEAK = 20  # a channel's, that 8 bits represent well enough
ort.set_default_logger_severity(4)

passed, failures = 0, []


def check(condition, *words):
    global passed
    if condition:
        passed += 1
    else:
        failures.append(" ".join(map(str, words)))
        print("FAILED", *words, flush=True)


def baryon(*words, fails=False):
    done = subprocess.run([BUILD / "baryon", *map(str, words)], capture_output=True, check=False, text=True)
    if bool(done.returncode) != fails:
        raise RuntimeError(f"{words}: {done.returncode}: {done.stderr}")
    return done


def one_layer(weight):
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "weight"], ["y"], "layer")], "one",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 8, weight.shape[0]])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 8, weight.shape[1]])],
        [numpy_helper.from_array(weight, "weight")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def factors(peak):
    """Of the channels of x: one is so many times the others."""
    values = np.ones(CHANNELS, np.float32)
    values[5] = peak
    return values


def massive(peak):
    """The layer reads the massive channel with smaller weights."""
    random = np.random.default_rng(3)
    weight = random.standard_normal((CHANNELS, CHANNELS)) / 4 / np.sqrt(factors(peak)[:, None])
    return one_layer(weight.astype(np.float32))


def coarse(peak):
    """One weight of `peak` among half a million of 1: rounding the others decides."""
    weight = np.random.default_rng(4).standard_normal((1024, 512)).astype(np.float32)
    weight[5, 7] = peak
    return one_layer(weight)


def types(path):
    """{tensor: type of its integers} of all QuantizeLinear nodes."""
    graph = onnx.load(path).graph
    constants = {tensor.name: tensor.data_type for tensor in graph.initializer}
    return {node.input[0]: TensorProto.DataType.Name(constants[node.input[2]])
            for node in graph.node if node.op_type == "QuantizeLinear"}


def sqnr(model, path, feeds):
    exact, written = (ort.InferenceSession(m, providers=["CPUExecutionProvider"])
                      for m in (model.SerializeToString(), str(path)))
    signal = noise = 0
    for feed in feeds:
        a, b = (session.run(None, feed)[0].astype(np.float64) for session in (exact, written))
        signal, noise = signal + (a**2).sum(), noise + ((a - b) ** 2).sum()
    return 10 * np.log10(signal / noise)


class Job:
    def __init__(self, folder, model, factors):
        self.folder, self.model = folder, model
        self.source = folder / "model.onnx"
        onnx.save(model, self.source)
        random = np.random.default_rng(5)
        self.data = folder / "data"
        self.data.mkdir()
        self.feeds = [{"x": random.standard_normal((1, 8, len(factors))).astype(np.float32) * factors}
                      for _ in range(SAMPLES)]
        for number, feed in enumerate(self.feeds):
            np.savez(self.data / f"{number:02}.npz", **feed)

    def quantize(self, name, *options, samples=True, fails=False):
        out, report = self.folder / f"{name}.onnx", self.folder / f"{name}.json"
        done = baryon("quantize", self.source, "-o", out, "--report", report, "-f",
                      *(["--data", self.data] if samples else []), *options, fails=fails)
        return out, done.stderr, None if fails else json.loads(report.read_text())


def automatic(job):
    wide, said, report = job.quantize("wide", "-p", "A8W8")
    choice = report["choices"][0]
    check(choice["choice"] == "wide" and choice["tensors"] == 1 and choice["macs_share"] == 1, "report", choice)
    check(abs(choice["gain_db"] - float(said.split("dB: ")[1].split()[0])) < 0.051, "gain", said, choice)
    narrow, silent, plain = job.quantize("narrow", "-p", "A8W8", "--wide-auto=false")
    check(types(wide)["x"] == "INT16", "the massive input has 8 bits", types(wide))
    check(set(types(narrow).values()) == {"INT8"}, "tensors are wide though nobody asked", types(narrow))
    gain = sqnr(job.model, wide, job.feeds) - sqnr(job.model, narrow, job.feeds)
    check(gain > 3, "16 bits gain", gain)
    check("activations get 16 bits" in said and "--wide-auto=false" in said, "no notice", said)
    check("choices" not in plain, "report of choices", plain)
    check("16 bits" not in silent, "a notice without a reason", silent)


def own_sqnr(job, path):
    """What each tensor has in 8 bits by itself, on the samples that calibration took."""
    graph = onnx.load(path).graph
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    weight = numpy_helper.to_array(job.model.graph.initializer[0])
    found = {}
    for node in graph.node:
        if node.op_type == "QuantizeLinear":
            scale = float(constants[node.input[1]])
            x = np.stack([feed["x"] for feed in job.feeds]).astype(np.float64)
            x = x if node.input[0] == "x" else x @ weight
            found[node.input[0]] = 10 * np.log10(
                (x**2).mean() / ((np.clip(np.rint(x / scale), -127, 127) * scale - x) ** 2).mean())
    return found


def by_level(job):
    """Exactly the tensors below the level."""
    alone = own_sqnr(job, job.quantize("none", "-p", "A8W8", "--wide-auto=false")[0])
    low, high = sorted(alone.values())
    check(high - low > 2, "tensors are alike", alone)
    out, _, _ = job.quantize("level", "-p", "A8W8", "--wide-below", f"{(low + high) / 2:.3f}")
    wide = {name for name, type_ in types(out).items() if type_ == "INT16"}
    check(wide == {name for name, db in alone.items() if db == low}, "other tensors", wide, alone)
    out, _, _ = job.quantize("none", "-p", "A8W8", "--wide-below", f"{low - 1:.3f}")
    check(set(types(out).values()) == {"INT8"}, "below all of them", types(out), alone)
    out, _, _ = job.quantize("all", "-p", "A8W8", "--wide-below", "150")
    check(set(types(out).values()) == {"INT16"}, "150 dB", types(out))
    out, _, _ = job.quantize("unsigned", "-p", "U8S8_AAWS", "--wide-below", "150", "--domain", "microsoft")
    check(set(types(out).values()) == {"UINT16"}, "150 dB, unsigned", types(out))


def from_statistics(job):
    """The same bytes as with samples; without samples nothing is chosen."""
    stats = job.folder / "all.stats"
    baryon("calibrate", job.source, "-o", stats, "--data", job.data)
    with_samples, _, _ = job.quantize("samples", "-p", "A8W8", "--wide-below", "30", "--cle", "off",
                                      "--bias-correction", "false")
    with_stats, _, _ = job.quantize("stats", "-p", "A8W8", "--wide-below", "30", "--cle", "off",
                                    "--bias-correction", "false", "--stats", stats, samples=False)
    check(types(with_stats) == types(with_samples), "statistics", types(with_stats), types(with_samples))
    left, _, _ = job.quantize("left", "-p", "A8W8", "--stats", stats, samples=False)
    check(set(types(left).values()) == {"INT8"}, "chosen without samples", types(left))


def precedence(job):
    out, _, _ = job.quantize("rule", "-p", "A8W8", "--wide-below", "150", "--tensor", "x=type:int8")
    check(sorted(types(out).values()) == ["INT16", "INT8"] and types(out)["x"] == "INT8", "a rule is stronger", types(out))
    out, _, _ = job.quantize("compat", "-p", "A8W8", "--compat", "quark-0.13")
    check(set(types(out).values()) == {"INT8"}, "with --compat", types(out))
    out, _, _ = job.quantize("solved", "-p", "A8W8_ADAROUND")
    check(types(out)["x"] == "INT16", "with solved rounding", types(out))
    _, said, _ = job.quantize("dpu", "-p", "XINT8", "--wide-below", "30")
    check("--wide-below" in said and "has no effect" in said or "ignored" in said, "with XINT8", said)


def threads(job):
    files = [job.quantize(f"threads{count}", "-p", "A8W8", "--threads", count)[0] for count in (1, 2, 3)]
    check(len({file.read_bytes() for file in files}) == 1, "threads decide")


def good_models_stay(folder):
    """Though a tensor is below the highest level."""
    job = Job(folder, massive(GOOD_PEAK), factors(GOOD_PEAK))
    alone = own_sqnr(job, job.quantize("narrow", "-p", "A8W8", "--wide-auto=false")[0])
    check(25 < min(alone.values()) < 35, "tensors of the good model", alone)
    out, said, _ = job.quantize("good", "-p", "A8W8")
    check(set(types(out).values()) == {"INT8"} and "16 bits" not in said, "a good model is widened", said)


def tensors_are_counted(folder):
    """Two of three tensors are good."""
    model = massive(300)
    graph = model.graph
    graph.node.append(helper.make_node("MatMul", ["y", "second"], ["z"], "second"))
    second = np.random.default_rng(6).standard_normal((CHANNELS, CHANNELS)) / 4
    graph.initializer.append(numpy_helper.from_array(second.astype(np.float32), "second"))
    graph.output[0].name = "z"
    job = Job(folder, model, factors(300))
    out, _, report = job.quantize("counted", "-p", "A8W8")
    wide = [name for name, type_ in types(out).items() if type_ == "INT16"]
    check(report["choices"][0]["tensors"] == len(wide) == 1, "tensors", report["choices"], types(out))


def clipped_weights(folder):
    job = Job(folder, coarse(100), np.ones(1024, np.float32))
    clipped, said, _ = job.quantize("clipped", "-p", "A8W8", "--wide-auto=false", "--weight-rows-auto=false")
    whole, silent, _ = job.quantize("whole", "-p", "A8W8", "--wide-auto=false", "--weight-rows-auto=false", "--weight-method", "minmax")
    scale = {}
    for name, path in (("clipped", clipped), ("whole", whole)):
        graph = onnx.load(path).graph
        constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
        scale[name] = next(float(constants[node.input[1]]) for node in graph.node
                           if node.op_type == "DequantizeLinear" and node.input[0] in constants
                           and constants[node.input[0]].ndim == 2)
    better = sqnr(job.model, clipped, job.feeds) - sqnr(job.model, whole, job.feeds)
    check(scale["whole"] > 100 / 128, "minmax was asked for", scale)
    check(scale["clipped"] < scale["whole"] and "weight method minmse" in said, "notice", said, scale)
    check(better > 0.5, "clipping gains", better)
    check("minmse" not in silent, "a notice though the method was given", silent)


def lost_clipping(folder):
    """The weight that clipping cuts off counts most: it is not tried again where activations have 16 bits."""
    model, each = coarse(100), np.ones(1024, np.float32)
    weight = numpy_helper.to_array(model.graph.initializer[0]).copy()
    weight[9] /= 20
    each[5], each[9] = 20, 300
    job = Job(folder, one_layer(weight), each)
    _, said, report = job.quantize("lost", "-p", "A8W8", "--weight-rows-auto=false", "-v")
    tried = [line for line in said.splitlines() if "candidate" in line and "weight method minmse" in line]
    check([choice["choice"] for choice in report["choices"]] == ["wide"], "choices", report["choices"])
    check(len(tried) == 1 and "16 bits" not in tried[0], "clipping is tried again", said)


def lost_rows(folder):
    """One row is good and so large that the tensor is, while a norm behind it reads seven that are lost."""
    random = np.random.default_rng(6)
    weight = random.standard_normal((CHANNELS, CHANNELS)) * factors(300)
    graph = helper.make_graph(
        [helper.make_node("LayerNormalization", ["x", "scale", "bias"], ["normed"], "norm"),
         helper.make_node("MatMul", ["normed", "weight"], ["y"], "layer")], "rows",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 8, CHANNELS])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 8, CHANNELS])],
        [numpy_helper.from_array(weight.astype(np.float32), "weight"),
         numpy_helper.from_array(np.ones(CHANNELS, np.float32), "scale"),
         numpy_helper.from_array(np.zeros(CHANNELS, np.float32), "bias")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    job = Job(folder, model, np.ones(CHANNELS, np.float32))
    for number, feed in enumerate(job.feeds):
        feed["x"] *= 0.5
        feed["x"][:, 0] = random.uniform(-300, 300, CHANNELS)
        np.savez(job.data / f"{number:02}.npz", **feed)
    wide, said, _ = job.quantize("wide", "-p", "A8W8")
    level, _, _ = job.quantize("level", "-p", "A8W8", "--wide-below", "35")
    check(types(level)["x"] == "INT8", "35 dB are enough", types(level))
    check(types(wide)["x"] == "INT16" and "less than 45 dB" in said, "rows stay lost", types(wide), said)
    gain = sqnr(model, wide, job.feeds) - sqnr(model, level, job.feeds)
    check(gain > 10, "16 bits gain", gain)


def main():
    with tempfile.TemporaryDirectory() as name:
        folders = [pathlib.Path(name) / part for part in ("massive", "good", "coarse", "counted", "rows", "lost")]
        for folder in folders:
            folder.mkdir()
        job = Job(folders[0], massive(300), factors(300))
        for test in (automatic, by_level, from_statistics, precedence, threads):
            test(job)
        good_models_stay(folders[1])
        clipped_weights(folders[2])
        tensors_are_counted(folders[3])
        lost_rows(folders[4])
        lost_clipping(folders[5])
    print(f"{passed} passed, {len(failures)} failed")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
