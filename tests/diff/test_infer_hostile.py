"""Inference on broken models: the backend node cases with absurd values put in.

Attributes, constants, dimensions, inputs, outputs and operators are changed by a seeded
generator. Whatever comes of it, each model is refused with a message or gets types
and shapes; the program may not crash or hang. `test_infer_hostile.py SEED COUNT` for more.
"""

import pathlib
import random
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import AttributeProto, numpy_helper

from lib.backend import node_cases

from dump import tool

SECONDS = 900
INTS = [0, 1, -1, 2, 3, 5, 7, 16, 17, 64, 255, -2, -3, -17, 2**31 - 1, 2**31, -(2**31), 2**32,
        2**40, 2**48, 2**48 + 1, 2**62, 2**63 - 1, -(2**63), -(2**63) + 1]
FLOATS = [0.0, 1.0, -1.0, 0.5, 3.0, 1e30, -1e30, 1e-30, float("nan"), float("inf"), -float("inf")]


class Mutator:
    def __init__(self, seed, cases):
        self.rng, self.cases = random.Random(seed), cases

    def tensor(self, tensor):
        kinds = {onnx.TensorProto.INT64: INTS, onnx.TensorProto.FLOAT: FLOATS,
                 onnx.TensorProto.INT32: [0, -1, 2**31 - 1, -(2**31)]}
        if tensor.data_type not in kinds:
            return
        array = numpy_helper.to_array(tensor).copy()
        if array.size:
            array.flat[self.rng.randrange(array.size)] = self.rng.choice(kinds[tensor.data_type])
            tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))

    def list(self, values, choices):
        what = self.rng.random()
        if values and what < 0.3:
            del values[-1]
        elif what < 0.5:
            values.append(self.rng.choice(choices))
        elif values:
            values[self.rng.randrange(len(values))] = self.rng.choice(choices)

    def attribute(self, attr):
        if attr.type == AttributeProto.INT:
            attr.i = self.rng.choice(INTS)
        elif attr.type == AttributeProto.FLOAT:
            attr.f = self.rng.choice(FLOATS)
        elif attr.type == AttributeProto.INTS:
            self.list(attr.ints, INTS)
        elif attr.type == AttributeProto.FLOATS:
            self.list(attr.floats, FLOATS)
        elif attr.type == AttributeProto.STRING and attr.s:
            text = bytearray(attr.s)
            text[self.rng.randrange(len(text))] = self.rng.choice(b".,->ijk \x00\xff")
            attr.s = bytes(text)
        elif attr.type == AttributeProto.TENSOR:
            self.tensor(attr.t)
        elif attr.type == AttributeProto.GRAPH and attr.g.node:
            self.graph(attr.g)

    def dimensions(self, shape):
        what = self.rng.random()
        if what < 0.3:
            shape.dim.add().dim_value = self.rng.choice(INTS)
        elif what < 0.45 and shape.dim:
            del shape.dim[-1]
        elif shape.dim:
            dim = self.rng.choice(shape.dim)
            if self.rng.random() < 0.3:
                dim.dim_param = self.rng.choice("NMK")
            else:
                dim.dim_value = self.rng.choice(INTS)

    def node(self, node, graph):
        what = self.rng.random()
        if what < 0.2 and node.input:
            del node.input[-1]
        elif what < 0.3:
            node.output.append(f"extra{self.rng.randrange(10**9)}")
        elif what < 0.4 and node.attribute:
            del node.attribute[self.rng.randrange(len(node.attribute))]
        elif what < 0.5:
            node.op_type = self.rng.choice(self.cases).model.graph.node[0].op_type
        elif node.input:
            names = ["", *node.input, *(info.name for info in graph.input)]
            node.input[self.rng.randrange(len(node.input))] = self.rng.choice(names)

    def graph(self, graph):
        for _ in range(self.rng.choice([1, 1, 2, 3])):
            what = self.rng.random()
            node = self.rng.choice(graph.node) if graph.node else None
            if what < 0.4 and node and node.attribute:
                self.attribute(self.rng.choice(node.attribute))
            elif what < 0.7 and graph.input:
                info = self.rng.choice(graph.input)
                if info.type.HasField("tensor_type"):
                    self.dimensions(info.type.tensor_type.shape)
            elif what < 0.8 and graph.initializer:
                self.tensor(self.rng.choice(graph.initializer))
            elif node:
                self.node(node, graph)

    def model(self):
        case = self.rng.choice(self.cases)
        model = onnx.ModelProto()
        model.CopyFrom(case.model)
        inputs = case.data_sets[0][0] if case.data_sets else []
        for info, array in zip(list(model.graph.input), inputs):
            plain = isinstance(array, np.ndarray) and array.dtype in (np.int64, np.float32)
            if plain and array.size <= 64 and self.rng.random() < 0.7:
                model.graph.initializer.append(numpy_helper.from_array(array, info.name))
                model.graph.input.remove(info)
        self.graph(model.graph)
        return model


def main():
    seed, count = (int(arg) for arg in [*sys.argv[1:], "1", "3000"][:2])
    mutator = Mutator(seed, node_cases())
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(folder) / f"{number}.onnx" for number in range(count)]
        for path in paths:
            path.write_bytes(mutator.model().SerializeToString())
        run = subprocess.run([tool("infer_dump")], capture_output=True, text=True,
                             input="".join(f"{path}\n" for path in paths), errors="replace",
                             timeout=SECONDS, check=False)
    lines = run.stdout.splitlines()
    done = sum(line.startswith(("FAIL", "RESULT")) for line in lines)
    refused = sum(line.startswith("FAIL") for line in lines)
    good = run.returncode == 0 and done == count and not run.stderr
    if not good:
        print(f"seed {seed}: exit {run.returncode} after {done} of {count} models\n{run.stderr}")
    print(f"{count} models, {refused} refused")
    print("1 passed, 0 failed" if good else "0 passed, 1 failed")
    return not good


if __name__ == "__main__":
    sys.exit(main())
