"""Weights that are stored in blocks: what NumPy reads out of codes and scales beside what the operators of
libbaryon_ops.so make of the floats, and whole models in ONNX Runtime, stored and not, bit for bit. With
--block-form onnx the onnx package's checker and its evaluator read them.
"""

import pathlib
import subprocess
import tempfile

import dtype_data as data
import numpy as np
import onnx
import ml_dtypes
import onnxruntime
from dump import BUILD, Score, some
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from ops_data import FLOAT, Node
from test_formats import save

LIBRARY = BUILD / "libbaryon_ops.so"
CODES = {"bfp16": TensorProto.INT8, "bfp16_raised": TensorProto.INT8, "mx4": TensorProto.INT4, "mx6": TensorProto.INT8,
         "mx9": TensorProto.INT16, "mxint8": TensorProto.INT8, "mxfp8_e5m2": TensorProto.FLOAT8E5M2,
         "mxfp8_e4m3": TensorProto.FLOAT8E4M3FN, "mxfp6_e3m2": TensorProto.FLOAT8E4M3FN,
         "mxfp6_e2m3": TensorProto.FLOAT8E4M3FN, "mxfp4_e2m1": TensorProto.FLOAT8E4M3FN}  # fmt: skip
OWN = CODES | {"mxfp4_e2m1": TensorProto.FLOAT4E2M1}
OWN_28 = OWN | {"mxfp6_e3m2": TensorProto.FLOAT6E3M2, "mxfp6_e2m3": TensorProto.FLOAT6E2M3}
BITS = {TensorProto.INT4: 4, TensorProto.FLOAT4E2M1: 4, TensorProto.FLOAT6E3M2: 6, TensorProto.FLOAT6E2M3: 6,
        TensorProto.INT16: 16}  # fmt: skip
IR_VERSIONS = {21: 10, 24: 12, 25: 13, 28: 14}
LEVELS = [onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL, onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
          onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL]
TYPES = ["-a", "bf16", "--align-elementwise=false", "--keep-float-weights=false", "--all-op-types", "-w"]
onnxruntime.set_default_logger_severity(4)


def quantize(score, path, out, *options):
    done = subprocess.run([BUILD / "baryon", "quantize", "--no-judge", path, "-o", out, "-f", "-q", *map(str, options)],
                          capture_output=True, text=True)
    return score.check(done.returncode == 0, f"{path} {options}: {done.stderr}")


# --- Tensors ---


def weights_of(size, axis):
    """Arrays of all shapes: normal numbers, subnormal ones, zeros, blocks far from each other. What mxint8 rounds
    up to 2^128 is left out."""
    for number, shape in enumerate(data.SHAPES):
        if axis >= len(shape):
            continue
        values = data.blocks(70 + number + size, 1, int(np.prod(shape))).reshape(shape)
        plain = (data.words(80 + number, values.size) % np.uint64(2001)).astype("f4").reshape(shape) / 250 - 4
        yield np.where(np.isfinite(values) & (np.abs(values) < 1e38), values, plain).astype("f4")
        yield plain


def without_small(values):
    """Without blocks that float8e8m0 has no scale for."""
    return np.where(np.abs(values) < 2.0**-100, np.float32(0), values).astype("f4")


def save_sums(path, weights, opset=21):
    """An Add for each array: its blocks lie along whatever axis is asked for."""
    nodes, inputs, outputs, tensors = [], [], [], []
    for i, values in enumerate(weights):
        nodes.append(helper.make_node("Add", [f"x{i}", f"w{i}"], [f"y{i}"], f"add{i}"))
        inputs.append(helper.make_tensor_value_info(f"x{i}", FLOAT, values.shape))
        outputs.append(helper.make_tensor_value_info(f"y{i}", FLOAT, values.shape))
        tensors.append(numpy_helper.from_array(values, f"w{i}"))
    graph = helper.make_graph(nodes, "sums", inputs, outputs, tensors)
    opsets = [helper.make_opsetid("", opset)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSIONS[opset]), path)


def dequantized(model, name):
    """(values, element type) by NumPy: each code times the scale of its block."""
    constants = {tensor.name: tensor for tensor in model.graph.initializer}
    node = next(n for n in model.graph.node if n.op_type == "DequantizeLinear" and n.input[0] == f"{name}_quantized")
    codes, scales = constants[node.input[0]], numpy_helper.to_array(constants[node.input[1]]).astype("f4")
    attributes = {a.name: a.i for a in node.attribute}
    values = numpy_helper.to_array(codes).astype("f4")
    if scales.shape:
        axis, size = attributes["axis"], attributes["block_size"]
        whole = np.repeat(scales, size, axis)
        scales = np.take(whole, range(values.shape[axis]), axis)
    assert (np.frexp(scales)[0] == 0.5).all()
    return values * scales, codes.data_type


def rounded(name, values, axis, size):
    operator, attributes = data.operator_of(name, "even")
    return Node(LIBRARY, operator, [FLOAT], FLOAT, **(attributes | {"axis": axis, "block_size": size})).run(values)


def check_tensors(score, folder, name, axis, size):
    path, out, weights = f"{folder}/sums.onnx", f"{folder}/stored.onnx", list(weights_of(size, axis))
    save_sums(path, weights)
    if not quantize(score, path, out, *TYPES, name, "--block-axis", axis, "--block-axis-everywhere", "--block-size", size):
        return
    model = onnx.load(out)
    onnx.checker.check_model(model)
    score.check({o.domain for o in model.opset_import} == {"", "com.amd.quark"}, f"{name}: no operators but ONNX's own")
    for i, values in enumerate(weights):
        found, elem = dequantized(model, f"w{i}")
        wanted = rounded(name, values, axis, size)
        what = f"{name} {values.shape} along {axis}, blocks of {size}"
        score.check(elem == CODES[name], f"{what}: stored as {elem}")
        score.check(np.array_equal(found, wanted), f"{what}: {np.flatnonzero(found != wanted)[:5]}")
    check_runs(score, name, model, [rounded(name, v, axis, size) for v in weights])


def readers(model):
    """The model's nodes that read stored constants, alone."""
    nodes = [node for node in model.graph.node if node.op_type == "DequantizeLinear"]
    graph = helper.make_graph(nodes, "read", [], [helper.make_tensor_value_info(n.output[0], FLOAT, None) for n in nodes],
                              model.graph.initializer)
    opsets = [o for o in model.opset_import if not o.domain]
    return helper.make_model(graph, opset_imports=opsets, ir_version=model.ir_version)


def check_runs(score, name, model, wanted):
    """ONNX Runtime reads the same out of them."""
    alone = readers(model)
    session = onnxruntime.InferenceSession(alone.SerializeToString(), providers=["CPUExecutionProvider"])
    for i, values in enumerate(wanted):
        found = session.run([f"w{i}_DequantizeLinear_Output"], {})[0]
        score.check(np.array_equal(found, values), f"{name} {values.shape}: what ONNX Runtime dequantizes")


# --- ONNX's own types ---


def packed(codes, elem):
    """Bytes of a tensor as ONNX packs it."""
    bits = BITS.get(elem, 8)
    return -(-codes.size * bits // 8) if bits < 8 else codes.nbytes


def check_own(score, folder, name, axis, size, opset):
    path, out = f"{folder}/own.onnx", f"{folder}/own-stored.onnx"
    weights = [without_small(values) for values in weights_of(size, axis)]
    save_sums(path, weights)
    if opset > 25:
        model = onnx.load(path)
        model.opset_import[0].version, model.ir_version = opset, IR_VERSIONS[opset]
        onnx.save(model, path)
    if not quantize(score, path, out, *TYPES, name, "--block-form", "onnx", "--block-axis", axis,
                    "--block-axis-everywhere", "--block-size", size):
        return
    model = onnx.load(out)
    onnx.checker.check_model(model, full_check=True)
    score.check({o.version for o in model.opset_import if not o.domain} == {opset}, f"{name}: {model.opset_import}")
    constants = {tensor.name: tensor for tensor in model.graph.initializer}
    wanted_types = OWN_28 if opset > 25 else OWN
    read = ReferenceEvaluator(readers(model)).run([f"w{i}_DequantizeLinear_Output" for i in range(len(weights))], {})
    for i, values in enumerate(weights):
        wanted = rounded(name, values, axis, size)
        what = f"{name} {values.shape} along {axis}, blocks of {size}, opset {opset}"
        found, elem = dequantized(model, f"w{i}")
        codes, scales = constants[f"w{i}_quantized"], constants[f"w{i}_scale"]
        score.check(elem == wanted_types[name] and scales.data_type == TensorProto.FLOAT8E8M0, f"{what}: {elem}, {scales.data_type}")
        score.check(len(codes.raw_data) == packed(values, elem) if BITS.get(elem, 8) < 8 else True, f"{what}: {len(codes.raw_data)} bytes")
        score.check(np.array_equal(found, wanted), f"{what}: {np.flatnonzero(found != wanted)[:5]}")
        score.check(np.array_equal(read[i], wanted), f"{what}: what onnx's evaluator reads")
        powers = np.frombuffer(scales.raw_data, ml_dtypes.float8_e8m0fnu).astype("f4")
        score.check(np.isfinite(powers).all() and (np.frexp(powers)[0] == 0.5).all(), f"{what}: scales that are no powers of two")
    done = subprocess.run([BUILD / "baryon", "check", out], capture_output=True, text=True)
    score.check(done.returncode == 0, f"{name}: baryon check: {done.stdout} {done.stderr}")


def check_extremes(score, folder):
    """The least scale is written, what would need less is refused; zeros alone have scale 1."""
    path, out = f"{folder}/own.onnx", f"{folder}/own-stored.onnx"
    for least, fits in ((2.0**-125, True), (2.0**-126, False), (2.0**-149, True), (0, True), (2.0**127, True)):
        values = np.zeros((3, 40), "f4")
        values[1, :4] = np.float32(least) * np.array([1, -0.5, 0.25, 0.125], "f4")
        values[2, 35] = 1
        save_sums(path, [values], 25)
        done = subprocess.run([BUILD / "baryon", "quantize", "--no-judge", path, "-o", out, "-f", "-q", *TYPES, "mxfp4_e2m1", "--block-form",
                               "onnx"], capture_output=True, text=True)
        said = "tensor w0: a block of mxfp4_e2m1 is too small for a scale of float8e8m0" in done.stderr.replace("'", "")
        score.check((done.returncode == 0) == fits and (fits or said), f"{least}: {done.stderr}")
        if fits:
            read = ReferenceEvaluator(readers(onnx.load(out))).run(None, {})[0]
            score.check(np.array_equal(read, rounded("mxfp4_e2m1", values, 1, 32)), f"{least}: other values")


# --- Models ---


def outputs(path, level, feed):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    options.intra_op_num_threads = 1
    options.register_custom_ops_library(str(LIBRARY))
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"]).run(None, feed)


def check_model(score, folder, path, name, feed, *options):
    kept, stored = f"{folder}/kept.onnx", f"{folder}/stored.onnx"
    types = ["-a", name, "-w", name, "--operators", "npu", "--opset", 21, *options]
    if quantize(score, path, kept, *types) and quantize(score, path, stored, *types, "--keep-float-weights=false"):
        for level in LEVELS:
            same = all(a.tobytes() == b.tobytes() for a, b in zip(outputs(kept, level, feed), outputs(stored, level, feed)))
            score.check(same, f"{name} {options} {path}: other bits at {level}")
    return pathlib.Path(kept).stat().st_size, pathlib.Path(stored).stat().st_size


def main():
    score = Score()
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/model.onnx"
        save(path)
        feed = {"x": np.random.default_rng(9).standard_normal((1, 8, 6, 6)).astype("f4")}
        for name in CODES:
            for axis, size in some(((0, 8), (1, 16), (1, 6), (2, 32))):
                check_tensors(score, folder, name, axis, size)
            for axis, size in some(((0, 8), (1, 32), (2, 6))):
                check_own(score, folder, name, axis, size, 24)
            check_own(score, folder, name, 1, 32, 28)
            check_model(score, folder, path, name, feed)
            check_model(score, folder, path, name, feed, "--block-size", 16, "--block-ties", "away")
        check_extremes(score, folder)
        for name in ("mx4", "mxint8", "mxfp8_e4m3"):
            zoo = pathlib.Path("build/zoo/models/ppocr_cls.onnx")
            picture = {"x": np.random.default_rng(3).uniform(-1, 1, (1, 3, 48, 192)).astype("f4")}
            before, after = check_model(score, folder, zoo, name, picture)
            score.check(after < before * 0.6, f"{zoo} {name}: {before} bytes, stored {after}")
    return score.finish()


if __name__ == "__main__":
    raise SystemExit(main())
