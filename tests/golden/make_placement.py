"""Writes placement/peer.json: which tensors quark.onnx quantizes in real models.

Needs the packages amd-quark (0.13), its torch and onnxruntime, and the models of tests/zoo. The answers
are stored, so that no test needs them: tests/diff/test_quantize.py compares with them. The peer's own
rewriting of graphs is switched off: passes are compared elsewhere.
"""

import json
import logging
import pathlib
import sys
import tempfile

import numpy as np
import onnx
from quark.onnx import ModelQuantizer
from quark.onnx.quantization.config import Config, get_default_config

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "diff"))
from placement import letters, lift, of_quantized  # noqa: E402

ZOO = pathlib.Path("build/zoo")
CASES = [(model, preset) for model in ("magika", "ppocr_cls")
         for preset in ("XINT8", "VINT8", "A8W8", "U8S8_AAWS")] + [("magika", "INT8_TRANSFORMER_DEFAULT")]


class Reader:
    def __init__(self, sample):
        self.sample, self.left = sample, 1

    def get_next(self):
        self.left -= 1
        return self.sample if self.left >= 0 else None

    def rewind(self):
        self.left = 1

    def __len__(self):
        return 1


def quantize(path, preset, sample, out):
    config = get_default_config(preset)
    config.include_cle = config.optimize_model = False
    config.extra_options["SkipPreprocess"] = True
    if preset == "VINT8":
        config.enable_npu_cnn = True
    ModelQuantizer(Config(global_quant_config=config)).quantize_model(path, out, Reader(sample))
    return onnx.load(out)


def main():
    logging.disable(logging.WARNING)
    target = HERE / "placement/peer.json"
    answers = json.loads(target.read_text()) if target.exists() else {}
    for name, preset in CASES:
        if f"{name} {preset}" in answers:
            continue
        model = lift(onnx.load(ZOO / f"models/{name}.onnx"))
        first = sorted((ZOO / f"data/{name}").glob("*.npz"))[0]
        with np.load(first) as archive, tempfile.TemporaryDirectory() as folder:
            sample = {key: archive[key] for key in archive.files}
            path = f"{folder}/model.onnx"
            onnx.save(model, path)
            answers[f"{name} {preset}"] = letters(
                model, *of_quantized(quantize(path, preset, sample, f"{folder}/out.onnx")))
        target.write_text(json.dumps(answers, indent=1) + "\n")


if __name__ == "__main__":
    main()
