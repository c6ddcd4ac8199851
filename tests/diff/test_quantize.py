"""What is quantized beside Quark 0.13 (recorded answers), and quantized models on ONNX Runtime.

With `compat` placement picks the tensors that Quark picks and shares parameters as it does. Models that
come out pass the checker of the onnx package and compute the same at every level of optimization.
LONG=1: all models of the zoo with all forms.
"""

import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np
import onnx
import onnxruntime
from dump import BUILD, Score, tool
from placement import letters, lift

ZOO = pathlib.Path("build/zoo")
TOOL = tool("quant_dump")
GOLDEN = pathlib.Path(__file__).parent.parent / "golden/placement/peer.json"
LEVELS = [getattr(onnxruntime.GraphOptimizationLevel, f"ORT_{name}") for name in
          ("DISABLE_ALL", "ENABLE_BASIC", "ENABLE_EXTENDED", "ENABLE_ALL")]
SETTINGS = {"XINT8": "xint8", "VINT8": "vint8", "A8W8": "a8w8", "U8S8_AAWS": "u8s8,fold",
            "INT8_TRANSFORMER_DEFAULT": "transformer"}
# The least ratio of signal to what the levels differ in, in dB. Kernels of integers round otherwise than
# floats do; where weights and activations both have 8 bits and no wide sum, they saturate as well.
LEAST = 25


def plan(path, settings):
    """owner of each activation's parameters, constants, lines of nodes."""
    done = subprocess.run([TOOL, path, settings], capture_output=True, text=True, check=True)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    owners = {row[3]: row[4] for row in rows if row[:2] == ["R", "activation"]}
    constants = {row[3] for row in rows if row[0] == "R" and row[1] != "activation"}
    return owners, constants, [row for row in rows if row[0] == "N"]


def compare_with_peer(score, folder):
    for case, wanted in json.loads(GOLDEN.read_text()).items():
        name, preset = case.split()
        model = lift(onnx.load(ZOO / f"models/{name}.onnx"))
        path = f"{folder}/{name}.onnx"
        onnx.save(model, path)
        owners, constants, nodes = plan(path, SETTINGS[preset] + ",compat")
        found = letters(model, owners, constants)
        score.check(found == wanted, f"{case}: {found}, wanted {wanted}")
        score.check(all(row[-1] for row in nodes), f"{case}: a node without a reason")
        score.check(len(nodes) == len(model.graph.node), f"{case}: {len(nodes)} nodes")


def samples(name, count):
    for path in sorted((ZOO / f"data/{name}").glob("*.npz"))[:count]:
        with np.load(path) as archive:
            yield {key: archive[key] for key in archive.files}


def run(path, level, name, count=2):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return [value for sample in samples(name, count) for value in session.run(None, sample)]


def ratio(wanted, found):
    signal = noise = 0.0
    for one, other in zip(wanted, found):
        if one.dtype.kind == "f":
            signal += float(np.square(one.astype("f8")).sum())
            noise += float(np.square(one.astype("f8") - other).sum())
    return 10 * np.log10(max(signal, 1e-30) / max(noise, 1e-30))


def run_at_levels(score, name, options, folder, least):
    out = f"{folder}/{name}.q.onnx"
    done = subprocess.run(
        [BUILD / "baryon", "quantize", "--no-judge", ZOO / f"models/{name}.onnx", "--data", ZOO / f"data/{name}", "--limit", "2",
         "-q", "-f", "-o", out, *options], capture_output=True, text=True)  # fmt: skip
    what = f"{name} {' '.join(options)}"
    score.check(done.returncode == 0, f"{what}: {done.stderr}")
    if done.returncode:
        return
    try:
        onnx.checker.check_model(out, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        score.check(False, f"{what}: {error}")
    plain = run(out, LEVELS[0], name)
    for level in LEVELS[1:]:
        found = ratio(plain, run(out, level, name))
        score.check(found > least, f"{what}: {level} differs, {found:.1f} dB")
    wanted = run(str(ZOO / f"models/{name}.onnx"), LEVELS[3], name)
    ports = [port.name for port in onnx.load(out, load_external_data=False).graph.output]
    kept = [port.name for port in onnx.load(ZOO / f"models/{name}.onnx").graph.output]
    score.check(ports == kept, f"{what}: outputs {ports}")
    score.check([v.shape for v in plain] == [v.shape for v in wanted], f"{what}: shapes")


def count_multiply_adds(score, name):
    """Of open sizes those that samples have: against shapes that the onnx package infers."""
    done = subprocess.run(
        [BUILD / "baryon", "plan", ZOO / f"models/{name}.onnx", "--data", ZOO / f"data/{name}", "--limit", "2",
         "--preset", "U8S8_AAWS", "--cle", "off", "-q", "--json"], capture_output=True, text=True)  # fmt: skip
    if not score.check(done.returncode == 0, f"plan {name}: {done.stderr}"):
        return
    model, sample = onnx.load(ZOO / f"models/{name}.onnx"), next(samples(name, 1))
    for port in model.graph.input:
        for dim, size in zip(port.type.tensor_type.shape.dim, sample[port.name].shape):
            dim.dim_value = size
    del model.graph.value_info[:]
    model = onnx.shape_inference.infer_shapes(lift(model), data_prop=True)
    weights = {tensor.name: tensor.dims for tensor in model.graph.initializer}
    shapes = {value.name: [dim.dim_value for dim in value.type.tensor_type.shape.dim]
              for value in model.graph.value_info}
    wanted = sum(np.prod(shapes[node.output[0]], dtype=float) * np.prod(weights[node.input[1]][1:], dtype=float)
                 for node in model.graph.node if node.op_type == "Conv")
    rows = json.loads(done.stdout)["operators"]
    found = [row["multiply_adds"] for row in rows if row["op_type"] == "Conv"]
    score.check(wanted > 1e6 and found == [wanted], f"{name}: {found} multiply-adds, wanted {wanted}")


FORMS = [["--preset", "XINT8"], ["--preset", "A8W8"], ["--preset", "U8S8_AAWS", "--weight-reduce-range"],
         ["--preset", "A16W8"], ["--preset", "VINT8"]]  # fmt: skip


def main():
    score, every = Score(), os.environ.get("LONG")
    with tempfile.TemporaryDirectory() as folder:
        compare_with_peer(score, folder)
        count_multiply_adds(score, "ppocr_cls")
        for form in FORMS if every else FORMS[:2]:
            for name in ("ppocr_cls", "magika") if every else ("ppocr_cls",):
                run_at_levels(score, name, form, folder, LEAST)
    print(f"{score.passed} passed, {score.failed} failed")
    return score.failed != 0


if __name__ == "__main__":
    raise SystemExit(main())
