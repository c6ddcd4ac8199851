"""What taps see, beside what ONNX Runtime's own Python package gives for the same values.

Every node model of the installed onnx package and the real models: each tensor that a
node of the main graph computes, and each input, has a tap. Without optimizations the bytes
are those of the values as outputs, be it one tap each or one on all, with several threads
as well; with all optimizations they agree within rounding. Each tap looks once a run, and
the model is as it was.
"""

import os
import pathlib
import struct
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper

from diff.test_run import RANDOM, is_plain, ort_value, packed, unpacked
from lib.backend import node_cases
from zoo import samples

from dump import tool

MODELS = pathlib.Path(os.environ.get("MODELS", "build/zoo/models"))
LONG = bool(os.environ.get("LONG"))
STEP = 1 if LONG else 12  # of the node models every so many
SMALL = ("magika", "ppocr_cls", "silero_vad_half")  # models that are looked at in every way, also without LONG=1
LARGE = ("ppocrv4_det", "ppocrv4_rec")  # models that are looked at with LONG=1 only
ENOUGH = 1000 // STEP  # models; fewer would mean that the test finds nothing any more
ENOUGH_VALUES = 20000 // STEP
NONE, ALL = 0, 99
FLOATS = {TensorProto.FLOAT, TensorProto.FLOAT16}
ort.set_default_logger_severity(4)


# ---- the two sides

class Ours:
    def __init__(self):
        self.process = subprocess.Popen(
            [tool("tap_dump")], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def get(self, form):
        size = struct.calcsize("=" + form)
        return struct.unpack("=" + form, self.process.stdout.read(size))

    def get_text(self):
        return self.process.stdout.read(*self.get("I")).decode()

    def get_array(self):
        name = self.get_text()
        kind, rank = self.get("II")
        dims = self.get(f"{rank}q")
        return name, (kind, dims, self.process.stdout.read(*self.get("Q")))

    def run(self, path, level, threads, taps, feeds):
        """[(tap, sample, [(name, array)])], or a message."""
        job = [text(str(path)), struct.pack("=III", level, threads, len(taps))]
        for tap in taps:
            job += [struct.pack("=I", len(tap)), *map(text, tap)]
        job.append(struct.pack("=I", len(feeds)))
        for feed in feeds:
            job.append(struct.pack("=I", len(feed)))
            for name, array in feed.items():
                kind, dims, data = packed(array)
                job += [text(name),
                        struct.pack(f"=II{len(dims)}qQ", kind, len(dims), *dims, len(data)), data]
        self.process.stdin.write(b"".join(job))
        self.process.stdin.flush()
        looks = []
        while self.get("I")[0]:
            tap, sample, count = self.get("IQI")
            looks.append((tap, sample, [self.get_array() for _ in range(count)]))
        return self.get_text() if self.get("I")[0] else looks

    def close(self):
        self.process.stdin.close()
        return self.process.wait()


def text(string):
    return struct.pack("=I", len(string.encode())) + string.encode()


def with_all_outputs(model):
    """The model with an output more for each value that a node makes."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    have = {output.name for output in copy.graph.output}
    for name in computed(model):
        if name not in have:
            copy.graph.output.append(onnx.ValueInfoProto(name=name))
    return copy


def computed(model):
    return [name for node in model.graph.node if node.op_type != "Constant"
            for name in node.output if name]


def theirs(model, feeds, threads):
    """[{name: array}] of all tensors that are no constants, or an exception."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = ort.InferenceSession(with_all_outputs(model).SerializeToString(), options,
                                       providers=["CPUExecutionProvider"])
        can = set(computed(model))
        names = [o.name for o in session.get_outputs()
                 if o.type.startswith("tensor(") and o.name in can]
        if any(np.asarray(array).dtype.kind in "OUS" for array in feeds[0].values()):
            results = [map(packed, session.run(names, feed)) for feed in feeds]
        else:
            results = [map(unpacked, session.run_with_ort_values(
                names, {name: ort_value(array) for name, array in feed.items()}))
                for feed in feeds]
        inputs = [{name: packed(array) for name, array in feed.items()} for feed in feeds]
        return [given | dict(zip(names, result)) for given, result in zip(inputs, results)]
    except Exception as error:  # the package has no narrower class for all of them
        return error


# ---- comparing

def as_floats(array):
    kind, dims, data = array
    dtype = helper.tensor_dtype_to_np_dtype(kind)
    return np.frombuffer(data, dtype).astype(np.float64)


def nearness(near):
    """A comparison of (type, dims, bytes) that lets floats be rounded in another way."""
    def is_near(found, wanted):
        if found == wanted:
            return True
        if found[0] not in FLOATS or wanted[0] not in FLOATS or found[1] != wanted[1]:
            return False
        a, b = as_floats(found), as_floats(wanted)
        scale = max(1e-3, np.nanmax(np.abs(b), initial=0, where=np.isfinite(b)))
        return np.allclose(a, b, rtol=near, atol=near * scale, equal_nan=True)
    return is_near


def sameness(values):
    """ONNX Runtime computes some float16 nodes in float32, and rounds only what it puts out."""
    if any(kind == TensorProto.FLOAT16 for kind, _, _ in values.values()):
        return nearness(1e-2)
    return lambda found, wanted: found == wanted


def differences(looks, taps, expected, same):
    """Every tap looks once a run, at what is expected."""
    if isinstance(looks, str):
        yield looks
        return
    found = sorted((sample, tap) for tap, sample, _ in looks)
    if found != [(1000 + i, tap) for i in range(len(expected)) for tap in range(len(taps))]:
        yield f"{len(looks)} looks of {len(taps)} taps in {len(expected)} runs"
        return
    if [sample for _, sample, _ in looks] != sorted(sample for _, sample, _ in looks):
        yield "runs are mixed"
    for tap, sample, arrays in looks:
        if [name for name, _ in arrays] != taps[tap]:
            yield f"{taps[tap]} as {[name for name, _ in arrays]}"
        for name, array in arrays:
            if not same(array, expected[sample - 1000][name]):
                yield f"run {sample - 1000}: {name} is {array[:2]}, not " \
                      f"{expected[sample - 1000][name][:2]}, or differs inside"


def in_order(model, looks, taps):
    """Taps on the edge look when their value has been made."""
    made = [name for node in model.graph.node for name in node.output]
    inner = [name for name in made if name not in {o.name for o in model.graph.output}]
    place = {name: i for i, name in enumerate(inner)}
    producer = {name: node for node in model.graph.node for name in node.output}
    seen = set()
    for tap, _, _ in looks:
        name = taps[tap][0]
        if name in place:
            reads = producer[name].input
            for read in reads[:1] if producer[name].op_type == "CastLike" else reads:
                if read in place and [read] in taps and read not in seen:
                    yield f"{name} is seen before {read}"
            seen.add(name)


def problems(model, path, feeds, ours, counts, every_way):
    expected = theirs(model, feeds, 1)
    if isinstance(expected, Exception):
        return
    names = list(expected[0])
    is_same = sameness(expected[0])
    each, together = [[name] for name in names], [names]
    counts["models"] += 1
    counts["values"] += len(names) * len(feeds)
    looks = ours.run(path, NONE, 1, each, feeds)
    yield from differences(looks, each, expected, is_same)
    if isinstance(looks, list):
        yield from in_order(model, looks[:len(names)], each)
    if not every_way and len(names) <= len(model.graph.input) + len(model.graph.output):
        return  # nothing inside
    looks = ours.run(path, NONE, 1, together, feeds)
    for wrong in differences(looks, together, expected, is_same):
        yield f"together: {wrong}"
    if not every_way:
        return
    looks = ours.run(path, NONE, 3, each, feeds)
    for wrong in differences(looks, each, theirs(model, feeds, 3), is_same):
        yield f"3 threads: {wrong}"
    looks = ours.run(path, ALL, 2, each, feeds)
    for wrong in differences(looks, each, expected, nearness(2e-4)):
        yield f"optimized: {wrong}"


# ---- the cases

def small_cases(folder):
    for case in node_cases(STEP):
        if not case.data_sets:
            continue
        graph, given = case.model.graph, case.data_sets[0][0]
        if (any(node.op_type in RANDOM for node in graph.node) or len(graph.input) != len(given)
                or not all(map(is_plain, graph.input))):
            continue
        path = folder / f"{case.name}.onnx"
        path.write_bytes(case.model.SerializeToString())
        feed = {info.name: np.asarray(array) for info, array in zip(graph.input, given)}
        yield case.name, case.model, path, [feed, feed], False


def zoo_cases():
    samples.write(MODELS.parent)
    for path in sorted(MODELS.glob("*.onnx")):
        if not LONG and path.stem in LARGE:
            continue
        files = sorted((MODELS.parent / "data" / path.stem).iterdir())[:2]
        feeds = [dict(np.load(file)) for file in files]
        yield path.stem, onnx.load(path), path, feeds, LONG or path.stem in SMALL


def images(random, channels, groups):
    """Convolutions whose channels fill blocks of 8 or 16 or do not, with what the runtime does in blocks between."""
    nodes, weights, values = [], [], "x"
    def add(op, inputs, **attributes):
        nodes.append(helper.make_node(op, inputs, [f"v{len(nodes)}"], **attributes))
        return nodes[-1].output[0]
    def conv(x, before, after, group=1, **attributes):
        shape = (after, before // group, 3, 3)
        weights.append(onnx.numpy_helper.from_array(
            random.standard_normal(shape).astype(np.float32) / 4, f"w{len(weights)}"))
        return add("Conv", [x, weights[-1].name], pads=[1] * 4, group=group, **attributes)
    a = add("Relu", [conv("x", 3, channels)])
    b = add("Sigmoid", [conv(a, channels, channels, groups)])
    c = add("MaxPool", [add("Add", [a, b])], kernel_shape=[2, 2], strides=[2, 2])
    d = add("Concat", [c, add("AveragePool", [b], kernel_shape=[2, 2], strides=[2, 2])], axis=1)
    conv(add("Exp", [conv(d, 2 * channels, channels)]), channels, 5)
    add("GlobalAveragePool", [nodes[-1].output[0]])
    graph = helper.make_graph(
        nodes, "images", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3, "H", "W"])],
        [helper.make_tensor_value_info(nodes[i].output[0], TensorProto.FLOAT, None) for i in (-1, 3)], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def image_cases(folder):
    random = np.random.default_rng(4)
    for channels, groups in (4, 1), (8, 1), (12, 12), (13, 1), (16, 16), (20, 2), (24, 1), (40, 40), (45, 1):
        model = images(random, channels, groups)
        path = folder / f"images_{channels}.onnx"
        path.write_bytes(model.SerializeToString())
        yield path.stem, model, path, [
            {"x": random.standard_normal(shape).astype(np.float32)} for shape in [(2, 3, 14, 10), (1, 3, 8, 16)]], True


def main():
    passed = failed = 0
    counts = {"models": 0, "values": 0}
    ours = Ours()
    with tempfile.TemporaryDirectory() as name:
        for cases in zoo_cases(), image_cases(pathlib.Path(name)), small_cases(pathlib.Path(name)):
            for case, model, path, feeds, every_way in cases:
                wrong = list(problems(model, path, feeds, ours, counts, every_way))
                passed += not wrong
                failed += bool(wrong)
                for what in wrong[:5]:
                    print(f"{case}: {what}")
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    if ours.close() or counts["models"] < ENOUGH or counts["values"] < ENOUGH_VALUES:
        failed += 1
        print("too few models or values, or the tool failed")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
