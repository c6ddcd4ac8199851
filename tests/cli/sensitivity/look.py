"""Checks that sensitivity reports agree with each other and with ONNX Runtime."""

import json

import numpy as np
import onnxruntime

found, other, short = (json.load(open(f"{name}.json")) for name in ("one", "three", "short"))
for one in (found, other):
    one.pop("twin_seconds")
    one["options"].pop("threads", None)
print("the same for any threads:", found == other)
print("the same outputs:", all(short[f"{state}_db"] == found[f"{state}_db"] for state in ("passes", "weights", "activations", "both")))
print(sorted(short.keys()))
print(found["samples"], found["samples_measured"], found["kept_aside"])


def outputs(path):
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.disable_quant_qdq", "1")
    session = onnxruntime.InferenceSession(path, options)
    return np.concatenate([session.run(None, {"image": one[None]})[0] for one in np.load("x.npy")[12:]])


wanted, got = outputs("model.onnx").astype(float), outputs("both.onnx").astype(float)
sqnr = 10 * np.log10((wanted**2).sum() / ((wanted - got) ** 2).sum())
print("as quantized:", abs(sqnr - found["both_db"]) < 0.01, round(sqnr) > 20)
last = found["layers"][-1]
print(last["output"], "as the output:", abs(last["whole_db"] - found["tensors"][-1]["alone_db"]) < 60)
