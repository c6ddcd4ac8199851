"""Blocks of code of Quark's documents with nothing but `quark` replaced by `baryon`, on a real model.

Prints a table of them: runs, or what it waits for, which has to be named by a NotImplementedError.
"""

import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import types

from world import PROGRAM, ROOT, Again, Score, raised

import numpy as np
import onnx
from seed_blocks import BLOCKS

SOURCE = ROOT / "build/zoo/models/ppocr_cls.onnx"
MODEL = pathlib.Path("model_fp32.onnx")
SHAPE = (1, 3, 48, 192)
KEPT = {"000.1 quantize with XINT8": "q.onnx", "001.6 Shapeshifter": "mixed.onnx"}  # other blocks read them


def load_samples(folder):
    return [np.load(path) for path in sorted(pathlib.Path(folder).glob("*.npy"))]


def ends(model):
    """A way of a few nodes near the end of the model."""
    names = [node.name for node in onnx.load(model).graph.node if node.op_type == "Conv"]
    return names[-2], names[-1]


def fix_sizes():
    """As exported models have it: with the sizes of one picture."""
    model = onnx.load(SOURCE)
    for dim, size in zip(model.graph.input[0].type.tensor_type.shape.dim, SHAPE):
        dim.dim_value = size
    model.graph.output[0].type.tensor_type.shape.dim[0].dim_value = 1
    onnx.save(model, MODEL)


def run(text, places, world):
    code = text.format(**places).replace("quark", "baryon")
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(code, "block", "exec"), world)


def count_quantized(path):
    return sum(node.op_type == "QuantizeLinear" for node in onnx.load(path).graph.node)


def look_at(score, name, places):
    """What the block was for, in what it left."""
    if name.startswith(("000", "001.1", "001.2", "001.5", "001.7")):
        score.check(count_quantized(places["out"]) > 50, f"{name}: the model is not quantized")
    if name.startswith("001.5"):
        nodes = {node.name: node for node in onnx.load(places["out"]).graph.node}
        made = {out for node in nodes.values() if node.op_type == "DequantizeLinear" for out in node.output}
        score.check(places["end"] in nodes and nodes[places["end"]].input[0] not in made, "the subgraph is not float")
    if name.startswith("001.8"):
        types = [node.op_type for node in onnx.load(places["out"]).graph.node]
        score.check("Cast" in types and "QuantizeLinear" not in types, "the model has no Casts")
    if name.startswith("001.6"):
        onnx.checker.check_model(onnx.load(places["out"]))


def do(score, name, text, waits, places, world):
    failure = raised(run, text, places, world)
    state = "runs"
    if waits:
        named = isinstance(failure, NotImplementedError) and waits in str(failure)
        score.check(named, f"{name}: NotImplementedError of {waits} is expected, not {failure!r}")
        state = f"waits for {waits}"
    elif score.check(failure is None, f"{name}: {failure!r}"):
        look_at(score, name, places)
    print(f"  {name:32} {state}")


def check_evaluate(score):
    """Both spellings of the commands give the eight lines."""
    labels = ["cos similarity", "l2 distance", "psnr", "ssim"]
    for module in ("baryon.onnx.tools.evaluate", "baryon.onnx.tools.evaluate.py"):
        done = subprocess.run(
            [sys.executable, "-m", module, "--baseline_results_folder", "output_fp32",
             "--quantized_results_folder", "output_int8"], stdout=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
        lines = done.stdout.splitlines()
        told = [line.rpartition(": ")[0] for line in lines]
        wanted = [f"{how} {label}" for label in labels for how in ("Mean", "Max" if "l2" in label else "Min")]
        score.check(done.returncode == 0 and told == wanted, f"{module}: {done.stdout}")
        values = [float(line.rpartition(": ")[2]) for line in lines]
        score.check(values and 0.5 < values[0] <= 1, f"{module}: {values}")
    golden = ROOT / "tests/golden/evaluate"
    done = subprocess.run([sys.executable, "-m", module, golden / "plain/one", golden / "plain/two", "--compat"],
                          stdout=subprocess.PIPE, text=True, check=False)  # fmt: skip
    told = dict(line.split(": ") for line in done.stdout.splitlines())
    theirs = json.loads((golden / "answers.json").read_text("utf-8"))["plain"]["lines"]
    same = list(told) == list(theirs) and all(abs(float(told[key]) / value - 1) < 2e-5 for key, value in theirs.items())
    score.check(same, f"what Quark's tool says: {told}, {theirs}")
    done = subprocess.run([sys.executable, "-m", module, "none", "none"], stderr=subprocess.PIPE, check=False)
    score.check(done.returncode == 3 and b"none" in done.stderr, "folders that are not there")


def main():
    score = Score()
    if not SOURCE.exists():
        print("skipped: tests/zoo/fetch.sh gets the model")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.mkdir("calib")
        rng = np.random.default_rng(3)
        for i in range(6):
            np.save(f"calib/{i}.npy", rng.normal(size=SHAPE).astype(np.float32))
        fix_sizes()
        start, end = ends(MODEL)
        places = {"model": MODEL, "out": "out.onnx", "data": "calib", "input": "x", "quantized": "q.onnx",
                  "start": start, "end": end, "half": "half.onnx", "mixed": "mixed.onnx"}  # fmt: skip
        subprocess.run([PROGRAM, "convert", MODEL, "-o", "half.onnx", "--to", "fp16", "-q"], check=True,
                       stdout=subprocess.DEVNULL)  # fmt: skip
        # What of PyYAML the blocks call; all JSON is YAML.
        sys.modules.setdefault("yaml", types.SimpleNamespace(dump=lambda data, file, **_: json.dump(data, file)))
        reader = Again([{"x": sample} for sample in load_samples("calib")])
        given = {"load_samples": load_samples, "calib_data_reader": reader, "data_reader": reader,
                 "calibration_dataset": reader, "input_model_path": str(MODEL),
                 "output_model_path": "out.onnx"}  # fmt: skip
        for name, (text, waits) in BLOCKS.items():
            world = dict(given)
            if name.startswith("004"):  # it uses names that it does not import
                run("from quark.onnx import BaseDataType, QTensorConfig, QuantGranularity, ScaleType", {}, world)
            do(score, name, text, waits, places, world)
            if name in KEPT:
                os.replace("out.onnx", KEPT[name])
        check_evaluate(score)
        os.chdir("/")
    return score.finish()


if __name__ == "__main__":
    raise SystemExit(main())
