"""Makes a small network, and one that declares a dimension of 2^31."""

import cli_models
from onnx import helper

cli_models.net(batch=1)
cli_models.save(
    helper.make_graph(
        [helper.make_node("Add", ["x", "one"], ["y"], "add")],
        "huge",
        [cli_models.value("x", ["T", 1, 2**31])],
        [cli_models.value("y", ["T", 1, 2**31])],
        [cli_models.tensor("one", cli_models.numbers(1))],
    ),
    "huge.onnx",
)
