"""What the program writes is loaded and run by ONNX Runtime: models with what once was written wrong."""

import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

from dump import BUILD, Score

ort.set_default_logger_severity(4)
FLOAT = TensorProto.FLOAT
RNG = np.random.default_rng(7)


def constant(name, values):
    return numpy_helper.from_array(np.asarray(values), name)


def weights(name, *shape):
    return constant(name, RNG.normal(size=shape).astype(np.float32))


def model(nodes, inputs, outputs, constants, opset=17):
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info(name, FLOAT, dims) for name, dims in inputs],
        [helper.make_tensor_value_info(name, FLOAT, dims) for name, dims in outputs], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def padded(mode):
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"], "conv"),
             helper.make_node("Pad", ["c", "pads", "value"], ["p"], "pad", mode=mode),
             helper.make_node("Conv", ["p", "w2"], ["y"], "conv2")]
    return model(nodes, [("x", [1, 3, 8, 8])], [("y", [1, 2, 6, 6])],
                 [weights("w", 4, 3, 3, 3), weights("w2", 2, 4, 3, 3),
                  constant("pads", np.array([0, 0, 1, 1, 0, 0, 1, 1])), constant("value", np.float32(0))])


def stacked():
    return model([helper.make_node("MatMul", ["x", "w"], ["y"], "mm")], [("x", [2, 4, 6])], [("y", [2, 4, 5])],
                 [weights("w", 2, 6, 5)])


def reshaped():
    nodes = [helper.make_node("Reshape", ["x", "shape"], ["r"], "reshape"),
             helper.make_node("Resize", ["r", "", "scales"], ["s"], "resize"),
             helper.make_node("Conv", ["s", "w"], ["y"], "conv")]
    return model(nodes, [("x", [1, 3, 64])], [("y", [1, 8, 14, 14])],
                 [constant("shape", np.array([1, 3, 8, 8])), constant("scales", np.float32([1, 1, 2, 2])),
                  weights("w", 8, 3, 3, 3)])


def runs(path):
    """None, or what ONNX Runtime says."""
    try:
        onnx.checker.check_model(str(path), full_check=True)
        session = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
        session.run(None, {port.name: RNG.normal(size=port.shape).astype(np.float32) for port in session.get_inputs()})
    except Exception as error:  # whatever it is, it is the finding
        return str(error)[:300]
    return None


CASES = {
    "pad-reflect": (padded("reflect"), ["quantize", "--no-judge", "-p", "U8U8_AAWA", "--random", "2", "--format", "qoperator"]),
    "pad-edge": (padded("edge"), ["quantize", "--no-judge", "-p", "U8U8_AAWA", "--random", "2", "--format", "qoperator"]),
    "pad-constant": (padded("constant"), ["quantize", "--no-judge", "-p", "U8U8_AAWA", "--random", "2", "--format", "qoperator"]),
    "matmul-stack": (stacked(), ["quantize", "--no-judge", "-p", "A8W8", "--random", "2", "--weight-granularity", "channel"]),
    "matmul-stack-u8s8": (stacked(), ["quantize", "--no-judge", "-p", "U8S8_AAWS", "--random", "2", "--weight-granularity", "channel"]),
    "external-min-1": (reshaped(), ["copy", "--external", "F", "--external-min", "1"]),
}


def main():
    score = Score()
    with tempfile.TemporaryDirectory() as folder:
        for name, (made, (command, *words)) in CASES.items():
            source, out = pathlib.Path(folder, f"{name}.onnx"), pathlib.Path(folder, name, "out.onnx")
            onnx.save(made, source)
            out.parent.mkdir()
            target = ["-o", out] if command == "quantize" else [out]
            done = subprocess.run([BUILD / "baryon", command, source, *target, *words], check=False,
                                  capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
            if score.check(done.returncode == 0, f"{name}: {done.stderr}"):
                problem = runs(out)
                score.check(problem is None, f"{name}: {problem}")
    return score.finish()


if __name__ == "__main__":
    sys.exit(main())
