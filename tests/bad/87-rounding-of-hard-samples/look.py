"""What was solved is not worse than the nearest on the samples that judge, and finite."""

import json
import pathlib

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper


def constants(path):
    return {one.name: numpy_helper.to_array(one) for one in onnx.load(path).graph.initializer}


def outputs(path, samples):
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.disable_quant_qdq", "1")
    session = onnxruntime.InferenceSession(path, options)
    return np.concatenate([session.run(None, {"image": one[None]})[0] for one in samples])


def sqnr(wanted, found):
    return 10 * np.log10(np.square(wanted).sum() / max(np.square(wanted - found).sum(), 1e-30))


def look(report):
    name, preset, _ = report.name.split(".")
    model = "dead.onnx" if name == "all" else "model.onnx"
    told = json.loads(report.read_text())["rounding"]
    samples = np.load(f"{name}.npy")[-told["samples_aside"]:]
    samples = samples[np.isfinite(samples).all(axis=(1, 2, 3))]
    paths = [str(report.with_suffix(f".{which}")) for which in ("solved", "nearest")]
    solved, nearest = map(constants, paths)
    finite = all(np.isfinite(one).all() for one in solved.values() if one.dtype.kind == "f")
    fine = all(np.array_equal(solved[key], nearest[key]) for key in nearest)
    if told["kept"]:
        wanted, *found = (outputs(path, samples).astype("f8") for path in (model, *paths))
        finite &= bool(np.isfinite(found).all())
        fine = told["solved_db"] > told["nearest_db"] and sqnr(wanted, found[0]) > sqnr(wanted, found[1]) - 0.1
    print(f"{name} {preset}: {told['samples']} and {told['samples_aside']} aside, finite {finite},",
          "not worse" if fine else f"worse: {told}")


for one in sorted(pathlib.Path().glob("*.json")):
    look(one)
