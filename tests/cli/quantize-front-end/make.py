"""Makes a network of sounds that computes a spectrum, filters it, takes the logarithm, and classifies."""

import cli_models
import numpy as np
from onnx import helper

FRAMES, WINDOW, BANDS = 16, 64, 12
time, wave = np.arange(WINDOW), np.arange(WINDOW // 2)
angle = 2 * np.pi * np.outer(time, wave) / WINDOW
window = np.hanning(WINDOW)[:, None]
bank = np.maximum(0, 1 - np.abs(wave[:, None] / 2.6 - np.arange(BANDS)))
node = helper.make_node
nodes = [
    node("Reshape", ["x", "frames"], ["f"], "cut"),
    node("MatMul", ["f", "cosines"], ["re"], "real"),
    node("MatMul", ["f", "sines"], ["im"], "imaginary"),
    node("Mul", ["re", "re"], ["re2"], "real_squared"),
    node("Mul", ["im", "im"], ["im2"], "imaginary_squared"),
    node("Add", ["re2", "im2"], ["power"], "power"),
    node("MatMul", ["power", "bank"], ["bands"], "bank"),
    node("Add", ["bands", "least"], ["above"], "above"),
    node("Log", ["above"], ["levels"], "log"),
    node("MatMul", ["levels", "one"], ["h"], "one"),
    node("Relu", ["h"], ["r"], "relu"),
    node("MatMul", ["r", "two"], ["y"], "two"),
]
weights = [
    cli_models.tensor("frames", np.array([FRAMES, WINDOW])),
    cli_models.tensor("cosines", (window * np.cos(angle)).astype(np.float32)),
    cli_models.tensor("sines", (window * np.sin(angle)).astype(np.float32)),
    cli_models.tensor("bank", bank.astype(np.float32)),
    cli_models.tensor("least", np.float32(1e-6)),
    cli_models.tensor("one", cli_models.numbers(BANDS, 24)),
    cli_models.tensor("two", cli_models.numbers(24, 5)),
]
graph = helper.make_graph(
    nodes,
    "net",
    [cli_models.value("x", [1, FRAMES * WINDOW])],
    [cli_models.value("y", [FRAMES, 5])],
    weights,
)
cli_models.save(graph)
rng = np.random.default_rng(5)
tones = np.sin(np.arange(FRAMES * WINDOW) * rng.uniform(0.05, 1.5, (32, 1)))
loudness = 10 ** rng.uniform(-3, 0, (32, 1))
sounds = loudness * (tones + 0.05 * rng.normal(size=tones.shape))
np.save("x.npy", sounds.astype(np.float32))
