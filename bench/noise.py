"""How much of a model's SQNR is noise of its roundings: biases moved by a fraction of the output's step.

    noise.py MODEL DATA QUANTIZED [QUANTIZED ...] [--moves 12] [--step 0.1] [--limit 32] [--seed 1]

Every int32 bias of a quantized model is moved at random, evenly within plus and minus STEP of the step that
the layer's output is rounded to, MOVES times. No deployment could tell these models from each other, so that
what their SQNR (as written, on `eval` samples) spreads is noise. One line a model: as it is, then mean, standard
deviation, least and greatest of the moved ones. Two models whose means are closer than that are equal.
"""

import argparse
import copy
import sys

import numpy as np
import onnx
from accuracy import level
from judge import add, decibels, new_row, samples, session
from onnx import numpy_helper

THROUGH = {"Relu", "Clip", "LeakyRelu"}


class Graph:
    def __init__(self, model):
        self.model = model
        self.constants = {one.name: one for one in model.graph.initializer}
        self.maker = {name: node for node in model.graph.node for name in node.output}
        self.readers = {}
        for node in model.graph.node:
            for name in node.input:
                self.readers.setdefault(name, []).append(node)

    def step_behind(self, name):
        """The step that a layer's output is rounded to, behind its activation; None: it is not rounded."""
        for _ in range(4):
            readers = self.readers.get(name, [])
            if len(readers) != 1:
                return None
            if readers[0].op_type.endswith("QuantizeLinear"):
                return float(numpy_helper.to_array(self.constants[readers[0].input[1]]).ravel()[0])
            if readers[0].op_type not in THROUGH:
                return None
            name = readers[0].output[0]
        return None

    def biases(self):
        """(initializer of integers, step of the output in these integers) of every layer with a rounded bias."""
        for node in self.model.graph.node:
            if node.op_type not in {"Conv", "ConvTranspose", "Gemm"} or len(node.input) < 3:
                continue
            pair, step = self.maker.get(node.input[2]), self.step_behind(node.output[0])
            if pair is None or step is None or pair.input[0] not in self.constants:
                continue
            integers = self.constants[pair.input[0]]
            if integers.data_type == onnx.TensorProto.INT32:
                yield integers, step / numpy_helper.to_array(self.constants[pair.input[1]]).astype("f8")


def moved(model, random, step):
    model = copy.deepcopy(model)
    for integers, unit in Graph(model).biases():
        values = numpy_helper.to_array(integers)
        shifts = np.rint(random.uniform(-step, step, values.shape) * unit)
        integers.CopyFrom(numpy_helper.from_array((values + shifts).clip(-2**31, 2**31 - 1).astype("i4"), integers.name))
    return model


def sqnr(model, asked, wanted):
    """Mean of the outputs, as accuracy.py takes it."""
    quantized, rows = session(model.SerializeToString(), as_written=True), {}
    for sample, outputs in zip(asked, wanted):
        for i, (want, got) in enumerate(zip(outputs, quantized.run(None, sample))):
            if want.dtype.kind == "f":
                add(rows.setdefault(i, new_row()), want.astype("f8").ravel(), got.astype("f8").ravel())
    return level({"outputs": {i: {"sqnr_db": decibels(row)} for i, row in rows.items()}})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model"), parser.add_argument("data"), parser.add_argument("quantized", nargs="+")
    parser.add_argument("--moves", type=int, default=12), parser.add_argument("--step", type=float, default=0.1)
    parser.add_argument("--limit", type=int, default=32), parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    float_model, asked = session(args.model), list(samples(f"{args.data}/eval", args.limit))
    wanted = [float_model.run(None, sample) for sample in asked]
    for path in args.quantized:
        model, random = onnx.load(path), np.random.default_rng(args.seed)
        count = len(list(Graph(model).biases()))
        found = [sqnr(moved(model, random, args.step), asked, wanted) for _ in range(args.moves)] if count else []
        spread = (f"moved {np.mean(found):.1f} +- {np.std(found, ddof=1):.1f} ({min(found):.1f} to {max(found):.1f})"
                  if len(found) > 1 else "no bias of 32 bits to move")  # fmt: skip
        print(f"{path}: {sqnr(model, asked, wanted):.1f} dB, {count} biases, {spread}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
