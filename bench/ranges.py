"""Ranges that a peer chose beside ours: one JSON object on stdout.

    ranges.py METHOD MODEL DATA STATS RANGES PROGRAM      (with the Python of build/venv)

METHOD is MinMax, Percentile, Entropy or MinMSE (powers of two). RANGES is what
peer_calibrate.py has written, STATS our statistics of the same samples.
"""

import json
import math
import subprocess
import sys
from glob import glob

import numpy as np
import onnx
import onnxruntime

NAMES = {"MinMax": "minmax", "Percentile": "percentile", "Entropy": "entropy", "MinMSE": "minmse-pow2"}
WHAT = {"MinMax": "equal", "Percentile": "within a bin", "Entropy": "within 2 %", "MinMSE": "equal positions"}
BIN = 1 / 2048


def our_choices(program, stats, names, method):
    """Tensor -> (choice, greatest magnitude)."""
    found = {}
    for at in range(0, len(names), 100):  # a histogram each: a part at a time
        command = [program, "stats", stats, "--json", "--type", "int8"]
        for name in names[at : at + 100]:
            command += ["--tensor", name]
        for tensor in json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)["tensors"]:
            choice = next(c for c in tensor["choices"]
                          if c["method"] == NAMES[method] and c["power_of_two"] == (method == "MinMSE"))
            found[tensor["name"]] = choice, max(abs(tensor["min"]), abs(tensor["max"]))
    return found


def near(choice, pair, tolerance):
    return all(abs(a - b) <= tolerance for a, b in zip((choice["low"], choice["high"]), pair))


def position(pair):
    """Of a range that stands for scale 2^-p and zero point 0."""
    return round(-math.log2(pair[1] / 127))


def squared_error(values, at):
    scale = 2.0**-at
    return float(((np.clip(np.round(values / scale), -128, 127) * scale - values) ** 2).sum())


def errors(model, data, positions):
    """Squared errors of both positions of each tensor, on what the model computes as it is written."""
    graph = onnx.load(model)
    outputs = {output.name for output in graph.graph.output}
    graph.graph.output.extend(onnx.ValueInfoProto(name=name) for name in positions if name not in outputs)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(graph.SerializeToString(), options)
    inputs = {port.name for port in session.get_inputs()}
    sums = {name: [0.0, 0.0] for name in positions}
    for path in sorted(glob(f"{data}/*.npz")):
        with np.load(path) as archive:
            feed = {name: archive[name] for name in archive.files}
        names = [name for name in positions if name not in inputs]
        values = dict(zip(names, session.run(names, feed) if names else [])) | feed
        for name, pair in positions.items():
            for side in range(2):
                sums[name][side] += squared_error(values[name].astype("f8"), pair[side])
    return sums


def agrees(method, choice, reach, pair):
    """The peers let 0 into a range when they make a scale of it, we before."""
    pair = min(pair[0], 0), max(pair[1], 0)
    if method == "MinMSE":
        return pair[1] > 0 and choice["position"] == position(pair)
    if method == "Entropy":
        return near(choice, pair, 0.02 * reach)
    return near(choice, pair, (1e-4 if method == "MinMax" else BIN + 1e-4) * reach)


def compare(method, model, data, stats, ranges, program):
    listed = json.loads(subprocess.run([program, "stats", stats, "--json"], capture_output=True, check=True, text=True).stdout)
    names = [tensor["name"] for tensor in listed["tensors"] if tensor["name"] in ranges]
    ours = our_choices(program, stats, names, method)
    differ = [name for name in names if not agrees(method, *ours[name], ranges[name])]
    found = {"what": WHAT[method], "tensors": len(names), "agree": len(names) - len(differ), "differ": len(differ)}
    if method == "MinMSE":
        judged = {name: (ours[name][0]["position"], position(ranges[name])) for name in differ if ranges[name][1] > 0}
        sums = errors(model, data, judged) if judged else {}
        found["larger"] = sum(a > b * 1.000001 for a, b in sums.values())
        found["errors"] = sums
    else:
        found["examples"] = {name: [ours[name][0]["low"], ours[name][0]["high"], *ranges[name]] for name in differ[:5]}
    return found


if __name__ == "__main__":
    METHOD, MODEL, DATA, STATS, RANGES, PROGRAM = sys.argv[1:]
    print(json.dumps(compare(METHOD, MODEL, DATA, STATS, json.load(open(RANGES)), PROGRAM)))
