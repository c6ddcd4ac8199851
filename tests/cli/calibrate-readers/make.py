"""The same 12 rows for x [2,3] and ids [2,4] in every form that there is; 6 samples of 2 rows."""

import os

import numpy as np
from onnx import TensorProto, helper

import cli_models

ROWS, BATCH = 12, 2


def make(path, batch):
    cli_models.save(
        helper.make_graph(
            [
                helper.make_node("Cast", ["ids"], ["numbers"], "cast", to=TensorProto.FLOAT),
                helper.make_node("ReduceMax", ["numbers"], ["most"], "most", axes=[1]),
                helper.make_node("Mul", ["x", "most"], ["y"], "mul"),
            ],
            "two",
            [
                cli_models.value("x", [batch, 3]),
                cli_models.value("ids", [batch, "L"], TensorProto.INT64),
            ],
            [cli_models.value("y", [batch, 3])],
        ),
        path,
    )


def put(kind, save, step):
    """One file for each `step` rows, in a folder for each input."""
    for name, values in (("x", x), ("ids", ids)):
        os.makedirs(f"{kind}/{name}", exist_ok=True)
        for i in range(0, ROWS, step):
            save(f"{kind}/{name}/s{i:02}", values[i : i + step])


make("model.onnx", BATCH)
make("open.onnx", "N")
x = cli_models.numbers(ROWS, 3)
ids = np.arange(ROWS * 4).reshape(ROWS, 4) * 7 % 23
put("arrays", np.save, BATCH)
put("rows", np.save, 1)
put("stacked", np.save, ROWS)
put("odd", np.save, 5)
put("raw", lambda path, values: values.tofile(path + ".raw"), BATCH)
os.makedirs("archives")
for i in range(0, ROWS, BATCH):
    np.savez(f"archives/s{i:02}.npz", x=x[i : i + BATCH], ids=ids[i : i + BATCH])
np.savez("all.npz", ids=ids, x=x)
with open("list.txt", "w") as file:
    file.write("# half of them, and the other half\n\n")
    for i in range(0, ROWS, BATCH):
        file.write(f"archives/s{i:02}.npz\n")

# Of other lengths from sample to sample: the data say what L is.
os.makedirs("lengths")
for i in range(0, ROWS, BATCH):
    np.savez(f"lengths/s{i:02}.npz", x=x[i : i + BATCH], ids=ids[i : i + BATCH, : 1 + i % 4])
np.save("x.npy", x)
np.save("ids.npy", ids)
