"""Makes pairs of models that cannot be compared."""

from onnx import helper

import cli_models


def scaled(path, name="x", out="y", shape=(1, 4)):
    nodes = [
        helper.make_node("QuantizeLinear", [name, "s", "z"], ["q"], "quantize"),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], [out], "dequantize"),
    ]
    constants = [cli_models.tensor("s", cli_models.numbers(1)[0] * 0 + 0.5),
                 cli_models.tensor("z", cli_models.numbers(1, dtype="int8")[0] * 0)]  # fmt: skip
    graph = helper.make_graph(nodes, "g", [cli_models.value(name, shape)], [cli_models.value(out, shape)], constants)
    return cli_models.save(graph, path)


scaled("one.onnx")
scaled("two.onnx")
scaled("other-input.onnx", name="in")
scaled("other-output.onnx", out="out")
scaled("other-shape.onnx", shape=(1, 2, 2))
model = scaled("twice.onnx")
model.graph.node[1].output[0] = "q"
open("twice.onnx", "wb").write(model.SerializeToString())
open("damaged.onnx", "wb").write(open("one.onnx", "rb").read()[:50])
cli_models.save(helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [cli_models.value("x", (1, 4))],
                                  [cli_models.value("y", (1, 4))]), "float.onnx")  # fmt: skip
