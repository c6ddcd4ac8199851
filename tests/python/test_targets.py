"""Every way to ask for a target that `baryon check --target` knows gives a model that passes the check:
presets, options, files, Quark's names and classes, on a real model with real samples."""

import json
import logging
import os
import subprocess
import tempfile
from itertools import chain

from world import PROGRAM, ROOT, Again, Score

import numpy as np

import baryon
import baryon.onnx as bo
from baryon.onnx import (
    BiasCorrectionConfig, CalibrationMethod, CLEConfig, Config, Int8Spec, LayerWiseMethod, ModelQuantizer,
    PowerOfTwoMethod, QConfig, QLayerConfig, QuantizationConfig, QuantType, UInt8Spec, XInt8Spec,
)  # fmt: skip

ZOO = ROOT / "build/zoo"
MODEL, DATA = ZOO / "models/ppocr_cls.onnx", ZOO / "data/ppocr_cls"
SAMPLES = 2
LONG = os.environ.get("LONG", "") not in ("", "0")


def program(*words):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, check=False)


def listed(*words):
    (rows,) = json.loads(program(*words, "--json").stdout).values()
    return [row["name"] for row in rows]


# --- The program ---

OPTIONS = {
    "hardware": ["--hardware", "xint8"],
    "unsigned": ["--hardware", "xint8", "--activation", "uint8"],
    "a method": ["--hardware", "xint8", "--activation-method", "percentile", "--weight-method", "minmax"],
    "a preset of another target": ["--preset", "A8W8", "--hardware", "xint8"],
    "rounding": ["--hardware", "xint8", "--rounding", "descent", "--cle", "off"],
    "every operator": ["--hardware", "xint8", "--all-op-types"],
    "no simulation": ["--hardware", "xint8", "--simulate-dpu=false"],
    "--extra EnableNPUCnn": ["--extra", "EnableNPUCnn=True"],
    "--extra enable_npu_cnn": ["--extra", "enable_npu_cnn=True", "--extra", "calibrate_method=MinMSE"],
    "--extra NonOverflow": ["--extra", "EnableNPUCnn=True", "--extra", "calibrate_method=NonOverflow"],
}
FILES = {
    "hardware": "hardware: xint8\n",
    "enable_npu_cnn": "enable_npu_cnn: true\ncalibrate_method: PowerOfTwoMethod.MinMSE\n",
    "extra_options": "extra_options: {EnableNPUCnn: true, MinMSEModePof2Scale: MostCommon}\n",
    "Vitis AI": "preset: VINT8\nenable_npu_cnn: true\nextra_options: {Int32Bias: false}\n",
}


def named_presets():
    """Presets whose rules of hardware are those of a target."""
    for number, name in enumerate(listed("presets")):
        if not LONG and number % 16 and name not in ("XINT8", "VINT8", "XINT8_ADAROUND"):
            continue
        if baryon.preset(name).get("hardware") == "xint8":
            yield name


def commands(folder):
    for name in named_presets():
        yield f"preset {name}", ["--preset", name]
    for name, words in OPTIONS.items():
        yield f"options, {name}", words
    for name, text in FILES.items():
        path = folder / f"{name}.yaml"
        path.write_text(text, encoding="utf-8")
        yield f"a file, {name}", ["--config", path]


def run_commands(out):
    for name, words in commands(out.parent):
        done = program("quantize", MODEL, "-o", out, "--force", "--data", DATA, "--limit", SAMPLES, *words)
        yield name, done.stderr if done.returncode else None


# --- Python ---


def _layer(activation, weight=XInt8Spec):
    return QLayerConfig(input_tensors=activation(), weight=weight())


def classes():
    for name in (name for name in bo.__all__ if name.endswith("_QCONFIG") and "INT8" in name):
        yield name, getattr(bo, name)
    yield "XInt8Spec", QConfig(_layer(XInt8Spec))
    yield "XInt8Spec and CLE", QConfig(_layer(XInt8Spec), algo_config=[CLEConfig(), BiasCorrectionConfig()])
    for spec in (XInt8Spec, Int8Spec, UInt8Spec):
        yield f"{spec.__name__} and EnableNPUCnn", QConfig(_layer(spec, Int8Spec), EnableNPUCnn=True)
    for method in (*PowerOfTwoMethod, *CalibrationMethod, *LayerWiseMethod):
        if method is not CalibrationMethod.Distribution:
            yield str(method), Config(QuantizationConfig(calibrate_method=method, enable_npu_cnn=True))
    flat = {"calibrate_method": PowerOfTwoMethod.MinMSE, "activation_type": QuantType.QUInt8}
    yield "unsigned", Config(QuantizationConfig(enable_npu_cnn=True, **flat))
    yield "extra_options", Config(QuantizationConfig(extra_options={"EnableNPUCnn": True}, **flat))
    for name in named_presets():
        yield f"get_default_config {name}", QConfig.get_default_config(name)
        config = QConfig.get_default_config(name)
        config.global_quant_config.extra_options.clear()
        yield f"{name} without its extra options", config


def run_classes(out, data):
    for number, (name, config) in enumerate(classes()):
        if not LONG and number % 12:
            continue
        try:
            ModelQuantizer(config).quantize_model(str(MODEL), str(out), Again(data))
            yield name, None
        except Exception as failure:  # what fails is reported by name
            yield name, str(failure)
    baryon.quantize(MODEL, out, data=data, hardware="xint8", overwrite=True)
    yield "baryon.quantize", None


def check_way(score, targets, out, name, failure):
    if not score.check(failure is None, f"{name}: {failure}"):
        return
    for target in targets:
        done = program("check", out, "--target", target)
        score.check(done.returncode == 0, f"{name}, {target}: {done.stdout}{done.stderr}")
    os.unlink(out)


def main():
    logging.getLogger("baryon").setLevel(logging.ERROR)
    score, targets = Score(), listed("list", "targets")
    score.check(targets == ["xint8", "vitis-ai"], f"a new target: add ways to ask for it ({targets})")
    data = [dict(np.load(path)) for path in sorted(DATA.glob("*.npz"))[:SAMPLES]]
    with tempfile.TemporaryDirectory() as folder:
        out = type(ROOT)(folder) / "out.onnx"
        for name, failure in chain(run_commands(out), run_classes(out, data)):
            check_way(score, targets, out, name, failure)
    return score.finish()


if __name__ == "__main__":
    raise SystemExit(main())
