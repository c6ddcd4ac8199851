"""Second pairs where readers want another type: which types a value passes through on its way to each reader, beside
onnxruntime.quantization; numbers beside the same model without them."""

import json
import logging
import subprocess
import tempfile

import numpy as np
import onnx
import onnxruntime
from dump import BUILD, Score
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantType, quantize_static

onnxruntime.set_default_logger_severity(4)
logging.disable(logging.WARNING)
KINDS = {"QUInt8": QuantType.QUInt8, "QInt8": QuantType.QInt8, "QUInt16": QuantType.QUInt16, "QInt16": QuantType.QInt16}
PAIR = ("QuantizeLinear", "DequantizeLinear")


class Samples(CalibrationDataReader):
    def __init__(self, folder):
        self.left = [{"x": np.load(f"{folder}/{i}.npy")} for i in range(4)]

    def get_next(self):
        return self.left.pop() if self.left else None


def save(path, outputs):
    """Two layers and a Reshape read what the first one gives."""
    rng = np.random.default_rng(1)
    weights = {f"w{i}": rng.standard_normal((4, 4, 1, 1)).astype("f4") for i in range(3)}
    nodes = [helper.make_node("Conv", ["x", "w0"], ["c"], "first"),
             helper.make_node("Conv", ["c", "w1"], ["a"], "one"),
             helper.make_node("Conv", ["c", "w2"], ["b"], "two"),
             helper.make_node("Add", ["a", "b"], ["y"], "sum")]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4, 4, 4])],
                              [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4, 4, 4]) for name in outputs],
                              [numpy_helper.from_array(v, k) for k, v in weights.items()])  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), path)


def paths(model):
    """For each reader and place the types on the way from the node or input in front of it."""
    makers = {name: node for node in model.graph.node for name in node.output}
    constants = {t.name: t for t in model.graph.initializer}
    found = {}

    def path(name):
        kinds = []
        while name in makers and makers[name].op_type in PAIR:
            node = makers[name]
            if node.op_type == "QuantizeLinear":
                kinds.append(numpy_helper.to_array(constants[node.input[2]]).dtype.name)
            name = node.input[0]
        return (makers[name].name if name in makers else name, *reversed(kinds))

    for node in model.graph.node:
        if node.op_type not in PAIR:
            found |= {(node.name, i): path(name) for i, name in enumerate(node.input) if not name.startswith("w")}
    found |= {output.name: path(output.name) for output in model.graph.output}
    return {key: way for key, way in found.items() if not (way[0].startswith("w") and len(way) == 1)}


def run(path, folder):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return session.run(None, {"x": np.load(f"{folder}/0.npy")})


def theirs(folder, overrides):
    def known(entry):
        entry = dict(entry, quant_type=KINDS[entry["quant_type"]])
        if "convert" in entry:
            entry["convert"] = known(entry["convert"])
        if "recv_nodes" in entry:
            entry["recv_nodes"] = set(entry["recv_nodes"])
        return entry

    given = {name: [known(entry) for entry in entries] for name, entries in overrides.items()}
    quantize_static(f"{folder}/m.onnx", f"{folder}/t.onnx", Samples(folder), activation_type=QuantType.QUInt8,
                    weight_type=QuantType.QInt8, extra_options={"TensorQuantOverrides": given})  # fmt: skip
    return onnx.load(f"{folder}/t.onnx")


def ours(folder, *options, config=None):
    """The model, or what was told."""
    if config is not None:
        with open(f"{folder}/c.json", "w") as file:
            json.dump(config, file)
        options += ("--config", f"{folder}/c.json")
    done = subprocess.run([BUILD / "baryon", "quantize", "--no-judge", f"{folder}/m.onnx", "-o", f"{folder}/o.onnx", "-f", "-q", "-a", "uint8",
                           "--data", folder, "--cle", "off", "--bias-correction", "false", "--auto-exclude", "off",
                           *options],
                          capture_output=True, text=True)  # fmt: skip
    return onnx.load(f"{folder}/o.onnx") if done.returncode == 0 else done.stderr


def test_beside(score, folder):
    for outputs in (["y"], ["y", "c"]):
        save(f"{folder}/m.onnx", outputs)
        for convert in ({"quant_type": "QUInt8", "recv_nodes": ["one"]}, {"quant_type": "QUInt8", "recv_nodes": ["one", "two"]},
                        {"quant_type": "QInt8"}, {"quant_type": "QInt16", "symmetric": True, "recv_nodes": ["two"]}):  # fmt: skip
            overrides = {"c": [{"quant_type": "QUInt16", "convert": convert}]}
            wanted = paths(theirs(folder, overrides))
            found = ours(folder, config={"TensorQuantOverrides": overrides})
            if not score.check(not isinstance(found, str), f"{outputs} {convert}: {found}"):
                continue
            score.check(paths(found) == wanted, f"{outputs} {convert}: {paths(found)}, not {wanted}")
            onnx.checker.check_model(found)
            for one, other in zip(run(f"{folder}/o.onnx", folder), run(f"{folder}/t.onnx", folder)):
                score.check(np.abs(one - other).max() < 0.03 * np.abs(other).max(), f"{outputs} {convert}: outputs")


def test_both_ends(score, folder):
    """Of an input, of an output of the model alone, and by our own spelling."""
    save(f"{folder}/m.onnx", ["y"])
    overrides = {"y": [{"quant_type": "QUInt16", "convert": {"quant_type": "QUInt8"}}],
                 "x": [{"quant_type": "QUInt8", "convert": {"quant_type": "QUInt16", "recv_nodes": ["first"]}}]}
    rules = {"y": {"type": "uint16", "convert": "uint8"}, "x": {"type": "uint8", "convert": {"type": "uint16", "nodes": "fir*"}}}
    wanted = paths(theirs(folder, overrides))
    for config in ({"TensorQuantOverrides": overrides}, {"tensors": rules}):
        found = ours(folder, config=config)
        score.check(not isinstance(found, str) and paths(found) == wanted, f"{config}: {found}"[:500])


def test_boundaries(score, folder):
    """A layer of another type between others: its rule alone says where pairs stand."""
    save(f"{folder}/m.onnx", ["y"])
    node = {"nodes": {"two": {"activation": "uint16"}}}
    found = paths(ours(folder, config=node | {"dual_pairs": True}))
    score.check(found[("two", 0)] == ("first", "uint8", "uint16"), f"the reader: {found[('two', 0)]}")
    score.check(found[("one", 0)] == ("first", "uint8"), f"another reader: {found[('one', 0)]}")
    score.check(found[("sum", 1)] == ("two", "uint16", "uint8"), f"what it gives: {found[('sum', 1)]}")
    score.check(paths(ours(folder, config={**node, "EnableDualQuantNodePairs": True})) == found, "Quark's name")
    single = paths(ours(folder, config=node))
    score.check(all(len(way) <= 2 for way in single.values()), f"one pair: {single}")
    score.check(single[("two", 0)] == single[("one", 0)] == ("first", "uint16"), f"one pair: {single}")


def test_formats(score, folder):
    """Blocks and bfloat16 behind integers and in front of them; integer operators leave the second pair."""
    save(f"{folder}/m.onnx", ["y"])
    for types in (("bf16", "uint8"), ("uint8", "bf16"), ("uint8", "mx9"), ("mx9", "uint8")):
        found = ours(folder, config={"tensors": {"c": {"type": types[0], "convert": {"type": types[1], "nodes": ["one"]}}}})
        if score.check(not isinstance(found, str), f"{types}: {found}"):
            options = onnxruntime.SessionOptions()
            options.register_custom_ops_library(str(BUILD / "libbaryon_ops.so"))
            # Integer kernels saturate on processors without VNNI.
            options.add_session_config_entry("session.disable_quant_qdq", "1")
            session = onnxruntime.InferenceSession(f"{folder}/o.onnx", options, providers=["CPUExecutionProvider"])
            values = session.run(None, {"x": np.load(f"{folder}/0.npy")})[0]
            exact = run(f"{folder}/m.onnx", folder)[0]
            score.check(np.abs(values - exact).max() < 0.05 * np.abs(exact).max(), f"{types}: outputs")
    found = ours(folder, "--format", "qoperator",
                 config={"tensors": {"c": {"type": "int8", "convert": {"type": "uint8", "nodes": ["one"]}}}})
    if score.check(not isinstance(found, str), f"qoperator: {found}"):
        exact = run(f"{folder}/m.onnx", folder)[0]
        score.check(np.abs(run(f"{folder}/o.onnx", folder)[0] - exact).max() < 0.05 * np.abs(exact).max(), "qoperator: outputs")


def test_solved(score, folder):
    """Rounding, equalization and sensitivity see the pair that a layer reads."""
    save(f"{folder}/m.onnx", ["y"])
    config = {"tensors": {"c": {"type": "uint16", "convert": {"type": "uint8", "nodes": ["one"]}}}}
    wanted = paths(ours(folder, config=config))
    for options in (("--rounding", "descent"), ("--rounding", "descent", "--rounding-scales"), ("--cle", "auto"), ("--dedicated-dq",)):
        found = ours(folder, *options, config=config)
        score.check(not isinstance(found, str) and paths(found) == wanted, f"{options}: {found}"[:300])
    done = subprocess.run([BUILD / "baryon", "sensitivity", f"{folder}/m.onnx", "--data", folder, "--config", f"{folder}/c.json"],
                          capture_output=True, text=True)  # fmt: skip
    score.check(done.returncode == 0, f"sensitivity: {done.stderr}")


def main():
    score = Score()
    with tempfile.TemporaryDirectory() as folder:
        rng = np.random.default_rng(2)
        for i in range(4):
            np.save(f"{folder}/{i}.npy", rng.standard_normal((1, 4, 4, 4)).astype("f4"))
        for test in (test_beside, test_both_ends, test_boundaries, test_formats, test_solved):
            test(score, folder)
    return score.finish()


if __name__ == "__main__":
    raise SystemExit(main())
