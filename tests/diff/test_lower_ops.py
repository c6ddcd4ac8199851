"""Models with MatMulNBits and with layers that quantize while they run.

What is in the model is decoded and computed in float beside ONNX Runtime's run of it; real models are
compared with onnxruntime.quantization.quantize_dynamic. LONG=1: with a model of 3 GB.
"""

import contextlib
import os
import pathlib
import subprocess
import tempfile
import time

import numpy as np
import onnx
import onnx.version_converter
import onnxruntime
from dump import BUILD, Score, tool
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

ZOO = pathlib.Path("build/zoo")
TOOL = tool("quant_dump")
REAL = ("magika", "centerface", "ppocr_cls")
LEVELS = [getattr(onnxruntime.GraphOptimizationLevel, f"ORT_{name}") for name in
          ("DISABLE_ALL", "ENABLE_BASIC", "ENABLE_EXTENDED", "ENABLE_ALL")]
rng = np.random.default_rng(23)


def normal(*shape, scale=0.1):
    return rng.normal(0, scale, shape).astype("f4")


def build(nodes, inputs, constants, outputs=("y",), opset=17):
    def model_with(shapes):
        infos = [helper.make_tensor_value_info(name, TensorProto.INT64 if value.dtype == "i8" else TensorProto.FLOAT,
                                               value.shape) for name, value in inputs.items()]
        graph = helper.make_graph(nodes, "g", infos, [helper.make_tensor_value_info(o, 1, s)
                                                      for o, s in zip(outputs, shapes)],
                                  [numpy_helper.from_array(value, name) for name, value in constants.items()])
        return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", opset),
                                                                     helper.make_opsetid("com.microsoft", 1)])

    return model_with([value.shape for value in run(model_with([None] * len(outputs)), inputs)])


def node(op, inputs, outputs="y", domain="", **attributes):
    return helper.make_node(op, inputs.split(","), outputs.split(","), name=f"{op}_{outputs}", domain=domain,
                            **attributes)


def opened(model, level=LEVELS[-1]):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    options.intra_op_num_threads = 1
    source = model if isinstance(model, str) else model.SerializeToString()
    return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])


def run(model, feeds, level=LEVELS[-1]):
    return opened(model, level).run(None, feeds)


def sqnr(wanted, found):
    pairs = [(w.astype("f8"), f) for w, f in zip(wanted, found) if w.dtype.kind == "f"]
    noise = sum(np.sum((w - f)**2) for w, f in pairs)
    return 10 * np.log10(sum(np.sum(w**2) for w, _ in pairs) / noise) if noise else np.inf


class Quantizer:
    def __init__(self, folder, score):
        self.folder, self.score = folder, score

    def __call__(self, model, settings):
        """The quantized model, or a message."""
        path, out = f"{self.folder}/in.onnx", f"{self.folder}/out.onnx"
        if isinstance(model, str):
            path = model
        else:
            onnx.save(model, path)
        done = subprocess.run([TOOL, path, settings, "-", out], capture_output=True, text=True, check=False)
        if done.returncode:
            return done.stderr.strip()
        return out

    def checked(self, model, settings, feeds, what):
        """Valid, and the same at every optimization level within rounding."""
        out = self(model, settings)
        if not out.endswith("out.onnx"):
            self.score.check(False, f"{what}: {out}")
            return None, None
        made = onnx.load(out)
        onnx.checker.check_model(made)
        found = [run(out, feeds, level) for level in LEVELS]
        for other in found[1:]:
            self.score.check(sqnr(found[0], other) > 38, f"{what}: {sqnr(found[0], other):.1f} dB between levels")
        return made, found[-1]


# --- MatMulNBits ---


def attributes(made):
    return {a.name: helper.get_attribute_value(a) for a in made.attribute}


def floats_of_blocks(levels, scales, zeros, bits, block):
    """[channel][block][byte] as numbers."""
    shifts = np.arange(8 // bits, dtype="u1") * bits
    values = (levels[..., None] >> shifts & (2**bits - 1)).reshape(*levels.shape[:2], block).astype("f4")
    if zeros is None:
        zeros = np.full(levels.shape[:2], 2.0**(bits - 1))
    elif zeros.dtype == np.uint8:
        packed = zeros.reshape(len(levels), -1)
        zeros = (packed[..., None] >> shifts & (2**bits - 1)).reshape(len(levels), -1)[:, :levels.shape[1]]
    return (values - zeros.reshape(levels.shape[:2])[..., None]) * scales.reshape(levels.shape[:2])[..., None]


def decode(made):
    """The same model in float: MatMulNBits and GatherBlockQuantized as what they stand for."""
    constants = {i.name: numpy_helper.to_array(i) for i in made.graph.initializer}
    nodes, more = [], []
    for n in made.graph.node:
        if n.op_type not in ("MatMulNBits", "GatherBlockQuantized"):
            nodes.append(n)
            continue
        a, table = attributes(n), n.op_type == "GatherBlockQuantized"
        names = [*n.input, "", "", ""]
        levels, scales = constants[names[0 if table else 1]], constants[names[2]]
        zeros = constants.get(names[3])
        levels = levels.reshape(len(levels), -1, a["block_size"] * a["bits"] // 8)
        values = floats_of_blocks(levels, scales, zeros, a["bits"], a["block_size"]).reshape(len(levels), -1)
        values = values.astype(scales.dtype)
        name = f"{n.name}_float"
        more.append(numpy_helper.from_array(values if table else values[:, :a["K"]].T.copy(), name))
        product = n.output[0] + ("_product" if len(n.input) > 5 else "")
        nodes.append(node("Gather", f"{name},{names[1]}", n.output[0]) if table else
                     node("MatMul", f"{names[0]},{name}", product))
        if len(n.input) > 5:
            nodes.append(node("Add", f"{product},{names[5]}", n.output[0]))
    result = onnx.ModelProto()
    result.CopyFrom(made)
    del result.graph.node[:]
    result.graph.node.extend(nodes)
    result.graph.initializer.extend(more)
    return result


def count(made, op):
    return sum(n.op_type == op for n in made.graph.node)


def nbits_models():
    x = {"x": normal(2, 3, 100, scale=1)}
    yield "MatMul", build([node("MatMul", "x,w")], x, {"w": normal(100, 20)}), x, {"MatMulNBits": 1}
    flat = {"x": normal(4, 70, scale=1)}
    for name, more, inputs in (("Gemm", {}, "x,w"), ("Gemm with bias", {"b": normal(30)}, "x,w,b"),
                               ("Gemm with a matrix", {"b": normal(4, 30)}, "x,w,b")):
        for transposed in (0, 1):
            shape = (30, 70) if transposed else (70, 30)
            model = build([node("Gemm", inputs, transB=transposed)], flat, {"w": normal(*shape), **more})
            yield f"{name} {transposed}", model, flat, {"MatMulNBits": 1, "Add": int("matrix" in name)}
    model = build([node("Gemm", "x,w", "h", alpha=0.5), node("MatMul", "h,v")], flat,
                  {"w": normal(70, 40), "v": normal(40, 7)})
    yield "Gemm with alpha stays", model, flat, {"MatMulNBits": 1, "Gemm": 1}
    model = build([node("MatMul", "x,w", "h"), node("MatMul", "h,w")], {"x": normal(3, 64)}, {"w": normal(64, 64)})
    yield "one matrix twice", model, {"x": normal(3, 64)}, {"MatMulNBits": 2}
    model = build([node("MatMul", "x,w", "h"), node("Gemm", "h,w", "y", transB=1)], {"x": normal(3, 64)},
                  {"w": normal(64, 96)})
    yield "one matrix both ways", model, {"x": normal(3, 64)}, {"MatMulNBits": 2}
    ids = {"x": np.array([[3, 1, 4], [1, 5, 9]])}
    model = build([node("Gather", "t,x", "h"), node("MatMul", "h,w")], ids, {"t": normal(20, 64), "w": normal(64, 5)})
    yield "table", model, ids, {"MatMulNBits": 1, "GatherBlockQuantized": 1}


def nbits(quantize, score):
    for what, model, feeds, ops in nbits_models():
        wanted = run(model, feeds)
        errors = {}
        for settings in ("nbits", "nbits,symmetric", "nbits,minmse", "nbits,hqq", "nbits,b8", "nbits,b2",
                         "nbits,b2,symmetric", "nbits,b2,minmse", "nbits,b2,hqq"):
            made, found = quantize.checked(model, settings + ",extra", feeds, f"{what} {settings}")
            if made is None:
                continue
            for op, wanted_count in ops.items():
                score.check(count(made, op) == wanted_count, f"{what} {settings}: {count(made, op)} {op}")
            score.check([o.name for o in made.graph.output] == ["y"], f"{what} {settings}: outputs")
            same = sqnr(run(decode(made), feeds), found)
            score.check(same > 90, f"{what} {settings}: {same:.1f} dB beside its own weights in float")
            errors[settings] = sqnr(wanted, found)
        score.check(errors["nbits,b8"] > 35 and errors["nbits"] > 12, f"{what}: {errors}")


# --- Layers that quantize while they run ---


def dynamic_models():
    x = {"x": normal(2, 3, 100, scale=1)}
    yield "MatMul", build([node("MatMul", "x,w")], x, {"w": normal(100, 20)}), x, {"MatMulInteger": 1}
    flat = {"x": normal(4, 70, scale=1)}
    model = build([node("Gemm", "x,w,b", "h", transB=1), node("Gemm", "x,v", "k"), node("Add", "h,k")], flat,
                  {"w": normal(30, 70), "b": normal(30), "v": normal(70, 30)})
    yield "Gemm", model, flat, {"MatMulInteger": 2, "DynamicQuantizeLinear": 1}
    image = {"x": normal(1, 8, 12, 12, scale=1)}
    model = build([node("Conv", "x,w,b", "h", pads=[1, 1, 1, 1]), node("Conv", "h,v", "y", group=4, strides=[2, 2])],
                  image, {"w": normal(12, 8, 3, 3), "b": normal(12), "v": normal(8, 3, 3, 3)})
    yield "Conv", model, image, {"ConvInteger": 2}
    line = {"x": normal(2, 6, 40, scale=1)}
    model = build([node("Conv", "x,w,b", dilations=[2])], line, {"w": normal(5, 6, 3), "b": normal(5)})
    yield "Conv of one axis", model, line, {"ConvInteger": 1}
    ids = {"x": np.array([[3, 1, 4], [1, 5, 9]])}
    model = build([node("Gather", "t,x", "h"), node("MatMul", "h,w")], ids, {"t": normal(20, 64), "w": normal(64, 5)})
    yield "table", model, ids, {"MatMulInteger": 1, "MatMul": 0}
    sound = {"x": normal(9, 2, 13, scale=1)}
    for name, directions in (("forward", 1), ("bidirectional", 2)):
        model = build([node("LSTM", "x,w,r,b", "s,h,c", hidden_size=10, direction=name), node("Identity", "h")], sound,
                      {"w": normal(directions, 40, 13), "r": normal(directions, 40, 10), "b": normal(directions, 80)},
                      ("s", "y"))
        yield f"LSTM {name}", model, sound, {"DynamicQuantizeLSTM": 1}
    words = {"x": normal(2, 5, 16, scale=1)}
    model = build([node("Attention", "x,w,b", domain="com.microsoft", num_heads=2)], words,
                  {"w": normal(16, 48, scale=0.3), "b": normal(48)})
    yield "Attention", model, words, {"QAttention": 1}
    tied = {"x": np.array([1, 7, 2])}
    model = build([node("Gather", "t,x", "h"), node("Gemm", "h,t", transB=1)], tied, {"t": normal(20, 64)})
    yield "tied table", model, tied, {"MatMulInteger": 1, "Gemm": 0}


def dynamic(quantize, score):
    for what, model, feeds, ops in dynamic_models():
        wanted = run(model, feeds)
        for settings in ("dynamic", "dynamic,u8", "dynamic,channel", "dynamic,channel,u8", "dynamic,minmse,channel"):
            made, found = quantize.checked(model, settings, feeds, f"{what} {settings}")
            if made is None:
                continue
            for op, wanted_count in ops.items():
                score.check(count(made, op) == wanted_count, f"{what} {settings}: {count(made, op)} {op}")
            least = 28 if "LSTM" not in what else 25
            score.check(sqnr(wanted, found) > least, f"{what} {settings}: {sqnr(wanted, found):.1f} dB")
            big = [i.name for i in made.graph.initializer if i.data_type == 1 and np.prod(i.dims) > 160]
            score.check(not big, f"{what} {settings}: {big} are still float")


def prepared(name, folder):
    """As passes leave it: constants are initializers and no inputs."""
    model = onnx.load(f"{ZOO}/models/{name}.onnx")
    for constant in [n for n in model.graph.node if n.op_type == "Constant" and n.attribute[0].name == "value"]:
        constant.attribute[0].t.name = constant.output[0]
        model.graph.initializer.append(constant.attribute[0].t)
        model.graph.node.remove(constant)
    names = {i.name for i in model.graph.initializer}
    for value in [i for i in model.graph.input if i.name in names]:
        model.graph.input.remove(value)
    model.ir_version = max(model.ir_version, 4)
    if model.opset_import[0].version < 11:
        model = onnx.version_converter.convert_version(model, 13)
    path = f"{folder}/{name}.onnx"
    onnx.save(model, path)
    return path


def beside_runtime(quantize, score):
    """No worse than the runtime's quantizer with the same types; by channel better."""
    for name in REAL:
        path = prepared(name, quantize.folder)
        samples = [dict(np.load(f)) for f in sorted((ZOO / "data" / name).glob("*.npz"))[-4:]]
        session = opened(path)
        wanted = [session.run(None, s) for s in samples]
        figures = {}
        for settings, arguments in (("dynamic", {"weight_type": QuantType.QInt8}),
                                    ("dynamic,u8", {"weight_type": QuantType.QUInt8}),
                                    ("dynamic,channel", {"weight_type": QuantType.QInt8, "per_channel": True})):
            theirs = f"{quantize.folder}/theirs.onnx"
            with open(os.devnull, "w", encoding="utf-8") as nothing, contextlib.redirect_stdout(nothing):
                quantize_dynamic(path, theirs, **arguments)
            ours = quantize(path, settings)
            if not ours.endswith("out.onnx"):
                score.check(False, f"{name} {settings}: {ours}")
                break
            for who, model in (("ours", ours), ("theirs", theirs)):
                session = opened(model)
                parts = [sqnr(w, session.run(None, s)) for w, s in zip(wanted, samples)]
                figures[settings, who] = float(np.mean(parts))
            score.check(figures[settings, "ours"] >= figures[settings, "theirs"] - 0.2, f"{name} {settings}: {figures}")
        print(name, ", ".join(f"{s} {who} {value:.1f} dB" for (s, who), value in figures.items()))


# --- Memory ---


def big_model(folder, matrices, rows, columns):
    """Matrices in a data file of their own; the same numbers again and again."""
    block, nodes, constants, x = normal(rows, columns, scale=0.02), [], [], "x"
    with open(f"{folder}/big.bin", "wb") as data:
        for i in range(matrices):
            shape = (rows, columns) if i % 2 == 0 else (columns, rows)
            tensor = TensorProto(name=f"w{i}", data_type=1, dims=shape, data_location=TensorProto.EXTERNAL)
            for key, value in (("location", "big.bin"), ("offset", data.tell()), ("length", block.nbytes)):
                entry = tensor.external_data.add()
                entry.key, entry.value = key, str(value)
            data.write(block)
            constants.append(tensor)
            nodes.append(node("MatMul", f"{x},w{i}", f"y{i}"))
            x = f"y{i}"
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", 1, [1, rows])],
                              [helper.make_tensor_value_info(x, 1, None)], constants)
    onnx.save(helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)]), f"{folder}/big.onnx")
    return matrices * block.nbytes


def peak_of(arguments):
    """Bytes in memory at most, and whether it went well."""
    process, peak = subprocess.Popen(arguments, stdout=subprocess.DEVNULL), 0
    while process.poll() is None:
        with contextlib.suppress(OSError), open(f"/proc/{process.pid}/status", encoding="ascii") as status:
            peak = max([peak, *(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM"))])
        time.sleep(0.01)
    return peak, process.returncode == 0


def memory(quantize, score):
    """A third of the weights' size at most, whatever becomes of them."""
    long = bool(os.environ.get("LONG"))
    size = big_model(quantize.folder, 24 if long else 12, 4096 if long else 1024, 8192 if long else 2048)
    paths = [f"{quantize.folder}/big.onnx", f"{quantize.folder}/out.onnx"]
    runs = {settings: [TOOL, paths[0], f"{settings},spill", "-", paths[1]] for settings in
            ("weights,channel,minmse", "weights,int4,group", "nbits", "dynamic")}
    for options in ("--preset A8W8 --approach weights", "--preset MATMUL_NBITS", "--preset UINT8_DYNAMIC_QUANT"):
        runs[f"baryon quantize {options}"] = [BUILD / "baryon", "quantize", "--no-judge", paths[0], "--out", paths[1], "--force",
                                              *options.split()]
    for settings, arguments in runs.items():
        peak, good = peak_of(arguments)
        print(f"{settings}: {size >> 20} MiB of weights in {peak >> 20} MiB")
        score.check(good and peak < size / 3, f"{settings}: {peak >> 20} MiB of memory for {size >> 20} MiB of weights")
        left = [f for f in os.listdir(quantize.folder) if f.startswith(".baryon")]
        score.check(not left, f"{settings}: {left} are left")


def refusals(quantize, score):
    x = {"x": normal(2, 8)}
    old = build([node("MatMul", "x,w")], x, {"w": normal(8, 3)}, opset=10)
    score.check("requires opset 11" in quantize(old, "dynamic"), "opset 10")
    data = build([node("MatMul", "x,x")], {"x": normal(4, 4)}, {})
    for settings in ("nbits", "dynamic"):
        score.check("no node of the model" in quantize(data, settings), f"{settings} of a model without constants")


def main():
    onnxruntime.set_default_logger_severity(4)
    score = Score()
    with tempfile.TemporaryDirectory() as folder:
        quantize = Quantizer(folder, score)
        for part in (nbits, dynamic, beside_runtime, refusals, memory):
            part(quantize, score)
    return score.finish()


if __name__ == "__main__":
    raise SystemExit(main())
