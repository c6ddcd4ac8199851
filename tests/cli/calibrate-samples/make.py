"""Makes models that take pictures and tokens, for all kinds of sample options."""

import os

import numpy as np
from onnx import TensorProto, helper
from PIL import Image

import cli_models

cli_models.save(
    helper.make_graph(
        [helper.make_node("Neg", ["image"], ["minus"], "neg1")],
        "minus",
        [cli_models.value("image", ["N", 3, "H", "W"])],
        [cli_models.value("minus", ["N", 3, "H", "W"])],
    )
)
cli_models.save(
    helper.make_graph(
        [helper.make_node("Cast", ["tokens"], ["float"], "cast1", to=TensorProto.FLOAT)],
        "tokens",
        [cli_models.value("tokens", ["N", 50], TensorProto.INT64)],
        [cli_models.value("float", ["N", 50])],
    ),
    "tokens.onnx",
)
os.makedirs("pictures")
os.makedirs("strange")
for i in range(2):
    ramp = np.add.outer(np.arange(20), np.arange(30))[..., None] * np.array([3, 2, 1]) + i
    Image.fromarray(ramp.astype(np.uint8)).save(f"pictures/p{i}.png")
values = cli_models.numbers(1, 3, 4, 5)
values[0, 1, 2] = np.inf, -np.inf, np.nan, 3, -4
np.save("strange/a.npy", values)
