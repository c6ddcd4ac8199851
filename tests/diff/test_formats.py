"""Models of floats of fewer bits and of blocks: which tensors beside Quark 0.13 (recorded answers); nodes,
attributes and stored values beside NumPy and ml_dtypes; and what ONNX Runtime computes with Casts beside what
Quark's operators are, written out in Python.
"""

import json
import pathlib
import subprocess
import tempfile

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
from dump import BUILD, Score
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun
from placement import formats_letters, lift, of_formats

onnxruntime.set_default_logger_severity(4)
ZOO = pathlib.Path("build/zoo/models")
GOLDEN = pathlib.Path(__file__).parent.parent / "golden/placement/formats.json"
# Passes of ours that would change which tensors there are; the peer's were switched off, too.
PLAIN = ["--compat", "quark-0.13", "--cle", "off", "--optimize=false",
         "--pass", "-split-to-slice,-batch-norm-to-conv,-reduce-mean-to-global-average-pool,-split-large-pool"]
FLOATS = {"bf16": (TensorProto.BFLOAT16, ml_dtypes.bfloat16), "fp16": (TensorProto.FLOAT16, np.float16),
          "fp8_e4m3": (TensorProto.FLOAT8E4M3FN, ml_dtypes.float8_e4m3fn),
          "fp8_e5m2": (TensorProto.FLOAT8E5M2, ml_dtypes.float8_e5m2)}
BFP = {"convert_to_bfloat_before_bfp": 0, "rounding_mode": 2, "sub_block_shift_bits": 1, "sub_block_size": 2}
BLOCKS = {"bfp16": {"bfp_method": "to_bfp", "bit_width": 16, "block_size": 8, **BFP},
          "bfp16_raised": {"bfp_method": "to_bfp", "bit_width": 16, "block_size": 8, **BFP,
                           "use_compiler_version_cpu_kernel": 1},
          "mx4": {"bfp_method": "to_bfp_prime", "bit_width": 11, "block_size": 16, **BFP},
          "mx6": {"bfp_method": "to_bfp_prime", "bit_width": 13, "block_size": 16, **BFP},
          "mx9": {"bfp_method": "to_bfp_prime", "bit_width": 16, "block_size": 16, **BFP},
          **{f"mx{kind}": {"element_dtype": kind, "block_size": 32, "rounding_mode": 2}
             for kind in ("int8", "fp8_e5m2", "fp8_e4m3", "fp6_e3m2", "fp6_e2m3", "fp4_e2m1")}}  # fmt: skip
# Where blocks lie in the model below: axes of what products sum over, of Softmax, of channels.
AXES = {"x": 1, "conv": 1, "relu": 1, "sum": 1, "moved": 1, "flat": -1, "left": 1, "up": 1, "up_moved": -2,
        "product": -1, "soft": -1, "scaled": 1, "gemm": 1, "y": 1,
        "conv.w": 1, "conv.b": 0, "shift": 1, "left.w": 0, "gemm.w": 1, "gemm.b": 0}  # fmt: skip


def baryon(*words):
    return subprocess.run([BUILD / "baryon", *map(str, words)], capture_output=True, text=True)


def quantize(score, path, out, *options):
    done = baryon("quantize", "--no-judge", path, "-o", out, "-f", "-q", *options)
    if not score.check(done.returncode == 0, f"{path} {options}: {done.stderr}"):
        return None
    model = onnx.load(out)
    onnx.checker.check_model(model)
    return model


def attributes(node):
    return {a.name: a.s.decode() if a.type == onnx.AttributeProto.STRING else helper.get_attribute_value(a)
            for a in node.attribute}


# --- Which tensors, beside Quark ---


def compare_with_peer(score, folder):
    for case, wanted in json.loads(GOLDEN.read_text()).items():
        name, preset = case.split()
        model = lift(onnx.load(ZOO / f"{name}.onnx"))
        path = f"{folder}/{name}.onnx"
        onnx.save(model, path)
        made = quantize(score, path, f"{folder}/out.onnx", "-p", preset, *PLAIN)
        if made:
            found = formats_letters(model, of_formats(made))
            score.check(found == wanted, f"{case}: {found}, wanted {wanted}")


# --- A model with every case ---


def numbers(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape).astype("f4")


def save(path, opset=19):
    weights = {"conv.w": numbers(1, 12, 8, 3, 3), "conv.b": numbers(2, 12), "shift": numbers(3, 12, 1, 1),
               "left.w": numbers(4, 12, 36), "gemm.w": numbers(5, 7, 432), "gemm.b": numbers(6, 7)}
    weights["left.w"][0, :3] = [-1e-6, 0, 1e-41]  # subnormal in fp16, in bf16
    shapes = {"to_flat": [1, 36, 12], "to_row": [1, 432]}
    node = helper.make_node
    nodes = [node("Conv", ["x", "conv.w", "conv.b"], ["conv"], "conv", pads=[1, 1, 1, 1]),
             node("Relu", ["conv"], ["relu"], "relu"),
             node("Add", ["relu", "shift"], ["sum"], "add"),
             node("Transpose", ["sum"], ["moved"], "transpose", perm=[0, 2, 3, 1]),
             node("Reshape", ["moved", "to_flat"], ["flat"], "reshape"),
             node("MatMul", ["flat", "left.w"], ["left"], "left"),
             node("Softmax", ["left"], ["soft"], "softmax", axis=1),
             node("Transpose", ["flat"], ["up"], "turn", perm=[0, 2, 1]),
             node("Transpose", ["up"], ["up_moved"], "turn back", perm=[0, 2, 1]),
             node("MatMul", ["soft", "up_moved"], ["product"], "product"),
             node("Reshape", ["product", "to_row"], ["scaled"], "row"),
             node("Gemm", ["scaled", "gemm.w", "gemm.b"], ["y"], "gemm", transB=1)]
    tensors = [numpy_helper.from_array(value, name) for name, value in weights.items()]
    tensors += [numpy_helper.from_array(np.array(value, "i8"), name) for name, value in shapes.items()]
    graph = helper.make_graph(nodes, "formats", [helper.make_tensor_value_info("x", 1, [1, 8, 6, 6])],
                              [helper.make_tensor_value_info("y", 1, [1, 7])], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)
    onnx.save(model, path)
    return weights


# --- Quark's operators in Python ---


class ExtendedQuantizeLinear(OpRun):
    op_domain = "com.amd.quark"

    def _run(self, x, scale, zero, axis=None):
        assert scale == 1 and float(zero) == 0 and axis is None
        most = float(ml_dtypes.finfo(zero.dtype).max)
        return (np.clip(x, -most, most).astype(zero.dtype),)


class ExtendedDequantizeLinear(OpRun):
    op_domain = "com.amd.quark"

    def _run(self, q, scale, zero, axis=None):
        assert q.dtype == zero.dtype
        return (q.astype("f4"),)


def evaluate(path, feed):
    model = ReferenceEvaluator(path, new_ops=[ExtendedQuantizeLinear, ExtendedDequantizeLinear])
    return model.run(None, feed)[0]


def run(path, feed):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"]).run(None, feed)[0]


def near(found, wanted, least):
    noise = np.square(found.astype("f8") - wanted).sum()
    return 10 * np.log10(np.square(wanted.astype("f8")).sum() / max(noise, 1e-30)) > least


# --- Floats ---


def rounded(values, kind):
    most = float(ml_dtypes.finfo(kind).max)
    return np.clip(values, -most, most).astype(kind)


def bits(tensor):
    return np.frombuffer(tensor.raw_data, f"u{onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type).itemsize}")


def check_pairs(score, what, model, elem):
    """Every pair has scale 1 and zero point 0 of the type, and Quark's operators are imported."""
    constants = {tensor.name: tensor for tensor in model.graph.initializer}
    pairs = [node for node in model.graph.node if node.op_type.startswith("Extended")]
    score.check(len(pairs) >= 20 and not any(node.attribute for node in pairs), f"{what}: {len(pairs)} nodes")
    for node in pairs:
        scale, zero = (numpy_helper.to_array(constants[name]) for name in node.input[1:])
        good = node.domain == "com.amd.quark" and scale == 1 and scale.shape == () and float(zero) == 0
        score.check(good and constants[node.input[2]].data_type == elem, f"{what}: {node.name}")
    score.check(any(o.domain == "com.amd.quark" and o.version == 1 for o in model.opset_import), f"{what}: import")


def check_stored(score, what, model, weights, suffix, elem, kind):
    """The bits of what is stored are those of ml_dtypes."""
    constants = {tensor.name: tensor for tensor in model.graph.initializer}
    for name, values in weights.items():
        tensor = constants.get(f"{name}_{suffix}")
        if score.check(tensor is not None and tensor.data_type == elem, f"{what}: {name} is stored"):
            wanted = rounded(values, kind).reshape(-1)
            score.check(bits(tensor).tobytes() == wanted.tobytes(), f"{what}: bits of {name}")
        score.check(name not in constants, f"{what}: {name} is still there")


def check_kept(score, what, model, weights, kind):
    """Weights stay float32; what the type cannot hold is cut off."""
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    most = float(ml_dtypes.finfo(kind).max)
    for name, values in weights.items():
        fits = np.abs(values).max() <= most
        found = constants.get(name if fits else f"{name}_clipped")
        score.check(found is not None and (found == np.clip(values, -most, most)).all(), f"{what}: {name}")


def casts_of(model):
    return [node for node in model.graph.node if node.op_type == "Cast"]


def check_float(score, folder, path, weights, name):
    elem, kind = FLOATS[name]
    feed = {"x": numbers(9, 1, 8, 6, 6)}
    types, out = ["-a", name, "-w", name], f"{folder}/{name}.onnx"
    kept = quantize(score, path, out, *types, "--operators", "npu", "--keep-float-weights")
    check_pairs(score, f"{name} kept", kept, elem)
    check_kept(score, f"{name} kept", kept, weights, kind)
    wanted = evaluate(out, feed)
    plain = run(path, feed)
    score.check(near(wanted, plain, 30) and not (wanted == plain).all(), f"{name}: nothing is rounded")
    small = quantize(score, path, out, *types, "--operators", "npu")
    check_pairs(score, f"{name} stored", small, elem)
    check_stored(score, f"{name} stored", small, weights, "quantized", elem, kind)
    score.check((evaluate(out, feed) == wanted).all(), f"{name}: stored weights mean something else")
    check_casts(score, folder, path, weights, name, wanted)


def check_casts(score, folder, path, weights, name, wanted):
    elem, kind = FLOATS[name]
    feed, out = {"x": numbers(9, 1, 8, 6, 6)}, f"{folder}/{name}.cast.onnx"
    types = ["-a", name, "-w", name, "--operators", "npu", "--float-form", "cast"]
    for more in ([], ["--keep-float-weights"], ["--float-clip"]):
        model = quantize(score, path, out, *types, *more)
        what = f"{name} cast {more}"
        targets = {attributes(node)["to"] for node in casts_of(model)}
        score.check(targets == {1, elem} and not any(o.domain for o in model.opset_import), f"{what}: {targets}")
        clips = [node for node in model.graph.node if node.op_type == "Clip"]
        there = sum(attributes(node)["to"] == elem for node in casts_of(model))
        score.check(len(clips) == (there if "--float-clip" in more else 0), f"{what}: {len(clips)} Clips")
        if more != ["--keep-float-weights"]:
            check_stored(score, what, model, weights, "quantized", elem, kind)
        found = run(out, feed)
        score.check(wanted is None or near(found, wanted, 60), f"{what}: ONNX Runtime computes something else")
        score.check(np.isfinite(found).all(), f"{what}: not finite")


def check_compiler(score, folder, path, weights):
    out = f"{folder}/compiler.onnx"
    model = quantize(score, path, out, "-p", "BF16", "--float-form", "compiler")
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    for name, values in weights.items():
        found = constants.get(f"{name}_bf16")
        good = found is not None and found.dtype == np.float32
        score.check(good and (found == rounded(values, ml_dtypes.bfloat16).astype("f4")).all(), f"compiler: {name}")
    casts = casts_of(model)
    score.check([node.input[0] for node in casts] == ["x", casts[0].output[0]], "compiler: only the input is cast")
    score.check(not any(o.domain for o in model.opset_import), "compiler: imports")
    run(out, {"x": numbers(9, 1, 8, 6, 6)})


def check_beyond(score, folder, name, far):
    """A weight that the type cannot hold becomes the greatest that it can, stored or not."""
    path, out = f"{folder}/beyond.onnx", f"{folder}/{name}.beyond.onnx"
    elem, kind = FLOATS[name]
    weights = {"w": np.array([[far, 1], [2, -far]], "f4")}
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"], "product")], "beyond",
                              [helper.make_tensor_value_info("x", 1, [1, 2])],
                              [helper.make_tensor_value_info("y", 1, [1, 2])],
                              [numpy_helper.from_array(weights["w"], "w")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9), path)
    for form in ("quark", "cast"):
        types = ["-a", name, "-w", name, "--float-form", form]
        model = quantize(score, path, out, *types, "--keep-float-weights")
        check_kept(score, f"{name} {form} beyond", model, weights, kind)
        model = quantize(score, path, out, *types)
        check_stored(score, f"{name} {form} beyond", model, weights, "quantized", elem, kind)


# --- Blocks ---


def check_block(score, folder, path, weights, name, options, changes):
    out, what = f"{folder}/{name}.onnx", f"{name} {options}"
    model = quantize(score, path, out, "-a", name, "-w", name, "--operators", "npu", "--optimize=false", *options)
    wanted, axes = {**BLOCKS[name], **changes}, dict(AXES)
    axes = {key: changes.get("axis", axis) if len(weights.get(key, np.zeros((1, 1))).shape) > 1 else axis
            for key, axis in axes.items()}
    wanted.pop("axis", None)
    nodes = [node for node in model.graph.node if node.domain]
    operator = "MXQuantizeDequantize" if "element_dtype" in wanted else "BFPQuantizeDequantize"
    score.check({(n.op_type, n.domain) for n in nodes} == {(operator, "com.amd.quark")}, f"{what}: operators")
    for node in nodes:
        found, tensor = attributes(node), node.input[0].removesuffix("_QuantizeLinear_Input")
        axis = found.pop("axis")
        score.check(found == wanted, f"{what}: {tensor} {found}")
        score.check(axis == axes[tensor], f"{what}: {tensor} along {axis}, wanted {axes[tensor]}")
    score.check({n.input[0] for n in nodes} >= set(weights), f"{what}: weights without a node")
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    score.check(all((constants[key] == values).all() for key, values in weights.items()), f"{what}: weights")
    score.check([o.name for o in model.graph.output] == ["y"], f"{what}: outputs")


def main():
    score = Score()
    with tempfile.TemporaryDirectory() as folder:
        compare_with_peer(score, folder)
        path = f"{folder}/model.onnx"
        weights = save(path)
        for name in ("bf16", "fp16"):
            check_float(score, folder, path, weights, name)
        for name in ("fp8_e4m3", "fp8_e5m2"):
            check_casts(score, folder, path, weights, name, None)
        check_compiler(score, folder, path, weights)
        check_beyond(score, folder, "fp16", 1e5)
        check_beyond(score, folder, "bf16", 3.4e38)
        for name in BLOCKS:
            check_block(score, folder, path, weights, name, [], {})
        check_block(score, folder, path, weights, "bfp16",
                    ["--block-size", "16", "--block-ties", "away", "--block-from-bf16", "--block-axis", "-1",
                     "--block-axis-everywhere"],
                    {"block_size": 16, "rounding_mode": 0, "convert_to_bfloat_before_bfp": 1, "axis": -1})
        check_block(score, folder, path, weights, "mxint8", ["--block-ties", "up"], {"rounding_mode": 1})
    return score.finish()


if __name__ == "__main__":
    raise SystemExit(main())
