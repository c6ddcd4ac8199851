"""Checks measured qualities against ONNX Runtime, and prints what does not vary."""

import json
import sys

import numpy as np
import onnxruntime


def load(name):
    return json.load(open(f"{name}.json")).get("quality")


def sqnr(model, quantized, samples):
    runs = []
    for path in (model, quantized):
        session = onnxruntime.InferenceSession(path)
        name = session.get_inputs()[0].name
        runs.append(np.concatenate([session.run(None, {name: one.reshape(1, *one.shape[-3:]) if one.ndim > 1 else one[None]})[0] for one in samples]).astype(float))
    return 10 * np.log10((runs[0] ** 2).sum() / ((runs[0] - runs[1]) ** 2).sum())


def show(name):
    found = load(name)
    print(name, *(f"{key}={found[key]}" for key in ("samples", "first_sample", "which", "random", "unmeasured") if key in found))
    return found


seen, behind, threads = show("seen"), show("behind"), load("threads")
x = np.load("x.npy")
print(sorted(seen), sorted(seen["outputs"][0]))
for found, model, samples in ((seen, "seen.onnx", x[12:]), (behind, "behind.onnx", x[8:12])):
    print("as ONNX Runtime:", abs(found["worst_db"] - sqnr("model.onnx", model, samples)) < 0.1)
print("the same for any threads:", seen == threads)
print("the same bytes:", open("seen.onnx", "rb").read() == open("unjudged.onnx", "rb").read())
print("left out:", load("unjudged") is None, load("stats-unjudged"))
for name in ("one", "two", "eight", "random", "others", "stats", "stats-others", "floats", "nbits", "integers"):
    show(name)
for output in show("many")["outputs"]:
    print(*output.values() if output["sqnr_db"] in (None, 150.0) else [output["name"], output["sqnr_db"] > 20])
large = show("infinite")
print("not finite:", large["outputs"][0]["nonfinite"] > 0, large["worst_db"])
low = show("low")
print(low["worst_db"] < 20, low["cause"].split(":")[0], "|", low["next"])
