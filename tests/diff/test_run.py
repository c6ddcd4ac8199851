"""Runs beside ONNX Runtime's own Python package, bit for bit.

Every fourth node model of the installed onnx package that has plain tensors, each of them
with LONG=1, runs through the public interface (tests/tools/run_dump) and through Python, with one thread, without
optimizations and with all: types, shapes and bytes of the outputs are the same.
What baryon_model_trace() says of them holds, and holds for another sample as well.
"""

import ctypes
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

from lib.backend import node_cases

from dump import tool

STEP = 1 if os.environ.get("LONG") else 7  # every so many models
ENOUGH = 1000 // STEP  # models; fewer would mean that the test finds nothing any more
LEVELS = {  # as in enum baryon_optimization
    0: ort.GraphOptimizationLevel.ORT_ENABLE_ALL,
    1: ort.GraphOptimizationLevel.ORT_DISABLE_ALL,
}
TRACED = 1
RANDOM = {"RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike",
          "Multinomial", "Bernoulli", "Dropout"}
ort.set_default_logger_severity(4)


# ---- arrays as (type, dims, bytes)

def packed(array):
    """A numpy array; strings are their characters with a NUL behind each."""
    array = np.asarray(array)
    if array.dtype.kind in "OUS":
        texts = [t if isinstance(t, bytes) else str(t).encode() for t in array.reshape(-1)]
        return TensorProto.STRING, array.shape, b"".join(t + b"\0" for t in texts)
    tensor = numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape))
    return tensor.data_type, array.shape, tensor.raw_data


def unpacked(value):
    """An OrtValue, of whatever type."""
    kind, dims = value.element_type(), tuple(value.shape())
    if kind == TensorProto.STRING:
        return packed(value.numpy().astype(object))
    size = value.tensor_size_in_bytes()
    return kind, dims, ctypes.string_at(value.data_ptr(), size) if size else b""


# ---- the two sides

class Ours:
    def __init__(self):
        self.process = subprocess.Popen(
            [tool("run_dump")], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def get(self, form):
        size = struct.calcsize("=" + form)
        return struct.unpack("=" + form, self.process.stdout.read(size))

    def get_text(self):
        return self.process.stdout.read(*self.get("I")).decode()

    def get_output(self):
        name = self.get_text()
        kind, rank = self.get("II")
        dims = self.get(f"{rank}q")
        data = self.process.stdout.read(*self.get("Q"))
        claimed, claimed_rank = self.get("Ii")
        claim = (claimed, self.get(f"{claimed_rank}q") if claimed_rank >= 0 else None)
        return name, (kind, dims, data), claim

    def run(self, path, level, feed):
        """({name: array}, {name: claim}), or a message."""
        job = [struct.pack("=I", len(str(path))), str(path).encode(),
               struct.pack("=III", level, level == TRACED, len(feed))]
        for name, array in feed.items():
            kind, dims, data = packed(array)
            job += [struct.pack("=I", len(name.encode())), name.encode(),
                    struct.pack(f"=II{len(dims)}qQ", kind, len(dims), *dims, len(data)), data]
        self.process.stdin.write(b"".join(job))
        self.process.stdin.flush()
        if self.get("I")[0]:
            return self.get_text()
        outputs = [self.get_output() for _ in range(self.get("I")[0])]
        return {o[0]: o[1] for o in outputs}, {o[0]: o[2] for o in outputs}

    def close(self):
        self.process.stdin.close()
        return self.process.wait()


def theirs(path, level, feed):
    """{name: array}, or an exception."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = LEVELS[level]
    try:
        session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        names = [output.name for output in session.get_outputs()]
        if any(array.dtype.kind in "OUS" for array in feed.values()):
            return dict(zip(names, map(packed, session.run(names, feed))))
        values = {name: ort_value(array) for name, array in feed.items()}
        results = session.run_with_ort_values(names, values)
        return {name: unpacked(value) for name, value in zip(names, results)}
    except Exception as error:  # the package has no narrower class for all of them
        return error


def ort_value(array):
    array = np.asarray(array)
    if array.dtype.kind in "biufOUS" and array.dtype.isbuiltin == 1:
        return ort.OrtValue.ortvalue_from_numpy(array)
    kind = helper.np_dtype_to_tensor_dtype(array.dtype)
    return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(
        array.view(f"u{array.dtype.itemsize}"), kind)


# ---- the cases

def is_plain(info):
    return info.type.HasField("tensor_type")


def cases(folder):
    """(name, path, feed) of the models with plain tensors and no chance in them."""
    for case in node_cases(STEP):
        if not case.data_sets:
            continue
        graph = case.model.graph
        given = case.data_sets[0][0]
        if (any(node.op_type in RANDOM for node in graph.node) or len(graph.input) != len(given)
                or not all(map(is_plain, [*graph.input, *graph.output]))):
            continue
        path = folder / f"{case.name}.onnx"
        for output in graph.output:
            output.ClearField("type")  # so that it has to be found
        path.write_bytes(case.model.SerializeToString())
        yield case.name, path, {info.name: np.asarray(array)
                                for info, array in zip(graph.input, given)}


def other_sample(feed):
    """Other contents in the same shapes: what varies with them, varies. Integers, which
    may be indices or sizes, become 0 or 1."""
    return {name: np.zeros_like(array) if array.dtype.kind in "fb"
            else np.minimum(array, 1) if array.dtype.kind in "iu" else array
            for name, array in feed.items()}


def contradicts(claim, array):
    kind, dims = claim
    if kind and kind != array[0]:
        return True
    return dims is not None and (len(dims) != len(array[1]) or any(
        d >= 0 and d != found for d, found in zip(dims, array[1])))


def differences(name, path, feed, level, ours, counts):
    expected = theirs(str(path), level, feed)
    found = ours.run(path, level, feed)
    if isinstance(expected, Exception) or isinstance(found, str):
        if isinstance(expected, Exception) != isinstance(found, str):
            yield f"only one side runs: {expected!r}"[:300] if isinstance(expected, Exception) else found
        return
    counts["compared"] += 1
    outputs, claims = found
    if outputs != expected:
        wrong = [n for n in expected if outputs.get(n) != expected[n]]
        yield f"other outputs: {wrong}"
    for output, claim in claims.items():
        counts["sizes"] += sum(d >= 0 for d in claim[1] or ())
        if contradicts(claim, expected[output]):
            yield f"traced {output} as {claim}, it is {expected[output][:2]}"
    again = theirs(str(path), level, other_sample(feed)) if level == TRACED else {}
    if isinstance(again, dict):
        for output, array in again.items():
            counts["other samples"] += 1
            if contradicts(claims[output], array):
                yield f"traced {output} as {claims[output]}, of another sample it is {array[:2]}"


def main():
    passed = failed = 0
    counts = {"compared": 0, "sizes": 0, "other samples": 0}
    ours = Ours()
    with tempfile.TemporaryDirectory() as name:
        for case, path, feed in cases(pathlib.Path(name)):
            wrong = [f"level {level}: {text}" for level in LEVELS
                     for text in differences(case, path, feed, level, ours, counts)]
            passed += not wrong
            failed += bool(wrong)
            for text in wrong:
                print(f"{case}: {text}")
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    if ours.close() or counts["compared"] < ENOUGH * len(LEVELS):
        failed += 1
        print("too few models, or the tool failed")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
