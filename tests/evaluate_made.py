"""Folders of results and pairs of models for the cases of `baryon evaluate`."""

import os

import numpy as np
from onnx import helper

import cli_models


def folders(**more):
    """two/ beside one/: ramps, and the same with every fourth value off. more: file=(one, two)."""
    for name in ("one", "two"):
        os.makedirs(name, exist_ok=True)
    for i in range(2):
        ramp = np.arange(12 * 16, dtype=np.float32).reshape(12, 16) * (i + 1) / 64
        off = ramp + np.where(np.arange(16) % 4 == i, np.float32(0.25), 0).astype(np.float32)
        more.setdefault(f"result_{i}", (ramp, off))
    for name, (one, two) in more.items():
        np.save(f"one/{name}.npy", one)
        np.save(f"two/{name}.npy", two)


def classifier(path, step):
    """Rows x [N,8] to their softmax, and to themselves in multiples of the step."""
    nodes = [
        helper.make_node("Div", ["x", "step"], ["scaled"], "scale"),
        helper.make_node("Round", ["scaled"], ["rounded"], "round"),
        helper.make_node("Mul", ["rounded", "step"], ["scores"], "back"),
        helper.make_node("Softmax", ["scores"], ["chances"], "softmax", axis=-1),
    ]
    graph = helper.make_graph(
        nodes, "classifier", [cli_models.value("x", ["N", 8])],
        [cli_models.value(name, ["N", 8]) for name in ("chances", "scores")],
        [cli_models.tensor("step", np.float32(step))],
    )  # fmt: skip
    return cli_models.save(graph, path)


def models(samples=4):
    classifier("model.onnx", 2.0**-10)
    classifier("coarse.onnx", 1.0)
    os.makedirs("data", exist_ok=True)
    for i in range(samples):
        rows = np.stack([np.roll(np.arange(8) / 2, k + i) for k in range(2)]).astype(np.float32)
        np.save(f"data/s{i}.npy", rows)
