"""Steps of files of passes that are no passes: attributes that are set, channels that are equalized."""

import json
import subprocess
import tempfile

import numpy as np
import onnx
import onnxruntime
from dump import BUILD, Score
from onnx import helper, numpy_helper

onnxruntime.set_default_logger_severity(4)


def save(path):
    """Conv, LeakyRelu, Conv, Clip from 0 to 6, Conv, whose channels differ by up to 2^10."""
    rng = np.random.default_rng(1)
    spread = np.exp2(rng.uniform(-5, 5, 16)).astype("f4")
    weights = {"w1": rng.standard_normal((16, 3, 3, 3)).astype("f4") * spread[:, None, None, None],
               "b1": rng.standard_normal(16).astype("f4"),
               "w2": rng.standard_normal((16, 16, 1, 1)).astype("f4") / spread[None, :, None, None],
               "w3": rng.standard_normal((4, 16, 1, 1)).astype("f4") * spread[None, :, None, None],
               "low": np.float32(0), "high": np.float32(6)}
    nodes = [helper.make_node("Conv", ["x", "w1", "b1"], ["c1"], "one", pads=[1, 1, 1, 1]),
             helper.make_node("LeakyRelu", ["c1"], ["r1"], "leaky", alpha=0.25),
             helper.make_node("Conv", ["r1", "w2"], ["c2"], "two"),
             helper.make_node("Clip", ["c2", "low", "high"], ["r2"], "clip"),
             helper.make_node("Conv", ["r2", "w3"], ["y"], "three")]
    graph = helper.make_graph(nodes, "steps", [helper.make_tensor_value_info("x", 1, [1, 3, 8, 8])],
                              [helper.make_tensor_value_info("y", 1, [1, 4, 8, 8])],
                              [numpy_helper.from_array(np.asarray(v), k) for k, v in weights.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def convert(folder, passes, source="m.onnx"):
    with open(f"{folder}/p.json", "w") as file:
        json.dump({"input_model_path": f"{folder}/{source}", "passes": passes, "output_model_path": f"{folder}/o.onnx"}, file)
    done = subprocess.run([BUILD / "baryon", "convert", f"{folder}/p.json", "-f", "-q"], capture_output=True, text=True)
    return done.stderr


def run(path):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.register_custom_ops_library(str(BUILD / "libbaryon_ops.so"))
    x = np.random.default_rng(2).standard_normal((1, 3, 8, 8)).astype("f4")
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]


def weights_of(path):
    return {t.name: numpy_helper.to_array(t) for t in onnx.load(path).graph.initializer}


def spread_of(weight, axis):
    peaks = np.abs(weight).max(tuple(i for i in range(weight.ndim) if i != axis))
    return np.log2(peaks.max() / peaks).mean()


def test_equalized(score, folder):
    before, wanted = weights_of(f"{folder}/m.onnx"), run(f"{folder}/m.onnx")
    on = {"cross_layer_equalization": True}
    for name, more in (("onnx_cross_layer_equalization", {"cle_steps": -1, "cle_weight_threshold": 0.0}),
                       ("onnx_cross_layer_equalization", {"cle_scale_use_threshold": False, "cle_balance_method": "max"}),
                       ("equalize", {"cle_weight_threshold": 0.0})):
        text = convert(folder, {name: (on if name.startswith("onnx") else {}) | more})
        if not score.check(not text, f"{name} {more}: {text}"):
            continue
        after, found = weights_of(f"{folder}/o.onnx"), run(f"{folder}/o.onnx")
        score.check(np.allclose(found, wanted, rtol=1e-4, atol=1e-4 * np.abs(wanted).max()), f"{name} {more}: outputs")
        score.check(spread_of(after["w1"], 0) < spread_of(before["w1"], 0) * 0.7, f"{name} {more}: channels of w1")
        score.check((after["w3"] == before["w3"]).all(), f"{name} {more}: nothing moves through Clip")
    for kept in ({"nodes_to_exclude": ["two"]}, {"nodes_to_quantize": ["one", "three"]}):
        text = convert(folder, {"onnx_cross_layer_equalization": {**on, "cle_weight_threshold": 0.0, **kept}})
        after = weights_of(f"{folder}/o.onnx") if not text else {}
        same = after and all((after[k] == before[k]).all() for k in before)
        score.check(same, f"{kept}: left alone; {text}")


    text = convert(folder, {"onnx_cross_layer_equalization": {**on, "op_types_to_quantize": ["Gemm"]}})
    score.check("Conv is not one of the operators" in text, f"no operator of the model: {text}")


def test_attributes(score, folder):
    updates = [{"node_name": "leaky", "attributes": {"alpha": 0.5}},
               {"node_name": "one", "attributes": {"pads": [0, 0, 2, 2], "auto_pad": "NOTSET", "group": 1}}]
    for name, key in (("onnx_set_node_attributes", "node_attribute_updates"), ("set-attributes", "nodes")):
        text = convert(folder, {name: {key: updates}})
        if not score.check(not text, f"{name}: {text}"):
            continue
        nodes = {n.name: {a.name: helper.get_attribute_value(a) for a in n.attribute}
                 for n in onnx.load(f"{folder}/o.onnx").graph.node}
        score.check(nodes["leaky"] == {"alpha": 0.5}, f"{name}: {nodes['leaky']}")
        score.check(nodes["one"] == {"pads": [0, 0, 2, 2], "auto_pad": b"NOTSET", "group": 1}, f"{name}: {nodes['one']}")
        score.check(run(f"{folder}/o.onnx").shape == (1, 4, 8, 8), f"{name}: it runs")


def quantize(score, folder, *options):
    done = subprocess.run([BUILD / "baryon", "quantize", "--no-judge", f"{folder}/m.onnx", "-o", f"{folder}/q.onnx", "-f", "-q", *options],
                          capture_output=True, text=True)
    score.check(done.returncode == 0, f"{options}: {done.stderr}")


def operators(path):
    return [node.op_type for node in onnx.load(path).graph.node]


CAST = {"onnx_replace_bfloat16_qdq_with_cast": {"replace_bfloat16_qdq_with_cast": True}}
CLIP = {"onnx_insert_clip_before_bfloat16_qdq": {"insert_clip_before_bfloat16_qdq": True}}


def test_pairs_of_bf16(score, folder):
    """As --float-form cast and --float-clip write them."""
    quantize(score, folder, "-p", "BF16")
    wanted, pairs = run(f"{folder}/q.onnx"), operators(f"{folder}/q.onnx").count("ExtendedQuantizeLinear")
    for passes in (CAST, CLIP, CLIP | CAST):
        text = convert(folder, passes, "q.onnx")
        if not score.check(not text, f"{list(passes)}: {text}"):
            continue
        found = operators(f"{folder}/o.onnx")
        score.check(found.count("Clip") == 1 + pairs * ("onnx_insert_clip_before_bfloat16_qdq" in passes), f"{found}")
        score.check(("Cast" in found) != any(name.startswith("Extended") for name in found), f"{found}")
        score.check(np.array_equal(run(f"{folder}/o.onnx"), wanted), f"{list(passes)}: other outputs")
    text = convert(folder, {"convert-opset": {"opset": 21}} | CAST, "m.onnx")
    score.check(not text and operators(f"{folder}/o.onnx") == operators(f"{folder}/m.onnx"), f"nothing to do: {text}")


def test_no_casts(score, folder):
    """Constants are rounded as --float-form compiler rounds them, inputs keep their Casts."""
    quantize(score, folder, "-p", "BF16", "--float-form", "compiler")
    wanted = run(f"{folder}/q.onnx")
    quantize(score, folder, "-p", "BF16")
    text = convert(folder, CAST | {"onnx_remove_bfloat16_cast": {"remove_bfloat16_cast": True}}, "q.onnx")
    score.check(not text, f"no casts: {text}")
    nodes = operators(f"{folder}/o.onnx")
    score.check(nodes.count("Cast") == 2 and nodes[0] == "Cast", f"no casts: {nodes}")
    score.check(np.array_equal(run(f"{folder}/o.onnx"), wanted), "no casts: other outputs")


def test_pairs_between(score, folder):
    quantize(score, folder, "-a", "int8", "--random", "2", "--cle", "off", "--fuse-leaky-relu=false", "--operators", "npu")
    before = onnx.load(f"{folder}/q.onnx")
    text = convert(folder, {"onnx_remove_qdq_between_op_types": {"remove_qdq_between_op_types": [["Conv", "LeakyRelu"]]}}, "q.onnx")
    score.check(not text, f"between: {text}")
    after = onnx.load(f"{folder}/o.onnx")
    for model, wanted in ((before, "DequantizeLinear"), (after, "Conv")):
        makers = {name: node.op_type for node in model.graph.node for name in node.output}
        leaky = next(node for node in model.graph.node if node.op_type == "LeakyRelu")
        score.check(makers[leaky.input[0]] == wanted, f"LeakyRelu reads {makers[leaky.input[0]]}")
    score.check(len(after.graph.node) == len(before.graph.node) - 2, "one pair is gone")
    onnx.checker.check_model(after)
    run(f"{folder}/o.onnx")


def main():
    score = Score()
    with tempfile.TemporaryDirectory() as folder:
        save(f"{folder}/m.onnx")
        test_equalized(score, folder)
        test_attributes(score, folder)
        test_pairs_of_bf16(score, folder)
        test_no_casts(score, folder)
        test_pairs_between(score, folder)
    return score.finish()


if __name__ == "__main__":
    raise SystemExit(main())
