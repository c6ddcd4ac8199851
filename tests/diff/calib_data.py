"""Tensors to calibrate on: made up, and what flows through real models."""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime


def distributions(rng):
    """Name and a function of a size."""
    def outliers(n):
        x = rng.normal(0, 1, n)
        x[: max(n // 500, 1)] *= 40
        return x

    def sparse(n):
        return np.where(rng.random(n) < 0.97, 0, rng.normal(0, 1, n))

    logits = rng.normal(0, 3, 64)
    return {
        "normal": lambda n: rng.normal(0, 1, n),
        "shifted": lambda n: rng.normal(3, 1, n),
        "far": lambda n: rng.normal(100, 1, n),
        "laplace": lambda n: rng.laplace(0, 2, n),
        "student": lambda n: rng.standard_t(2.5, n),
        "uniform": lambda n: rng.uniform(-1, 2, n),
        "relu": lambda n: np.maximum(rng.normal(0, 1, n), 0),
        "relu6": lambda n: np.clip(rng.normal(1, 4, n), 0, 6),
        "exponential": lambda n: rng.exponential(0.3, n),
        "lognormal": lambda n: rng.lognormal(0, 1.5, n),
        "negative": lambda n: -rng.gamma(2, 1, n),
        "two humps": lambda n: np.where(rng.random(n) < 0.3, rng.normal(-4, 0.2, n),
                                        rng.normal(1, 0.5, n)),
        "sigmoid": lambda n: 1 / (1 + np.exp(-rng.normal(0, 4, n))),
        "softmax": lambda n: rng.dirichlet(np.exp(logits / 3), n // 64 + 1).ravel()[:n],
        "gelu": lambda n: (lambda x: x / (1 + np.exp(-1.702 * x)))(rng.normal(0, 2, n)),
        "outliers": outliers,
        "sparse": sparse,
        "whole": lambda n: rng.integers(-20, 100, n),
        "pixels": lambda n: rng.integers(0, 256, n) / 255,
        "tiny": lambda n: rng.normal(0, 1e-30, n),
        "huge": lambda n: rng.normal(0, 1e30, n),
        "constant": lambda n: np.full(n, 0.7),
    }


def samples(make, size, count, rng, uneven=True):
    """count arrays, each with a scale of its own when uneven."""
    factors = rng.uniform(0.5, 1.6, count) if uneven else np.ones(count)
    return [(make(size) * f).astype("f4") for f in factors]


def activations(model, files, most=None):
    """Name and values of each sample, of the float tensors inside a model."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    proto = onnx.shape_inference.infer_shapes(onnx.load(model))
    kinds = {v.name: v.type.tensor_type.elem_type
             for v in [*proto.graph.value_info, *proto.graph.output]}
    names = [name for node in proto.graph.node for name in node.output
             if kinds.get(name) == onnx.TensorProto.FLOAT and node.op_type != "Constant"]
    have = {output.name for output in proto.graph.output}
    if most and len(names) > most:
        names = [names[i] for i in np.linspace(0, len(names) - 1, most).astype(int)]
    proto.graph.output.extend(onnx.helper.make_empty_tensor_value_info(name)
                              for name in names if name not in have)
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options,
                                           providers=["CPUExecutionProvider"])
    runs = [session.run(names, dict(np.load(path))) for path in files]
    for i, name in enumerate(names):
        arrays = [run[i] for run in runs if run[i].size]
        if arrays:
            yield name, arrays


def zoo(models, most=None, limit=3):
    """Model, name and samples of the tensors of all models in the folder."""
    onnxruntime.set_default_logger_severity(4)
    for name in ("centerface", "magika", "ppocr_cls", "ppocrv4_det", "ppocrv4_rec", "silero_vad_ifless"):
        files = sorted((Path(models).parent / "data" / name).glob("*.npz"))[:limit]
        model = Path(models) / f"{name}.onnx"
        if most and name == "ppocrv4_rec":  # a hundred million values a sample
            continue
        if model.exists() and files:
            for tensor, arrays in activations(model, files, most):
                yield name, tensor, arrays
