"""Round trip of every backend test model of the installed onnx package.

Untouched: byte for byte. After an edit that is undone, and with every message
written anew: accepted by the onnx checker, and ONNX Runtime gives the same bits (of one
model in four; LONG=1: of all).
"""

import functools
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort

from lib.backend import model_files

from dump import tool

PART = 1 if os.environ.get("LONG") else 4
MODES = ("untouched", "edit", "rewrite", "canonical")
ort.set_default_logger_severity(4)


def resave(mode, models, folder):
    out = folder / mode
    out.mkdir()
    lines = "".join(f"{path}\t{out / (name + '.onnx')}\n" for name, path in models)
    run = subprocess.run([tool("resave"), mode], input=lines, text=True,
                         capture_output=True)
    for line in run.stdout.splitlines():
        print(mode, line)
    return {name: out / f"{name}.onnx" for name, _ in models}


def random_inputs(session, seed):
    """Inputs for a model with plain tensor inputs, else None."""
    rng = np.random.default_rng(seed)
    kinds = {"tensor(float)": np.float32, "tensor(double)": np.float64,
             "tensor(int64)": np.int64, "tensor(int32)": np.int32, "tensor(bool)": np.bool_,
             "tensor(float16)": np.float16, "tensor(uint8)": np.uint8, "tensor(int8)": np.int8}
    feed = {}
    for port in session.get_inputs():
        kind = kinds.get(port.type)
        if kind is None:
            return None
        shape = [d if isinstance(d, int) else 2 for d in port.shape]
        feed[port.name] = (rng.random(shape) * 3).astype(kind)
    return feed


def session_of(data):
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    try:
        return ort.InferenceSession(data, options)
    except Exception:
        return None


def outputs_of(session, feed):
    try:
        return session.run(None, feed)
    except Exception as error:
        return type(error).__name__


def same(a, b):
    if isinstance(a, str) or isinstance(b, str):
        return a == b
    return len(a) == len(b) and all(
        type(x) is type(y) and (not isinstance(x, np.ndarray) or (
            x.dtype == y.dtype and x.shape == y.shape and
            (x.dtype == object and (x == y).all() or x.tobytes() == y.tobytes())))
        for x, y in zip(a, b))


def random_op(model):
    nodes = [n.op_type for n in model.graph.node]
    return any(n in ("RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike",
                     "Multinomial", "Bernoulli", "Dropout") for n in nodes)


def checker_accepts(data):
    try:
        onnx.checker.check_model(data, full_check=True)
        return True
    except Exception:
        return False


def main():
    passed = failed = compared = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "in").mkdir()
        models = model_files(folder / "in")
        saved = {mode: resave(mode, models, folder) for mode in MODES}
        for number, (model_name, path) in enumerate(models):
            source = path.read_bytes()
            wrong = []
            results = {m: saved[m][model_name].read_bytes() if saved[m][model_name].exists()
                       else None for m in MODES}
            if results["untouched"] != source:
                wrong.append("untouched: bytes differ")
            model = onnx.load_from_string(source)
            accepts = functools.cache(checker_accepts)
            valid = accepts(source)
            session = session_of(source) if number % PART == 0 else None
            feed = random_inputs(session, 7) if session else None
            reference = None
            if feed is not None and not random_op(model):
                reference = outputs_of(session, feed)
                compared += not isinstance(reference, str)
            for mode in MODES[1:]:
                data = results[mode]
                if data is None:
                    wrong.append(f"{mode}: not saved")
                    continue
                if mode != "edit" and onnx.load_from_string(data) != model:
                    wrong.append(f"{mode}: another model")
                if valid and not accepts(data):
                    wrong.append(f"{mode}: checker refuses")
                if reference is not None and data != source:
                    again = session_of(data)
                    if again is None or not same(reference, outputs_of(again, feed)):
                        wrong.append(f"{mode}: other outputs")
            passed += not wrong
            failed += bool(wrong)
            for text in wrong:
                print(f"{model_name}: {text}")
    print(f"{len(models)} models, outputs of {compared} compared in ONNX Runtime")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or len(models) < 1500 else 0


if __name__ == "__main__":
    sys.exit(main())
