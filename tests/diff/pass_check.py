"""Models before and after passes, for test_passes.py and its like.

build() makes a small model, Passes runs build/tests/tools/pass_run on it, and check() demands
that the result is valid, has the same inputs and outputs, and gives the same values.
"""

import collections
import pathlib
import subprocess
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

from dump import tool

ort.set_default_logger_severity(4)
ORT_TYPES = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(double)": np.float64,
             "tensor(int64)": np.int64, "tensor(int32)": np.int32, "tensor(bool)": np.bool_}  # fmt: skip


def node(op, inputs, outputs, **attributes):
    """Inputs and outputs as "a b c"; "_" is one that is left out. Named after its first output."""
    split = [["" if name == "_" else name for name in text.split()] for text in (inputs, outputs)]
    name = attributes.pop("name", split[1][0] + "_node")
    return helper.make_node(op, *split, name=name, **attributes)


def port(name, shape, elem=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, elem, shape)


def build(nodes, inputs, outputs, constants=(), opset=17, ir=8, domains=(), infos=()):
    """inputs and outputs: {name: shape or (shape, elem)}, of outputs None for what onnx infers;
    constants: {name: array}."""
    ports = [[port(name, *(shape if isinstance(shape, tuple) else (shape,))) for name, shape in some.items()]
             for some in (inputs, outputs)]  # fmt: skip
    weights = [numpy_helper.from_array(np.asarray(array), name) for name, array in dict(constants).items()]
    graph = helper.make_graph(nodes, "g", *ports, weights, value_info=list(infos))
    opsets = [helper.make_opsetid("", opset)] + [helper.make_opsetid(domain, 1) for domain in domains]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=ir)
    inferred = onnx.shape_inference.infer_shapes(model).graph.output
    for item, known in zip(model.graph.output, inferred):
        if not item.type.tensor_type.HasField("shape"):
            item.CopyFrom(known)
    return model


def counts(model):
    found = collections.Counter()

    def walk(graph):
        for item in graph.node:
            found[item.op_type] += 1
            for attribute in item.attribute:
                for nested in ([attribute.g] if attribute.HasField("g") else []) + list(attribute.graphs):
                    walk(nested)

    walk(model.graph)
    return dict(found)


def session(model):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    data = model if isinstance(model, (str, bytes)) else model.SerializeToString()
    return ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def random_inputs(opened, seed, sizes):
    rng = np.random.default_rng(seed)
    inputs = {}
    for item in opened.get_inputs():
        shape = [d if isinstance(d, int) else sizes.get(d, 2) for d in item.shape]
        kind = ORT_TYPES[item.type]
        if np.issubdtype(kind, np.floating):
            inputs[item.name] = np.asarray(rng.normal(size=shape) * 2, kind)
        else:
            inputs[item.name] = np.asarray(rng.integers(0, 2, size=shape), kind)
    return inputs


class Passes:
    """Runs passes, many models in one process; counts what passed and failed."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen([tool("pass_run")], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # fmt: skip
        self.passed, self.failures = 0, []

    def run_file(self, path, out, passes, options=""):
        """(changes, {node: [its origins]}) or the error's text."""
        self.process.stdin.write(f"{path}\t{out}\t{passes}\t{options}\n")
        self.process.stdin.flush()
        changes, origins, line = None, {}, ""
        while line != "END":
            line = self.process.stdout.readline().rstrip("\n")
            parts = line.split("\t")
            if parts[0] == "OK":
                changes = int(parts[1])
            elif parts[0] == "N":
                origins[parts[1]] = parts[3].split()
            elif parts[0] == "FAIL":
                changes = parts[1]
            elif line == "":
                raise SystemExit("pass_run has ended")
        return changes, origins

    def run(self, model, passes, options=""):
        """(model, changes, origins); model None and the message when it failed."""
        before = pathlib.Path(self.folder.name) / "in.onnx"
        after = pathlib.Path(self.folder.name) / "out.onnx"
        before.write_bytes(model.SerializeToString())
        changes, origins = self.run_file(before, after, passes, (options + ",origins").lstrip(","))
        if isinstance(changes, str):
            return None, changes, origins
        return onnx.load(after), changes, origins

    def note(self, name, problem):
        if problem:
            self.failures.append(name)
            print(f"FAIL {name}: {problem}")
        else:
            self.passed += 1

    def check(self, name, model, passes, ops=None, gone=None, changes=None, options="", sizes={},
              close=2e-5, origins=None, look=None, same_types=True):  # fmt: skip
        """ops: how many of each operator the result has; gone: operators that it has not; origins:
        {node: names}; look: function of the result that gives a problem or None."""
        try:
            problem = self.compare(model, passes, ops, gone, changes, options, sizes, close, origins, look, same_types)
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"
        self.note(name, problem)

    def compare(self, model, passes, ops, gone, changes, options, sizes, close, origins, look, same_types):
        onnx.checker.check_model(model, full_check=True)
        result, count, found_origins = self.run(model, passes, options)
        if result is None:
            return count
        onnx.checker.check_model(result, full_check=True)
        found = counts(result)
        if changes is not None and count != changes:
            return f"{count} changes, not {changes}: {found}"
        if ops is not None and found != ops:
            return f"operators are {found}, not {ops}"
        for op in gone or ():
            if op in found:
                return f"{op} is still there: {found}"
        for key, wanted in (origins or {}).items():
            if sorted(found_origins.get(key, ["(no such node)"])) != sorted(wanted):
                return f"origins of {key} are {found_origins.get(key)}, not {wanted}: {found_origins}"
        if look and look(result):
            return look(result)
        return self.compare_values(model, result, sizes, close, same_types)

    def compare_values(self, model, result, sizes, close, same_types):
        one, other = session(model), session(result)
        names = [[item.name for item in opened.get_inputs()] for opened in (one, other)]
        outs = [[item.name for item in opened.get_outputs()] for opened in (one, other)]
        if names[0] != names[1] or outs[0] != outs[1]:
            return f"inputs or outputs changed: {names} {outs}"
        for seed in range(3):
            inputs = random_inputs(one, seed, sizes)
            theirs = {item.name: inputs[item.name].astype(ORT_TYPES[item.type]) for item in other.get_inputs()}
            for out, a, b in zip(outs[0], one.run(None, inputs), other.run(None, theirs)):
                a, b = np.asarray(a), np.asarray(b)
                if a.shape != b.shape or (a.dtype != b.dtype and same_types):
                    return f"{out} is {a.dtype}{a.shape}, became {b.dtype}{b.shape}"
                if a.dtype.kind != "f":
                    worst = np.abs(a.astype(np.int64) - b.astype(np.int64)).max(initial=0)
                else:
                    a, b = a.astype(np.float64), b.astype(np.float64)
                    worst = np.abs(a - b).max(initial=0) / (np.abs(a).max(initial=0) + 1e-9)
                if not worst <= close:
                    return f"{out} is off by {worst:g} of its range"
        return None

    def refused(self, name, model, passes, text, options=""):
        result, message, _ = self.run(model, passes, options)
        self.note(name, None if result is None and text in message else f"{message}, not '{text}'")

    def end(self):
        self.process.stdin.close()
        self.process.wait()
        if self.failures:
            print("failed:", ", ".join(self.failures))
        print(f"{self.passed} passed, {len(self.failures)} failed")
        raise SystemExit(bool(self.failures))
