"""Values for the tests of GGUF blocks, and the types that are written."""

import numpy as np

WRITTEN = ["q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "q2_K", "q3_K", "q4_K", "q5_K", "q6_K", "iq4_nl", "iq4_xs",
           "mxfp4", "nvfp4"]
# Those that search with importance.
WEIGHTED = ["q4_0", "q4_1", "q5_0", "q5_1", "q2_K", "q3_K", "q4_K", "q5_K", "q6_K", "iq4_nl", "iq4_xs"]

# Those that ours searches further than ggml does, all with importance; bytes differ.
SEARCHED = ["iq3_xxs", "iq3_s"]


def spread(draw, shape, size, deviation):
    """Groups of a size whose scales differ by powers."""
    rows, width = shape
    return draw.standard_normal(shape) * np.exp(draw.normal(0, deviation, (rows, width // size))).repeat(size, 1)


KINDS = {
    "normal": lambda draw, shape: draw.standard_normal(shape) * 0.02,
    "heavy": lambda draw, shape: draw.standard_t(2, shape) * 0.02,
    "uniform": lambda draw, shape: draw.uniform(-1, 1, shape),
    "positive": lambda draw, shape: np.abs(draw.standard_normal(shape)) + 0.5,
    "groups": lambda draw, shape: spread(draw, shape, 32, 1.5),
    "small groups": lambda draw, shape: spread(draw, shape, 16, 1.5),
    "sparse": lambda draw, shape: np.where(draw.random(shape) < 0.95, 0, draw.standard_normal(shape)),
    "grid": lambda draw, shape: np.round(draw.standard_normal(shape) * 4) / 4,
    "constant": lambda draw, shape: np.broadcast_to(draw.standard_normal((shape[0], 1)), shape),
    "zero": lambda draw, shape: np.zeros(shape),
    "tiny": lambda draw, shape: draw.standard_normal(shape) * 1e-14,
    "subnormal": lambda draw, shape: draw.standard_normal(shape) * 1e-40,
}


def values(kind, shape, seed=0):
    draw = np.random.default_rng([seed, list(KINDS).index(kind)])
    return np.ascontiguousarray(KINDS[kind](draw, shape), "f4")


def importance(width, seed=0):
    """Of columns; some are 0."""
    draw = np.random.default_rng([seed, 99])
    return np.where(draw.random(width) < 0.1, 0, draw.standard_normal(width) ** 2).astype("f4")
