"""Passes that move scales of finished models: what integers mean stays, rules hold afterwards, who shares a
constant and does not move keeps it. Beside ONNX Runtime and numpy."""

import json
import subprocess
import tempfile

import numpy as np
import onnx
import onnxruntime
from dump import BUILD, Score
from onnx import TensorProto, helper, numpy_helper

onnxruntime.set_default_logger_severity(4)
OPERATORS = str(BUILD / "libbaryon_ops.so")
DEQUANTIZE = ("DequantizeLinear", "ExtendedDequantizeLinear")
QUANTIZE = ("QuantizeLinear", "ExtendedQuantizeLinear")


def baryon(*arguments):
    return subprocess.run([BUILD / "baryon", *arguments], capture_output=True, text=True)


def convert(folder, passes, source="q.onnx"):
    """Warnings and errors."""
    with open(f"{folder}/p.json", "w") as file:
        json.dump({"input_model_path": f"{folder}/{source}", "passes": passes, "output_model_path": f"{folder}/o.onnx"}, file)
    return baryon("convert", f"{folder}/p.json", "-f", "-q").stderr


def constants(model):
    return {t.name: t for t in model.graph.initializer}


def numbers(model, name):
    return numpy_helper.to_array(constants(model)[name]).astype("f8")


def params(model, node):
    scale = numbers(model, node.input[1])
    zero = numbers(model, node.input[2]) if len(node.input) > 2 and node.input[2] else np.zeros_like(scale)
    return scale, zero


def pairs(model):
    """Output of each DequantizeLinear: scale, zero point, and what constants mean; None: no constant."""
    found = {}
    for node in model.graph.node:
        if node.op_type not in DEQUANTIZE:
            continue
        scale, zero = params(model, node)
        meaning = None
        if node.input[0] in constants(model):
            integers = numbers(model, node.input[0])
            axis = next((a.i for a in node.attribute if a.name == "axis"), 1)
            shape = [-1 if i == axis else 1 for i in range(integers.ndim)] if scale.size > 1 else []
            meaning = (integers - zero.reshape(shape or zero.shape)) * scale.reshape(shape or scale.shape)
        found[node.output[0]] = (scale, zero, meaning)
    return found


def agree(model):
    """Both nodes of each pair have the same parameters."""
    makers = {name: node for node in model.graph.node for name in node.output}
    for node in model.graph.node:
        first = makers.get(node.input[0]) if node.op_type in DEQUANTIZE else None
        if first is not None and first.op_type in QUANTIZE:
            for one, other in zip(params(model, node), params(model, first)):
                if not np.array_equal(one, other):
                    return False
    return True


def run(model, feeds):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.register_custom_ops_library(OPERATORS)
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, feeds)


# --- models ---

class Network:
    """Nodes with pairs around them, by hand. domain: of the pairs."""

    def __init__(self, domain="", kind=np.int8):
        self.domain, self.kind = domain, kind
        self.prefix = "Extended" if domain == "com.amd.quark" else ""
        self.nodes, self.weights, self.inputs, self.outputs = [], [], [], []

    def constant(self, name, values):
        self.weights.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def scales(self, name, scale, zero=0, kind=None):
        scale = np.asarray(scale, "f4")
        return [self.constant(f"{name}_s", scale), self.constant(f"{name}_z", np.full(scale.shape, zero, kind or self.kind))]

    def pair(self, name, scale, zero=0, given=None):
        """What reads NAME_d; given: scale and zero point of another."""
        given = given or self.scales(name, scale, zero)
        self.nodes += [helper.make_node(self.prefix + "QuantizeLinear", [name, *given], [f"{name}_q"], domain=self.domain),
                       helper.make_node(self.prefix + "DequantizeLinear", [f"{name}_q", *given], [f"{name}_d"], domain=self.domain)]
        return f"{name}_d"

    def weight(self, name, integers, scale, axis=None, out=None, given=None):
        integers = np.asarray(integers)
        given = given or self.scales(name, scale, kind=integers.dtype)
        if not any(t.name == name for t in self.weights):
            self.constant(name, integers)
        attributes = {} if axis is None else {"axis": axis}
        self.nodes.append(helper.make_node(self.prefix + "DequantizeLinear", [name, *given], [out or f"{name}_d"],
                                           domain=self.domain, **attributes))
        return out or f"{name}_d"

    def node(self, op_type, inputs, output, **attributes):
        self.nodes.append(helper.make_node(op_type, inputs, [output], f"{output}_node", **attributes))
        return output

    def model(self, inputs, outputs):
        graph = helper.make_graph(self.nodes, "g", [helper.make_tensor_value_info(n, 1, s) for n, s in inputs],
                                  [helper.make_tensor_value_info(n, 1, [f"{n}{i}" for i in range(r)]) for n, r in outputs],
                                  self.weights)  # fmt: skip
        opsets = [helper.make_opsetid("", 17)] + ([helper.make_opsetid(self.domain, 1)] if self.domain else [])
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def rng_ints(shape, seed=1, most=100):
    return np.random.default_rng(seed).integers(-most, most + 1, shape).astype(np.int8)


def breaking(domain):
    """A model of power-of-two scales that breaks a rule of each kind."""
    net = Network(domain)
    x = net.pair("x", 2.0**-4)
    w = net.weight("w", rng_ints((4, 3, 1, 1)), 2.0**-18)
    b = net.weight("b", rng_ints(4, 2), 2.0**-3)
    net.node("Conv", [x, w, b], "c")
    c = net.pair("c", 2.0**-3)
    net.node("MaxPool", [c], "m", kernel_shape=[2, 2])
    m = net.pair("m", 2.0**-6)
    net.node("AveragePool", [c], "v", kernel_shape=[2, 2])
    v = net.pair("v", 2.0**-5)
    net.node("Concat", [m, v], "k", axis=1)
    k = net.pair("k", 2.0**-4)
    net.node("Pad", [k, net.constant("pads", np.array([0, 0, 1, 1, 0, 0, 1, 1]))], "p")
    p = net.pair("p", 2.0**-7)
    net.node("Slice", [p, net.constant("starts", np.array([1])), net.constant("ends", np.array([6])),
                       net.constant("axes", np.array([2]))], "l")  # fmt: skip
    slice_ = net.pair("l", 2.0**-2)
    net.node("HardSigmoid", [slice_], "h", alpha=1 / 6)
    h = net.pair("h", 2.0**-5)
    net.node("Mul", [slice_, h], "s")
    s = net.pair("s", 2.0**12)
    other = net.pair("z", 2.0**-15)
    net.node("Add", [s, other], "a")
    net.pair("a", 2.0**-20)
    return net.model([("x", [1, 3, 6, 6]), ("z", [1, 1, 1, 1])], [("a_d", 4)])


RULES = ["align-concat", "align-pool", "align-pad", "align-slice", "shift-read", "shift-write", "shift-cut", "shift-bias",
         "hard-sigmoid", "swish"]  # fmt: skip


def broken(path):
    text = baryon("check", path, "--target", "xint8", "--json").stdout
    return [rule for rule in RULES if f"{rule}," in text]


# --- XINT8 ---

def test_xint8(score, folder):
    for domain in ("", "com.microsoft", "com.amd.quark"):
        before = breaking(domain)
        onnx.save(before, f"{folder}/q.onnx")
        score.check(set(broken(f"{folder}/q.onnx")) >= set(RULES) - {"swish"}, f"{domain}: {broken(f'{folder}/q.onnx')}")
        text = convert(folder, {"onnx_xint8_adjust": {"xint8_adjust": True}})
        left = broken(f"{folder}/o.onnx")
        score.check(not left, f"{domain}: {left} are broken still; {text}")
        after = onnx.load(f"{folder}/o.onnx")
        score.check(agree(after), f"{domain}: both nodes of a pair have one scale")
        score.check(np.all(np.log2([s for s, _, _ in pairs(after).values()]) % 1 == 0), f"{domain}: powers of two")
        was, now = pairs(before), pairs(after)
        for name in ("w_d", "b_d"):
            step = now[name][0]
            score.check(step != was[name][0], f"{domain}: {name} moves")
            held = np.clip(was[name][2], -128 * step, 127 * step)
            score.check(np.abs(now[name][2] - held).max() <= step / 2, f"{domain}: integers of {name} mean the same")
        again = convert(folder, {"refine-xint8": {}}, "o.onnx")
        score.check(not again and onnx.load(f"{folder}/o.onnx") == after, f"{domain}: nothing is left to do: {again}")
        feeds = {"x": np.random.default_rng(3).uniform(-4, 4, (1, 3, 6, 6)).astype("f4"), "z": np.full((1, 1, 1, 1), 1e-4, "f4")}
        score.check(np.isfinite(run(after, feeds)[0]).all(), f"{domain}: it runs")


def test_quantized(score, folder):
    """What quantize leaves without rules of hardware, whose biases are int32 or int8."""
    for more in ([], ["--bias", "int32"]):
        done = baryon("quantize", "--no-judge", f"{folder}/m.onnx", "-o", f"{folder}/q.onnx", "-f", "-q", "-p", "XINT8", "--hardware", "none",
                      "--random", "4", "--cle", "off", *more)  # fmt: skip
        score.check(done.returncode == 0, f"quantize {more}: {done.stderr}")
        score.check(len(broken(f"{folder}/q.onnx")) > 1, f"{more}: {broken(f'{folder}/q.onnx')} are broken before")
        text = convert(folder, {"onnx_xint8_adjust": {"xint8_adjust": True}})
        score.check(not broken(f"{folder}/o.onnx"), f"{more}: {broken(f'{folder}/o.onnx')} are broken after; {text}")
        after = onnx.load(f"{folder}/o.onnx")
        onnx.checker.check_model(after)
        score.check(agree(after) and products(after) == products(onnx.load(f"{folder}/q.onnx")), f"{more}: pairs, biases")


def products(model):
    """Layers whose bias has the scale of input times weight."""
    made, found = {node.output[0]: node for node in model.graph.node}, []
    for node in model.graph.node:
        if node.op_type in ("Conv", "Gemm") and len(node.input) > 2:
            scale = [params(model, made[name])[0] for name in node.input[:3]]
            found += [node.name] * np.allclose(scale[0] * scale[1], scale[2], rtol=1e-5)
    return found


def network_of_floats():
    """Layers of very different ranges, and operators that move their values."""
    rng = np.random.default_rng(5)
    net = Network()
    x = "x"
    for i, size in enumerate((1e-5, 3e4, 1e-9)):
        w = net.constant(f"w{i}", (rng.standard_normal((4, 4, 3, 3)) * size).astype("f4"))
        b = net.constant(f"b{i}", (rng.standard_normal(4) * 3).astype("f4"))
        x = net.node("Conv", [x, w, b], f"c{i}", pads=[1, 1, 1, 1])
        x = net.node("Relu", [x], f"r{i}")
    pool = net.node("AveragePool", [x], "pool", kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    both = net.node("Concat", [x, net.node("Add", [pool, "r0"], "sum")], "both", axis=1)
    net.node("Mul", [both, both], "y")
    return net.model([("x", [1, 4, 8, 8])], [("y", 4)])


# --- one scale on both sides ---

def chain(given=None):
    net = Network(kind=np.uint8)
    x = net.pair("x", 0.013, 17)
    net.node("MaxPool", [x], "m", kernel_shape=[1, 1])
    m = net.pair("m", 0.02, 3)
    net.node("AveragePool", [m], "v", kernel_shape=[1, 1])
    v = net.pair("v", 0.007, 5)
    w = net.weight("w", np.arange(64, dtype="u1").reshape(1, 1, 8, 8), 0.5)
    net.node("Concat", [v, w], "k", axis=1)
    k = net.pair("k", 0.11, 9)
    net.node("Reshape", [k, net.constant("shape", np.array([1, -1]))], "y")
    net.pair("y", 0.05, 1)
    return net.model([("x", [1, 1, 8, 8])], [("y_d", 2)])


def test_align(score, folder):
    before = chain()
    onnx.save(before, f"{folder}/q.onnx")
    was = pairs(before)

    def same(model, one, other):
        return all(np.array_equal(a, b) for a, b in zip(pairs(model)[one][:2], pairs(model)[other][:2]))

    text = convert(folder, {"onnx_align_scale": {"align_scale": "MaxPool"}})
    after = onnx.load(f"{folder}/o.onnx")
    score.check(not text and agree(after) and same(after, "m_d", "x_d"), f"MaxPool: {text}")
    kept = [name for name in was if name != "m_d"]
    score.check(all(np.array_equal(pairs(after)[n][0], was[n][0]) for n in kept), "MaxPool: the others stay")

    for passes in ({"onnx_align_scale": {"align_scale": ["Concat", "MaxPool"]}}, {"align-scales": {"op_types": ["Concat", "MaxPool"]}}):
        text = convert(folder, passes)
        after = onnx.load(f"{folder}/o.onnx")
        score.check(agree(after) and same(after, "w_d", "k_d") and same(after, "m_d", "x_d"), f"{passes}: {text}")
        now = pairs(after)["w_d"]
        held = np.clip(was["w_d"][2], (0 - 9) * 0.11, (255 - 9) * 0.11)
        score.check(np.abs(now[2] - held).max() <= now[0] / 2 * 1.001, "Concat: integers of w mean the same")
        score.check("the end of uint8" in text, f"Concat: what does not fit is told: {text}")
        feeds = {"x": np.linspace(-0.03, 1.7, 64, dtype="f4").reshape(1, 1, 8, 8)}
        score.check(np.abs(run(after, feeds)[0] - run(before, feeds)[0])[:, :64].max() < 0.2, f"{passes}: outputs")
    done = baryon("convert", f"{folder}/q.onnx", "-o", f"{folder}/o.onnx", "-f", "-q", "--pass", "align-scales")
    after = onnx.load(f"{folder}/o.onnx")
    score.check(done.returncode == 0 and same(after, "k_d", "y_d"), f"--pass: {done.stderr}")


# --- biases ---

def layer(weight_scale, bias, bias_scale, domain="", shared=False):
    net = Network(domain)
    x = net.pair("x", 0.03)
    per_channel = np.ndim(weight_scale) > 0
    w = net.weight("w", rng_ints((4, 3, 1, 1)), weight_scale, 0 if per_channel else None)
    b = net.weight("b", np.asarray(bias), bias_scale, 0 if np.ndim(bias_scale) else None)
    net.node("Conv", [x, w, b], "c")
    net.pair("c", 0.05)
    if shared:
        net.node("Conv", ["c_d", net.weight("u", rng_ints((4, 4, 1, 1), 9), 0.01), b], "e")
        net.pair("e", 0.05)
    return net.model([("x", [1, 3, 2, 2])], [("e_d" if shared else "c_d", 4)])


BIAS = {"onnx_adjust_bias_scale": {"adjust_bias_scale": True}}


def test_biases(score, folder):
    channels = np.array([0.01, 0.002, 0.5, 0.03], "f4")
    for name, model in {
        "one scale": layer(0.01, np.array([900, -70000, 3, 0], "i4"), 0.001),
        "com.microsoft": layer(0.01, np.array([900, -70000, 3, 0], "i4"), 0.001, "com.microsoft"),
        "channels": layer(channels, np.array([900, -70000, 3, 0], "i4"), channels),
        "channels from one scale": layer(channels, np.array([900, -70000, 3, 0], "i4"), 0.001),
    }.items():
        onnx.save(model, f"{folder}/q.onnx")
        text = convert(folder, BIAS)
        after = onnx.load(f"{folder}/o.onnx")
        onnx.checker.check_model(after)
        was, now = pairs(model), pairs(after)
        score.check(not text and np.allclose(now["b_d"][0], np.float32(0.03) * now["w_d"][0], rtol=1e-6), f"{name}: {text}")
        score.check((np.abs(now["b_d"][2] - was["b_d"][2]) <= now["b_d"][0] / 2 * 1.001).all(), f"{name}: the biases")
        score.check(np.array_equal(now["w_d"][2], was["w_d"][2]), f"{name}: the weights stay")
        feeds = {"x": np.random.default_rng(3).uniform(-4, 4, (1, 3, 2, 2)).astype("f4")}
        score.check(np.abs(run(after, feeds)[0] - run(model, feeds)[0]).max() <= 0.0501, f"{name}: outputs")
        text = convert(folder, {"bias-scales": {}}, "o.onnx")
        score.check(not text and onnx.load(f"{folder}/o.onnx") == after, f"{name}: nothing is left to do")
    for name, model in {"int8": layer(0.01, rng_ints(4), 0.001), "shared": layer(0.01, np.array([9, 8, 7, 6], "i4"), 0.1, shared=True)}.items():
        onnx.save(model, f"{folder}/q.onnx")
        text = baryon("convert", f"{folder}/q.onnx", "-o", f"{folder}/o.onnx", "-f", "--pass", "bias-scales").stderr
        score.check("keep a scale of their own" in text and onnx.load(f"{folder}/o.onnx") == model, f"{name}: {text}")


def test_bound(score, folder):
    """Scales from 1e-12 on: some are enlarged, their biases follow or not."""
    scales = np.array([1e-12, 1e-9, 0.5, 0.03], "f4")
    model = layer(scales, np.array([2**30, -70000, 3, 0], "i4"), np.float32(0.03) * scales)
    onnx.save(model, f"{folder}/q.onnx")
    was, on = pairs(model), {"constrain_per_channel_weight_scale": True}
    for more, floor in (({}, 1e-7), ({"min_w_scale": 0.001}, 0.001), ({"adaptive_min_w_scale": True, "maxmin_scale_ratio": 100}, 0.005),
                        ({"adaptive_min_w_scale": True, "min_w_scale": 0.01}, 0.01), ({"min_w_scale": 3}, 0.5),
                        ({"adjust_bias": False}, 1e-7), ({"maxmin_scale_ratio": 1e12}, 0)):  # fmt: skip
        text = convert(folder, {"onnx_constrain_per_channel_weight_scale": on | more})
        after = onnx.load(f"{folder}/o.onnx")
        now = pairs(after)
        wanted = np.maximum(scales, np.float32(floor))
        score.check(not text and np.array_equal(now["w_d"][0], wanted), f"{more}: {now['w_d'][0]} {text}")
        step = wanted[:, None, None, None]
        score.check((np.abs(now["w_d"][2] - was["w_d"][2]) <= step / 2).all(), f"{more}: weights mean the same")
        follow = more.get("adjust_bias", True)
        score.check(np.allclose(now["b_d"][0], 0.03 * (wanted if follow else scales), rtol=1e-6), f"{more}: scales of biases")
        score.check((np.abs(now["b_d"][2] - was["b_d"][2]) <= now["b_d"][0] / 2).all(), f"{more}: biases mean the same")
    text = convert(folder, {"bound-weight-scales": {"min_w_scale": 0.001}})
    score.check(not text and pairs(onnx.load(f"{folder}/o.onnx"))["w_d"][0].min() == np.float32(0.001), f"ours: {text}")


# --- constants that several nodes read ---

def test_shared(score, folder):
    """Scale and integers of two weights are one initializer each; one layer's weight has to move."""
    net = Network()
    given = net.scales("all", 2.0**-18)
    x = net.pair("x", 2.0**-4)
    for name, position in (("one", 3), ("two", 12)):
        w = net.weight("w", rng_ints((3, 3, 1, 1)), None, out=f"{name}_w", given=given)
        net.node("Conv", [x, w], name)
        net.pair(name, 2.0**-position)
    model = net.model([("x", [1, 3, 2, 2])], [("one_d", 4), ("two_d", 4)])
    model.graph.output.append(helper.make_tensor_value_info("all_z", TensorProto.INT8, []))
    onnx.save(model, f"{folder}/q.onnx")
    text = convert(folder, {"refine-xint8": {}})
    after = onnx.load(f"{folder}/o.onnx")
    was, now = pairs(model), pairs(after)
    score.check(not text and now["one_w"][0] == 2.0**-15 and now["two_w"][0] == 2.0**-18, f"scales: {now} {text}")
    score.check(np.abs(now["one_w"][2] - was["one_w"][2]).max() <= 2.0**-16, "one: integers mean the same")
    score.check(np.array_equal(now["two_w"][2], was["two_w"][2]), "two: integers stay")
    score.check(len(after.graph.initializer) == len(model.graph.initializer) + 2, "a scale and integers are made")
    for name in ("w", "all_s", "all_z"):
        score.check(constants(after)[name] == constants(model)[name], f"{name} stays")
    run(after, {"x": np.ones((1, 3, 2, 2), "f4")})


def test_alike(score, folder):
    """Pairs that share a scale and move alike share it afterwards."""
    net = Network()
    given = net.scales("all", 2.0**-6)
    x = net.pair("x", 2.0**-4)
    net.node("MaxPool", [x], "m", kernel_shape=[1, 1])
    net.node("AveragePool", [x], "v", kernel_shape=[1, 1])
    m, v = net.pair("m", None, given=given), net.pair("v", None, given=given)
    net.node("Concat", [m, v], "k", axis=1)
    net.pair("k", None, given=given)
    model = net.model([("x", [1, 3, 2, 2])], [("k_d", 4)])
    onnx.save(model, f"{folder}/q.onnx")
    convert(folder, {"refine-xint8": {}})
    after = onnx.load(f"{folder}/o.onnx")
    score.check(set(constants(after)) == set(constants(model)), f"names: {list(constants(after))}")
    score.check(all(scale == 2.0**-4 for scale, _, _ in pairs(after).values()), "one scale for all")


def test_second_pair(score, folder):
    """A second pair of another type behind the first one is not the first one."""
    net = Network()
    x = net.pair("x", 2.0**-4)
    net.node("MaxPool", [x], "m", kernel_shape=[1, 1])
    wide = net.pair("m", 2.0**-9, given=net.scales("m", 2.0**-9, kind=np.int16))
    narrow = net.pair(wide, 2.0**-2)
    net.node("Add", [wide, narrow], "y")
    net.pair("y", 2.0**-1)
    model = net.model([("x", [1, 3, 2, 2])], [("y_d", 4)])
    model.opset_import[0].version = 21
    model.ir_version = 10
    onnx.save(model, f"{folder}/q.onnx")
    convert(folder, {"refine-xint8": {}})
    after = pairs(onnx.load(f"{folder}/o.onnx"))
    score.check(agree(onnx.load(f"{folder}/o.onnx")) and after["m_d"][0] == 2.0**-4, f"the first: {after['m_d']}")
    score.check(after["m_d_d"][0] == 2.0**-2, f"the second: {after['m_d_d']}")


def main():
    score = Score()
    with tempfile.TemporaryDirectory() as folder:
        onnx.save(network_of_floats(), f"{folder}/m.onnx")
        for test in (test_xint8, test_quantized, test_align, test_biases, test_bound, test_shared, test_alike, test_second_pair):
            test(score, folder)
        text = convert(folder, {"refine-xint8": {}}, "m.onnx")
        score.check("m.onnx: nothing is quantized" in text, f"a float model: {text}")
    return score.finish()


if __name__ == "__main__":
    raise SystemExit(main())
