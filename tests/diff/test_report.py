"""'baryon quantize --report' on a real model, beside ONNX Runtime and numpy.

What the report says of constants is computed from the float model behind the passes and the integers
of the written model; what it says of the values of activations from runs of the float model on the
samples that calibration saw, of their errors from runs on those that are measured; the samples that it shows from runs of both models.
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
from onnx import numpy_helper
from PIL import Image

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from lib import report_schema

BUILD = pathlib.Path(os.environ.get("BUILD", "build"))
ZOO = pathlib.Path(os.environ.get("ZOO", "build/zoo"))
MODEL = ZOO / "models/centerface.onnx"
SEEN, JUDGED = 6, 7  # samples of a batch of 10
BINS, GREATEST = 64, 9999
JOBS = [["-p", "A8W8"], ["-p", "U8S8_AAWS", "--weight-granularity", "channel"]]
if os.environ.get("LONG"):
    JOBS += [["-p", "XINT8"], ["-p", "A16W8"], ["-p", "XINT8_ADAROUND"]]
ort.set_default_logger_severity(4)

passed, failures = 0, []


def check(condition, *words):
    global passed
    if condition:
        passed += 1
    else:
        failures.append(" ".join(map(str, words)))
        print("FAILED", *words, flush=True)


def session_of(model):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.add_session_config_entry("session.disable_quant_qdq", "1")
    return ort.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])


def make_samples(folder):
    """Parts of pictures, 10 a sample."""
    folder.mkdir()
    rng = np.random.default_rng(7)
    pictures = [np.asarray(Image.open(path).convert("RGB")) for path in sorted((ZOO / "pictures").iterdir())]
    for i in range(SEEN + JUDGED):
        parts = []
        for _ in range(10):
            picture = pictures[rng.integers(len(pictures))]
            y, x = (rng.integers(side - 32) for side in picture.shape[:2])
            parts.append(picture[y : y + 32, x : x + 32].transpose(2, 0, 1))
        np.save(folder / f"{i:02}.npy", np.stack(parts).astype(np.float32))


def decibels(signal, noise):
    return 150.0 if noise == 0 else min(10 * np.log10(signal / noise), 150.0)


def written_constants(path):
    """{tensor: what its integers mean}, of pairs that read constants."""
    model = onnx.load(path)
    constants = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
    found = {}
    for node in model.graph.node:
        if node.op_type != "DequantizeLinear" or node.input[0] not in constants:
            continue
        integers, scale = constants[node.input[0]].astype(np.float64), constants[node.input[1]].astype(np.float64)
        zero = constants[node.input[2]].astype(np.float64) if len(node.input) > 2 else np.zeros_like(scale)
        axis = next((one.i for one in node.attribute if one.name == "axis"), 1)
        shape = [-1 if i == axis and scale.ndim else 1 for i in range(integers.ndim)]
        found[node.input[0].removesuffix("_quantized")] = ((integers - zero.reshape(shape)) * scale.reshape(shape), scale, axis)
    return found


def check_bins(words, tensor, values, slack):
    """Counts of bins; slack: so many values may lie in a neighbour."""
    values = values.ravel()
    bins = tensor["histogram"]
    check(np.isclose(bins["low"], values.min(), rtol=1e-4, atol=1e-5), *words, "least", bins["low"], values.min())
    check(np.isclose(bins["high"], values.max(), rtol=1e-4, atol=1e-5), *words, "greatest", bins["high"], values.max())
    direct = np.histogram(values[values != 0], BINS, (bins["low"], bins["high"]))[0]
    told = np.array(bins["counts"]) / GREATEST * bins["most"]
    off = np.abs(np.cumsum(told) - np.cumsum(direct)).max()
    check(off <= slack + BINS * bins["most"] / GREATEST, *words, "bins are off by", off, "of", direct.max())


def check_values(words, tensor, values, slack):
    values = values.astype(np.float64)
    check(np.isclose(tensor["rms"], np.sqrt((values**2).mean()), rtol=1e-4), *words, "rms")
    check(abs(tensor["zeros"] - (values == 0).mean()) < 1e-3, *words, "zeros", tensor["zeros"], (values == 0).mean())
    if "histogram" in tensor:
        check_bins(words, tensor, values, slack)


def check_constant(words, tensor, values, meant, scale, axis):
    check_values(words, tensor, values, 3)  # edges are told with 7 digits
    shape = [-1 if i == axis and scale.ndim else 1 for i in range(values.ndim)]
    levels = np.rint(values.astype(np.float64) / scale.reshape(shape)) + tensor["zero_point"]
    clipped = ((levels < tensor["levels"][0]) | (levels > tensor["levels"][1])).mean()
    check(abs(tensor["clipped"] - clipped) < 1e-4, *words, "clipped", tensor["clipped"], clipped)
    exact = values.astype(np.float64)
    alone = decibels((exact**2).sum(), ((exact - meant) ** 2).sum())
    check(abs(tensor["alone_db"] - alone) < 0.02, *words, "alone", tensor["alone_db"], alone)


def check_activation(words, tensor, values, measured):
    check_values(words, tensor, values, 0.02 * values.size)
    if tensor["scales"] != 1 or "levels" not in tensor:
        return
    exact = values.astype(np.float64)
    levels = np.rint(exact / tensor["scale"]) + tensor["zero_point"]
    clipped = ((levels < tensor["levels"][0]) | (levels > tensor["levels"][1])).mean()
    check(abs(tensor["clipped"] - clipped) < 0.003, *words, "clipped", tensor["clipped"], clipped)
    exact = measured.astype(np.float64)
    levels = np.clip(np.rint(exact / tensor["scale"]) + tensor["zero_point"], *tensor["levels"])
    meant = (levels - tensor["zero_point"]) * tensor["scale"]
    alone = decibels((exact**2).sum(), ((exact - meant) ** 2).sum())
    check(abs(tensor["alone_db"] - alone) < 0.5 or min(tensor["alone_db"], alone) > 100, *words, "alone", tensor["alone_db"], alone)


def check_examples(words, report, written, feeds):
    exact, rounded = session_of(onnx.load(MODEL)), session_of(onnx.load(written))
    names = [one.name for one in exact.get_outputs()]
    quality = report["quality"]
    found = []
    for feed in feeds[quality["first_sample"] : quality["first_sample"] + quality["samples"]]:
        pairs = zip(exact.run(names, feed), rounded.run(names, feed))
        found.append(min(decibels((want.astype(float) ** 2).sum(), ((want.astype(float) - got) ** 2).sum()) for want, got in pairs))
    shown = report["examples"]
    check(len(shown) == min(6, len(found)), *words, "shows", len(shown), "of", len(found))
    for example in shown:
        want = found[example["index"] - quality["first_sample"]]
        check(abs(example["quality_db"] - want) < 0.2, *words, "sample", example["index"], example["quality_db"], want)
    check(abs(shown[0]["quality_db"] - min(found)) < 0.2 and shown[0]["rank"] == "worst", *words, "the worst is first")
    check(abs(shown[-1]["quality_db"] - max(found)) < 0.2 and shown[-1]["rank"] == "best", *words, "the best is last")


def run_job(folder, words):
    subprocess.run([BUILD / "baryon", "quantize", MODEL, "-o", folder / "q.onnx", "-q", "-f", "--data", folder / "data",
                    "--limit", str(SEEN), "--cle", "off", "--bias-correction=false", "--dump-passes", folder / "passes",
                    "--report", folder / "r.json", *words], check=True, stderr=subprocess.DEVNULL)  # fmt: skip
    report = json.loads((folder / "r.json").read_text())
    for complaint in report_schema.complaints(report):
        check(False, *words, complaint)
    model = onnx.load(sorted((folder / "passes").glob("*.onnx"))[-1])
    floats = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
    names = [tensor["name"] for tensor in report["tensors"] if tensor["role"] == "activation" and "rms" in tensor]
    made = {name for node in model.graph.node for name in node.output}
    del model.graph.output[:]
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names if name in made)
    session = session_of(model)
    feeds = [{session.get_inputs()[0].name: np.load(path)} for path in sorted((folder / "data").iterdir())]
    runs = [{**feed, **dict(zip([one.name for one in session.get_outputs()], session.run(None, feed)))} for feed in feeds]
    first = report["quality"]["first_sample"]
    seen, measured = (
        {name: np.stack([run[name] for run in part]) for name in names}
        for part in (runs[:SEEN], runs[first : first + report["measured"]["samples"]])
    )
    constants = written_constants(folder / "q.onnx")
    count = {"activation": 0, "weight": 0}
    for tensor in report["tensors"]:
        where = (*words, tensor["name"])
        if tensor["name"] in seen:
            check_activation(where, tensor, seen[tensor["name"]], measured[tensor["name"]])
        elif tensor["role"] == "weight" and tensor["name"] in constants and tensor["name"] in floats:
            check_constant(where, tensor, floats[tensor["name"]], *constants[tensor["name"]])
        else:
            continue
        count[tensor["role"]] += 1
    check(count["activation"] > 30 and count["weight"] > 30, *words, "tensors", count)
    layers = [layer for layer in report["layers"] if layer["op_type"] == "Conv"]
    check(layers and all("whole_db" in layer and "weights_db" in layer for layer in layers), *words, "layers")
    check_examples(words, report, folder / "q.onnx", feeds)


if not MODEL.exists():
    print(f"{MODEL} is missing: skipped")
    sys.exit(77)
with tempfile.TemporaryDirectory() as name:
    make_samples(pathlib.Path(name) / "data")
    for job in JOBS:
        run_job(pathlib.Path(name), job)
print(f"{passed} passed, {len(failures)} failed")
sys.exit(bool(failures))
