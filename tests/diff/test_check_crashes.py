"""A model that `baryon check` passes does not end ONNX Runtime's process.

Each node of onnx's backend tests is changed in one place: an input or output is left out, one more
is named, an attribute or a dimension takes a value at the end of its range. What the check passes
is opened and run in a process of its own; a signal is a failure. LONG=1 takes all of them.
"""

import os
import pathlib
import signal
import sys
import tempfile
import warnings

import numpy as np
import onnx
import onnxruntime as ort
from onnx import AttributeProto, helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from dump import Dump, Score
from lib.backend import node_cases

STEP = 1 if os.environ.get("LONG", "") not in ("", "0") else 40
SECONDS, MEMORY = 60, 8 << 30
NUMBERS = (99, -99, -1, 0, 1 << 40)
# Loops without an end are what the model says.
ENDLESS = {("Loop", "input 0 left out")}


def copied(model):
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    return copy, copy.graph.node[0]


def without_names(model, node):
    for i, name in enumerate(node.input):
        if name:
            copy, changed = copied(model)
            changed.input[i] = ""
            yield f"input {i} left out", copy
    for i, name in enumerate(node.output if len(node.output) > 1 else ()):
        copy, changed = copied(model)
        changed.output[i] = ""
        kept = [output for output in copy.graph.output if output.name != name]
        del copy.graph.output[:]
        copy.graph.output.extend(kept)
        yield f"output {i} left out", copy
    copy, changed = copied(model)
    changed.input.append("")
    yield "one more input", copy


def with_attributes(model, node):
    for k, attribute in enumerate(node.attribute):
        if attribute.type == AttributeProto.INT:
            for number in NUMBERS:
                copy, changed = copied(model)
                changed.attribute[k].i = number
                yield f"{attribute.name}={number}", copy
        elif attribute.type == AttributeProto.INTS and attribute.ints:
            for number in NUMBERS[:4]:
                copy, changed = copied(model)
                changed.attribute[k].ints[0] = number
                yield f"{attribute.name}[0]={number}", copy


def with_empty_inputs(model, node):
    for i, port in enumerate(model.graph.input):
        for d, dim in enumerate(port.type.tensor_type.shape.dim):
            if dim.dim_value > 0:
                copy, _ = copied(model)
                copy.graph.input[i].type.tensor_type.shape.dim[d].dim_value = 0
                yield f"input {i}: dimension {d} of size 0", copy


def values(dims, kind, rng):
    if kind is object:
        return np.full(dims, "a", object)
    if kind.kind in "biu":
        return rng.integers(0, 2, dims).astype(kind)
    return rng.normal(size=dims).astype(kind)


def feed(model, known):
    """What the case is run with where it fits, else random numbers."""
    rng, fed = np.random.default_rng(0), {}
    for port, given in zip(model.graph.input, [*known, *[None] * len(model.graph.input)]):
        tensor = port.type.tensor_type
        made = values([dim.dim_value for dim in tensor.shape.dim], helper.tensor_dtype_to_np_dtype(tensor.elem_type), rng)
        fits = isinstance(given, np.ndarray) and given.shape == made.shape and given.dtype == made.dtype
        fed[port.name] = given if fits else made
    return fed


def open_and_run(model, known):
    """In the child: errors are fine."""
    import resource

    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    session.run(None, feed(model, known))


def signal_of(model, known):
    """The signal that ended a process that runs the model; 0: none."""
    child = os.fork()
    if child == 0:
        try:
            open_and_run(model, known)
        except BaseException:
            os._exit(1)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


def main():
    warnings.simplefilter("ignore")
    score, verdict = Score(), Dump("verdict")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "model.onnx")
        for case in node_cases(STEP):
            if len(case.model.graph.node) != 1 or not case.data_sets:
                continue
            node = case.model.graph.node[0]
            for change in (without_names, with_attributes, with_empty_inputs):
                for what, model in change(case.model, node):
                    path.write_bytes(model.SerializeToString())
                    if not verdict.line(path).endswith("ok") or (node.op_type, what) in ENDLESS:
                        continue
                    number = signal_of(model, case.data_sets[0][0])
                    score.check(not number, f"{case.name}, {what}: {number and signal.Signals(number).name}")
    verdict.close()
    return score.finish()


if __name__ == "__main__":
    sys.exit(main())
