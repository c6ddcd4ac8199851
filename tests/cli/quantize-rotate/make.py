"""Makes a small encoder whose residual stream has one channel far above the others, and one with norms behind it."""

import cli_models
import numpy as np
import onnx
from onnx import TensorProto, helper

rng = np.random.default_rng(5)
WIDTH, PLACES, HEADS = 24, 6, 2
constants = []


def normal(name, *shape, gain=0.25):
    constants.append(cli_models.tensor(name, (gain * rng.standard_normal(shape)).astype("f4")))
    return name


def ints(name, *values):
    constants.append(cli_models.tensor(name, np.array(values)))
    return name


def node(op, inputs, output, **attributes):
    return helper.make_node(op, inputs, [output], output, **attributes)


def norm(x, y):
    constants.append(cli_models.tensor(f"{y}_scale", np.exp2(rng.standard_normal(WIDTH) / 2).astype("f4")))
    return node("LayerNormalization", [x, f"{y}_scale", normal(f"{y}_shift", WIDTH)], y)


def save(nodes, name, y):
    used = {word for one in nodes for word in one.input}
    ports = [helper.make_tensor_value_info(word, TensorProto.FLOAT, [1, PLACES, WIDTH]) for word in ("x", y)]
    graph = helper.make_graph(nodes, "encoder", ports[:1], ports[1:], [c for c in constants if c.name in used])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), name)


peak = (0.3 * rng.standard_normal(WIDTH)).astype("f4")
peak[7] = 40
constants.append(cli_models.tensor("peak", peak))
shape, whole = ints("heads", 0, 0, HEADS, WIDTH // HEADS), ints("whole", 0, 0, WIDTH)
attention = [node("MatMul", ["n1", normal(f"w{part}", WIDTH, WIDTH)], part) for part in "qkv"]
attention += [node("Reshape", [part, shape], f"{part}_split") for part in "qkv"]
attention += [node("Transpose", [f"{part}_split"], f"{part}_turned", perm=perm)
              for part, perm in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3]))]
attention += [node("MatMul", ["q_turned", "k_turned"], "scores"), node("Softmax", ["scores"], "shares", axis=-1),
              node("MatMul", ["shares", "v_turned"], "mixed"), node("Transpose", ["mixed"], "back", perm=[0, 2, 1, 3]),
              node("Reshape", ["back", whole], "joined"), node("MatMul", ["joined", normal("wo", WIDTH, WIDTH)], "o")]
begin = [node("MatMul", ["x", normal("win", WIDTH, WIDTH)], "s0"), node("Add", ["s0", "peak"], "s")]
end = [node("MatMul", ["n2", normal("wup", WIDTH, 2 * WIDTH)], "up"), node("Relu", ["up"], "active"),
       node("MatMul", ["active", normal("wdown", 2 * WIDTH, WIDTH)], "down")]
save([*begin, norm("s", "n1"), *attention, node("Add", ["s", "o"], "s1"), norm("s1", "n2"), *end,
      node("Add", ["s1", "down"], "s2"), norm("s2", "n3"), node("MatMul", ["n3", normal("wout", WIDTH, WIDTH)], "y")],
     "model.onnx", "y")
save([*begin, norm("s", "n1"), *attention, node("Add", ["n1", "o"], "s1"), norm("s1", "n2"), *end,
      node("Add", ["n2", "down"], "s2"), norm("s2", "y")], "bert.onnx", "y")
np.save("x.npy", rng.standard_normal((24, PLACES, WIDTH)).astype("f4"))
