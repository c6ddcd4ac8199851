"""How close quantized models come to the float model, on samples that calibration never saw.

    judge.py MODEL QUANTIZED DATA LIMIT [LIBRARY]     one JSON line

DATA/eval/*.npz hold the samples, keys are input names. SQNR in dB, cosine and share of
samples with the same greatest element, for each float output; over all samples. SQNR twice:
as ONNX Runtime computes it, and as the model is written, without integer kernels (those of x86
processors that have no VNNI saturate).
"""

import glob
import json
import os
import sys

import numpy as np
import onnxruntime as ort


def session(path, library=None, as_written=False):
    options = ort.SessionOptions()
    options.log_severity_level = 4
    if as_written:
        options.add_session_config_entry("session.disable_quant_qdq", "1")
    if library:
        options.register_custom_ops_library(library)
    return ort.InferenceSession(path, options)


def samples(folder, limit):
    for path in sorted(glob.glob(os.path.join(folder, "*.npz")))[:limit]:
        with np.load(path) as archive:
            yield {key: archive[key] for key in archive.files}


def new_row():
    return {"signal": 0.0, "noise": 0.0, "cosine": [], "same": []}


def add(row, want, got):
    norms = np.linalg.norm(want) * np.linalg.norm(got)
    row["signal"] += want @ want
    row["noise"] += (want - got) @ (want - got)
    row["cosine"].append(want @ got / norms if norms else float(not want.any() and not got.any()))
    row["same"].append(want.argmax() == got.argmax())


def decibels(row):
    return float(10 * np.log10(max(row["signal"], 1e-30) / max(row["noise"], 1e-30)))


def judge(model, quantized, folder, limit, library=None):
    float_model, rows = session(model), ({}, {})
    small = session(quantized, library), session(quantized, library, True)
    for sample in samples(os.path.join(folder, "eval"), limit):
        wanted = float_model.run(None, sample)
        for one, found in zip(small, rows):
            for output, want, got in zip(float_model.get_outputs(), wanted, one.run(None, sample)):
                if want.dtype.kind == "f" and want.shape == got.shape:
                    row = found.setdefault(output.name, new_row())
                    add(row, want.astype("f8").ravel(), got.astype("f8").ravel())
    return {name: {"sqnr_db": decibels(row), "written_db": decibels(rows[1][name]),
                   "cosine": float(np.mean(row["cosine"])), "same_top1": float(np.mean(row["same"]))}
            for name, row in rows[0].items()}


if __name__ == "__main__":
    print(json.dumps(judge(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), *sys.argv[5:6])))
