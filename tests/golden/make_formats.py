"""Writes placement/formats.json: which tensors quark.onnx makes floats of fewer bits or blocks, and how.

Needs what make_placement.py needs. The answers are stored, so that no test needs Quark:
tests/diff/test_formats.py compares with them.
"""

import json
import logging
import pathlib
import tempfile

import numpy as np
import onnx
from make_placement import HERE, ZOO, quantize
from placement import formats_letters, lift, of_formats

PRESETS = ("FP16", "BF16", "BFP16", "MX4", "MX9", "MXINT8", "MXFP8E4M3", "BF16_BFP16", "BF16_MXINT8", "MX9_INT8")


def main():
    logging.disable(logging.WARNING)
    answers = {}
    for name in ("magika", "ppocr_cls"):
        model = lift(onnx.load(ZOO / f"models/{name}.onnx"))
        with np.load(sorted((ZOO / f"data/{name}").glob("*.npz"))[0]) as archive, \
                tempfile.TemporaryDirectory() as folder:
            sample = {key: archive[key] for key in archive.files}
            onnx.save(model, f"{folder}/model.onnx")
            for preset in PRESETS:
                made = quantize(f"{folder}/model.onnx", preset, sample, f"{folder}/{preset}.onnx")
                answers[f"{name} {preset}"] = formats_letters(model, of_formats(made))
    pathlib.Path(HERE / "placement/formats.json").write_text(json.dumps(answers, indent=1) + "\n")


if __name__ == "__main__":
    main()
