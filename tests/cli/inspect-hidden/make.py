"""Makes a model whose names have characters that would act on the terminal."""

from onnx import helper

import cli_models

# Names and symbols that would colour the terminal or turn its text around.
symbol = "\x1b[31mN\u202e"
graph = helper.make_graph(
    [helper.make_node("Relu", ["x\x07"], ["y"], "re\u200blu")], "g\x9b",
    [cli_models.value("x\x07", [symbol, 2])], [cli_models.value("y", [symbol, 2])])
cli_models.save(graph)
