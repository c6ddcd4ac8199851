"""Writes ops/models/PRESET.onnx, a small network that Quark has quantized, and ops/models.json: hashes of
what it gives with Quark's library. tests/diff/test_ops_models.py runs them with ours.

Needs the packages amd-quark (0.13) and its torch and onnxruntime. Weights and samples are small whole
numbers, so that sums are exact and no processor's way of adding up shows.
"""

import json
import os
import pathlib
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization.calibrate import CalibrationDataReader
from quark.onnx import ModelQuantizer, get_library_path
from quark.onnx.quantization.config import Config, get_default_config

HERE = pathlib.Path(__file__).parent.resolve()
sys.path.insert(0, str(HERE.parent / "diff"))
import dtype_data as data  # noqa: E402
import ops_model_data as models  # noqa: E402


def weight(name, seed, *shape):
    values = (data.words(seed, int(np.prod(shape))) % np.uint64(5)).astype("f4") / 4 - 0.5
    return numpy_helper.from_array(values.reshape(shape), name)


def network(path):
    nodes = [
        helper.make_node("Conv", ["x", "w1", "b1"], ["c1"], "conv1", kernel_shape=[3, 3], pads=[1] * 4),
        helper.make_node("Relu", ["c1"], ["r1"], "relu1"),
        helper.make_node("Conv", ["r1", "w2", "b2"], ["c2"], "conv2", kernel_shape=[3, 3], pads=[1] * 4, strides=[2, 2]),
        helper.make_node("Relu", ["c2"], ["r2"], "relu2"),
        helper.make_node("Add", ["r2", "r2"], ["a"], "add"),
        helper.make_node("GlobalAveragePool", ["a"], ["p"], "pool"),
        helper.make_node("Flatten", ["p"], ["f"], "flatten"),
        helper.make_node("Gemm", ["f", "w3", "b3"], ["y"], "gemm", transB=1),
    ]
    weights = [weight("w1", 1, 12, 3, 3, 3), weight("b1", 2, 12), weight("w2", 3, 10, 12, 3, 3), weight("b2", 4, 10),
               weight("w3", 5, 6, 10), weight("b3", 6, 6)]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
            for name, shape in (("x", [1, 3, 16, 16]), ("y", [1, 6])))
    graph = helper.make_graph(nodes, "small", [x], [y], weights)
    onnx.save(helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)]), path)


class Reader(CalibrationDataReader):
    def __init__(self):
        self.samples = iter(models.samples())

    def get_next(self):
        return next(self.samples, None)


def main():
    folder = HERE / "ops/models"
    folder.mkdir(parents=True, exist_ok=True)
    answers = {}
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)  # Quark writes a table there
        network("float.onnx")
        for preset in models.PRESETS:
            config = get_default_config(preset)
            config.include_cle = False  # factors that are no whole numbers
            path = folder / f"{preset}.onnx"
            ModelQuantizer(Config(global_quant_config=config)).quantize_model("float.onnx", str(path), Reader())
            answers[preset] = models.answer(path, get_library_path())
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in answers.items())
    (HERE / "ops/models.json").write_text("{\n" + lines + "\n}\n")


if __name__ == "__main__":
    main()
