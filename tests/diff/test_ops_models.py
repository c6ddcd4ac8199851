"""Networks that Quark has written: with libbaryon_ops.so they give what they give with Quark's library, bit
for bit, and the program runs them without being told of it."""

import json
import pathlib
import subprocess
import tempfile

import dtype_data as data
import numpy as np
import onnx
import ops_model_data as models
from dump import BUILD, Score

GOLDEN = pathlib.Path(__file__).parent.parent / "golden/ops"
LIBRARY = BUILD / "libbaryon_ops.so"


def test_quarks_answers(score, wanted):
    for preset in models.PRESETS:
        path = GOLDEN / f"models/{preset}.onnx"
        score.check(models.answer(path, LIBRARY) == wanted[preset], f"{preset}: what Quark's library gives")


def test_other_models(score):
    """The library leaves alone what has none of its operators."""
    path = GOLDEN / "models/A16W8.onnx"
    score.check(data.digest(*models.outputs(path)) == models.answer(path, LIBRARY), "A16W8: as without the library")


def old_names(path, out):
    model = onnx.load(path)
    for node in model.graph.node:
        if node.domain == "com.amd.quark":
            node.domain = "com.vai.quantize"
            node.op_type = node.op_type.replace("Extended", "Vitis").replace("QuantizeDequantize", "FixNeuron")
    model.opset_import.add(domain="com.vai.quantize", version=1)
    onnx.save(model, out)


def test_old_names(score, wanted):
    with tempfile.TemporaryDirectory() as folder:
        for preset in ("BF16", "MX9", "MXINT8"):
            out = f"{folder}/{preset}.onnx"
            old_names(GOLDEN / f"models/{preset}.onnx", out)
            score.check(models.answer(out, LIBRARY) == wanted[preset], f"{preset}: under the old names")


def run_program(preset, samples, out):
    subprocess.run([BUILD / "baryon", "run", "-q", GOLDEN / f"models/{preset}.onnx", "--data", samples, "--out", out],
                   stdout=subprocess.DEVNULL, check=True)
    return data.digest(*(np.load(path) for path in sorted(pathlib.Path(out).rglob("*.npy"))))


def test_program(score, wanted):
    with tempfile.TemporaryDirectory() as folder:
        samples = pathlib.Path(folder, "samples")
        samples.mkdir()
        for i, sample in enumerate(models.samples()):
            np.save(samples / f"{i}.npy", sample["x"])
        for preset in models.PRESETS:
            score.check(run_program(preset, samples, f"{folder}/{preset}") == wanted[preset], f"{preset}: by the program")


def main():
    score = Score()
    wanted = json.loads((GOLDEN / "models.json").read_text())
    test_quarks_answers(score, wanted)
    test_other_models(score)
    test_old_names(score, wanted)
    test_program(score, wanted)
    return score.finish()


if __name__ == "__main__":
    raise SystemExit(main())
