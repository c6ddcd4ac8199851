"""From a float16 detector to an evaluated model of int8 and float16: the way of docs/fp16.md with CenterFace, by the
files that Quark's users have. Skipped where build/zoo has no models."""

import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import onnx
from PIL import Image

BARYON = Path(os.environ.get("BARYON", "build/baryon")).resolve()
ZOO = Path(os.environ.get("ZOO", "build/zoo")).resolve()
F32, F16 = onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16

# Nodes without names go by their first outputs; the four ends stay float16.
CONVERT = """input_model_path: half.onnx
passes:
  onnx_convert_fp16_to_fp32:
    convert_fp16_to_fp32: true
    subgraphs_to_include:
    - - - '363'
      - - '535'
output_model_path: half.converted.onnx
"""
QUANTIZE = """preset: VINT8
subgraphs_to_exclude:
- [['536'], ['537']]
nodes_to_exclude: ['538', '539', '540']
extra_options: {Int32Bias: false, QuantizeFP16: true, UseFP32Scale: false}
"""


def baryon(folder, *words):
    done = subprocess.run([BARYON, *map(str, words)], cwd=folder, capture_output=True, text=True, check=False, timeout=900)
    if done.returncode:
        raise SystemExit(f"baryon {' '.join(map(str, words))}: {done.stderr}")
    return done.stdout


def samples(folder):
    """Parts of pictures to calibrate with, others to judge by."""
    pictures = sorted((ZOO / "pictures").glob("*.*"))
    for name, starts in (("calib", (0.1, 0.2, 0.3)), ("eval", (0,))):
        (folder / name).mkdir()
        for path in pictures:
            whole = Image.open(path).convert("RGB")
            for start in starts:
                box = [round(start * whole.width), round(start * whole.height), whole.width, whole.height]
                pixels = np.asarray(whole.crop(box).resize((160, 160)), np.float32)
                np.savez(folder / name / f"{path.stem}-{start}.npz", **{"input.1": pixels.transpose(2, 0, 1)[None]})
    return len(pictures)


def open_sizes(path, out):
    """The package's model is for ten pictures of 32 x 32."""
    model = onnx.load(path)
    for i, item in enumerate((*model.graph.input[:1], *model.graph.output)):
        for axis in (0, 2, 3):
            item.type.tensor_type.shape.dim[axis].dim_param = f"d{i}{axis}"
    del model.graph.value_info[:]
    onnx.save(model, out)


def results(folder, model, out):
    """SQNR needs equal types: outputs of float16 are widened."""
    baryon(folder, "run", model, "--data", "eval", "--out", out, "--quiet")
    for path in (folder / out).rglob("*.npy"):
        np.save(path, np.load(path).astype(np.float32))


def decibels(folder, one, other):
    signal = noise = 0.0
    for path in (folder / one).rglob("*.npy"):
        a, b = (np.load(p).astype(np.float64) for p in (path, folder / other / path.relative_to(folder / one)))
        signal, noise = signal + (a**2).sum(), noise + ((a - b) ** 2).sum()
    return 10 * np.log10(signal / noise)


def scales(model):
    constants = {i.name: i.data_type for i in model.graph.initializer}
    return {constants[n.input[1]] for n in model.graph.node if n.op_type in ("QuantizeLinear", "DequantizeLinear")}


def flow(folder):
    float_model = folder / "float.onnx"
    open_sizes(ZOO / "models/centerface.onnx", float_model)
    baryon(folder, "convert", float_model, "-o", "half.onnx", "--to", "fp16", "--opset", 21)
    (folder / "convert.yaml").write_text(CONVERT)
    (folder / "quantize.yaml").write_text(QUANTIZE)
    baryon(folder, "convert", "convert.yaml")
    baryon(folder, "quantize", "--no-judge", "half.converted.onnx", "-o", "mixed.onnx", "--config", "quantize.yaml", "--data", "calib", "--quiet")
    baryon(folder, "quantize", "--no-judge", float_model, "-o", "from32.onnx", "-p", "VINT8", "-x", "536,537,538,539,540", "--data", "calib", "--quiet")
    for model, out in ((float_model, "of_float"), ("half.onnx", "of_half"), ("mixed.onnx", "of_mixed"), ("from32.onnx", "of_from32")):
        results(folder, model, out)
    told = baryon(folder, "evaluate", "--baseline-results-folder", "of_float/537", "--quantized-results-folder", "of_mixed/537")
    near = {out: decibels(folder, "of_float", out) for out in ("of_half", "of_mixed", "of_from32")}
    mixed = onnx.load(folder / "mixed.onnx")
    onnx.checker.check_model(mixed, full_check=True)
    half = {i.name for i in mixed.graph.initializer if i.data_type == F16}
    ends = {n.op_type for n in mixed.graph.node if set(n.input) & half and "QuantizeLinear" not in n.op_type}
    types = {o.type.tensor_type.elem_type for o in mixed.graph.output}
    return {
        "the tool's eight lines": told.startswith("Mean cos similarity: ") and told.count("\n") == 8,
        f"float16 is near: {near['of_half']:.1f} dB": near["of_half"] > 35,
        f"as near as from float32: {near['of_mixed']:.1f} dB, {near['of_from32']:.1f} dB": near["of_mixed"] > max(near["of_from32"] - 3, 12),
        "the ends are there, in float16": "Conv" in ends and types == {F16},
        "layers have scales of float32": F32 in scales(mixed),
        "weights are int8": (folder / "mixed.onnx").stat().st_size < float_model.stat().st_size / 3,
    }


def main():
    if not (ZOO / "models/centerface.onnx").exists():
        print("0 passed, 0 failed (no models in build/zoo)")
        return
    with tempfile.TemporaryDirectory() as name:
        count = samples(Path(name))
        checks = flow(Path(name)) if count >= 4 else {f"{count} pictures, 4 are needed": False}
    for what, holds in checks.items():
        print("ok" if holds else "FAIL", what)
    failed = sum(not holds for holds in checks.values())
    print(f"{len(checks) - failed} passed, {failed} failed")
    raise SystemExit(bool(failed))


main()
