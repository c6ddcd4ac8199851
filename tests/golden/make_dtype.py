"""Writes dtype/answers.json: what Quark's operators make of the values in tests/diff/dtype_data.py.

Needs the packages amd-quark (0.13) and its torch and onnxruntime. The answers are stored as
hashes of the bytes that came out, so that no test needs them: tests/diff/test_dtype.py compares.
"""

import ctypes
import json
import pathlib
import sys

import numpy as np
import onnxruntime
from onnx import TensorProto, helper
from quark.onnx import get_library_path

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "diff"))
import dtype_data as data  # noqa: E402

INTEGERS = {"uint8": (TensorProto.UINT8, "u1"), "int8": (TensorProto.INT8, "i1"),
            "uint16": (TensorProto.UINT16, "u2"), "int16": (TensorProto.INT16, "i2"),
            "uint32": (TensorProto.UINT32, "u4"), "int32": (TensorProto.INT32, "i4")}
SCALES = [(1.0, 0), (0.3, 3), (0.0078125, 100), (2.5e9, 1)]
LIBRARY = get_library_path()
sessions = {}


def session(operator, inputs, output, rank=0, **attributes):
    # An operator keeps to the first rank that it sees.
    key = operator, rank, tuple(inputs), output, tuple(sorted(attributes.items()))
    if key not in sessions:
        names = ["x", "s", "z"][:len(inputs)]
        node = helper.make_node(operator, names, ["y"], domain="com.amd.quark", **attributes)
        graph = helper.make_graph(
            [node], "one", [helper.make_tensor_value_info(n, t, None) for n, t in zip(names, inputs)],
            [helper.make_tensor_value_info("y", output, None)])
        model = helper.make_model(graph, ir_version=8, opset_imports=[
            helper.make_opsetid("", 17), helper.make_opsetid("com.amd.quark", 1)])
        options = onnxruntime.SessionOptions()
        options.register_custom_ops_library(LIBRARY)
        options.log_severity_level = 3
        sessions[key] = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                                     providers=["CPUExecutionProvider"])
    return sessions[key]


def in_blocks(name, values, axis, size, mode, from_bf16=False):
    operator, attributes = data.operator_of(name, mode)
    attributes |= {"axis": axis, "block_size": size}
    if from_bf16:
        attributes["convert_to_bfloat_before_bfp"] = 1
    run = session(operator, [TensorProto.FLOAT], TensorProto.FLOAT, rank=values.ndim, **attributes)
    return run.run(None, {"x": values})[0]


def integers(name, values, scale, zero):
    elem, kind = INTEGERS[name]
    feeds = {"s": np.array(scale, "f4"), "z": np.array(zero, kind)}
    run = session("ExtendedQuantizeLinear", [TensorProto.FLOAT, TensorProto.FLOAT, elem], elem)
    codes = run.run(None, {"x": values, **feeds})[0]
    run = session("ExtendedDequantizeLinear", [elem, TensorProto.FLOAT, elem], TensorProto.FLOAT)
    return codes, run.run(None, {"x": codes, **feeds})[0]


def float16(values):
    run = session("ExtendedQuantizeLinear", [TensorProto.FLOAT, TensorProto.FLOAT, TensorProto.FLOAT16],
                  TensorProto.FLOAT16)
    return run.run(None, {"x": values, "s": np.array(1, "f4"), "z": np.array(0, "f2")})[0]


def bfloat16(values, scale, zero):
    run = session("ExtendedQuantizeLinear", [TensorProto.FLOAT, TensorProto.FLOAT, TensorProto.BFLOAT16],
                  TensorProto.BFLOAT16)
    bits = (np.array([zero], "f4").view("u4") >> 16).astype("u2")
    bound = run.io_binding()
    bound.bind_cpu_input("x", values)
    bound.bind_cpu_input("s", np.array([scale], "f4"))
    bound.bind_ortvalue_input(
        "z", onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, TensorProto.BFLOAT16))
    bound.bind_output("y")
    run.run_with_iobinding(bound)
    out = bound.get_outputs()[0]  # numpy has no such type
    return np.frombuffer((ctypes.c_uint16 * values.size).from_address(out.data_ptr()), "u2").copy()


def modes_of(name):
    """Floats are rounded half to even whatever the operator is asked for."""
    return ["even"] if name.startswith("mxfp") else list(data.TIES)


def main():
    answers = {}
    for mode in data.TIES:
        sessions.clear()
        names = [name for name in data.BLOCK_FORMATS if mode in modes_of(name)]
        found = data.digests_of_million(
            names, lambda name, values, axis: in_blocks(name, values, axis, data.size_of(name), mode))
        answers |= {f"{name} {mode} million": digest for name, digest in found.items()}
    many = data.million_floats()
    for name in data.BLOCK_FORMATS:
        sessions.clear()
        size = data.size_of(name)
        modes = modes_of(name)
        for mode in modes:
            for kind, values, axis in data.sets():
                answers[f"{name} {mode} {kind}"] = data.digest(in_blocks(name, values, axis, size, mode))
            for shape in data.SHAPES:
                answers[f"{name} {mode} {shape}"] = data.digest(*(
                    in_blocks(name, values, axis, other, mode)
                    for values, axis, other in data.ragged(shape) if data.has_size(name, other)))
        if name.startswith("bfp"):
            for kind, values, axis in data.sets():
                answers[f"{name} bf16 {kind}"] = data.digest(in_blocks(name, values, axis, size, "even", True))
    values = data.for_integers()
    for name in INTEGERS:
        for scale, zero in SCALES:
            codes, back = integers(name, values, scale, zero)
            answers[f"{name} {scale} {zero}"] = [data.digest(codes), data.digest(back)]
            answers[f"{name} {scale} {zero} million"] = [data.digest(one) for one in integers(name, many, scale, zero)]
    for kind, values, _ in data.sets():
        answers[f"fp16 {kind}"] = data.digest(float16(values))
        values = values[~np.isnan(values)]
        for scale, zero in SCALES:
            answers[f"bf16 {scale} {zero} {kind}"] = data.digest(bfloat16(values, scale, zero))
    folder = HERE / "dtype"
    folder.mkdir(exist_ok=True)
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in answers.items())
    (folder / "answers.json").write_text("{\n" + lines + "\n}\n")


if __name__ == "__main__":
    main()
