"""'baryon calibrate' on real models, beside numpy on ONNX Runtime's own values.

Each float tensor of four models is made an output: counts, zeros, least and greatest value,
those of channels, mean and root mean square agree with what 'baryon stats' says; exactly as
long as nothing is optimized, within rounding with all optimizations.

Tensors that are left out by default are those that the runtime's fusions swallow.

The file has the same bytes for any number of threads, any memory, and any number of shards
merged in any order.
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort

import zoo.samples
from calib_oracle import S8_POW2, U8_POW2, pow2_by_most

BUILD = pathlib.Path(os.environ.get("BUILD", "build"))
ZOO = pathlib.Path(os.environ.get("ZOO", "build/zoo"))
MODELS = ("centerface", "ppocr_cls", "magika", "silero_vad")
LONG = bool(os.environ.get("LONG"))
SAMPLES = 3 if LONG else 2
FLOATS = {onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16, onnx.TensorProto.DOUBLE}
THREADS = 1  # threads that a session of these models has: each does a sample of its own
ort.set_default_logger_severity(4)

passed, failures = 0, []


def check(condition, *words):
    global passed
    if condition:
        passed += 1
    else:
        failures.append(" ".join(map(str, words)))
        print("FAILED", *words, flush=True)


def baryon(*words):
    done = subprocess.run([BUILD / "baryon", *map(str, words)], capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{words}: {done.stderr.decode()}")
    return done.stdout


def calibrate(name, out, *words, data=True):
    samples = ["--data", ZOO / "data" / name, "--limit", SAMPLES] if data else []
    baryon("calibrate", ZOO / "models" / f"{name}.onnx", "-o", out, "-q", "-f", *samples, *words)
    return out


# ---- values

def open_all(name, level):
    """A session that gives every tensor of the main graph."""
    model = onnx.load(ZOO / "models" / f"{name}.onnx")
    known = {output.name for output in model.graph.output}
    for node in model.graph.node:
        for output in node.output:
            if output and output not in known:
                model.graph.output.append(onnx.ValueInfoProto(name=output))
    options = ort.SessionOptions()
    options.graph_optimization_level = level
    options.intra_op_num_threads = THREADS
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return ort.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])


def values_of(session, name):
    """{tensor: [array a sample]}, inputs too."""
    found = {}
    outputs = [output.name for output in session.get_outputs()]
    for path in sorted((ZOO / "data" / name).iterdir())[:SAMPLES]:
        feed = dict(np.load(path))
        for key, array in [*feed.items(), *zip(outputs, session.run(outputs, feed))]:
            found.setdefault(key, []).append(np.asarray(array))
    return found


def near(a, b, scale, exact):
    return a == b if exact else abs(a - b) <= 2e-4 * scale + 1e-6


def check_tensor(name, tensor, arrays, exact):
    where = (name, "exact" if exact else "all", tensor["name"])
    values = np.concatenate([array.reshape(-1).astype(np.float64) for array in arrays])
    finite = values[np.isfinite(values)]
    check(tensor["values"] == values.size, *where, "values")
    check(tensor["nan"] == np.isnan(values).sum(), *where, "nan")
    check(tensor["infinite"] == np.isinf(values).sum(), *where, "infinite")
    check(tensor["samples"] == len(arrays), *where, "samples")
    if exact:
        check(tensor["zeros"] == (values == 0).sum(), *where, "zeros")
    if not finite.size:
        return
    scale = np.abs(finite).max()
    check(near(tensor["min"], finite.min(), scale, exact), *where, "min", tensor["min"], finite.min())
    check(near(tensor["max"], finite.max(), scale, exact), *where, "max", tensor["max"], finite.max())
    check(near(tensor["mean"], finite.mean(), scale, False), *where, "mean")
    check(near(tensor["rms"], np.sqrt((finite**2).mean()), scale, False), *where, "rms")
    lows = np.mean([array.min() for array in arrays], dtype=np.float64)
    check(near(tensor["mean_of_sample_min"], lows, scale, False), *where, "mean of min")
    shapes = {array.shape for array in arrays}
    if len(shapes) == 1:
        check(tuple(tensor["shape"]) == shapes.pop(), *where, "shape")
    if exact and "channel_min" in tensor:
        axis = tensor["channel_axis"]
        rows = [np.moveaxis(array, axis, 0).reshape(array.shape[axis], -1) for array in arrays]
        rows = np.concatenate(rows, axis=1)
        check(np.array_equal(tensor["channel_min"], rows.min(axis=1)), *where, "channel_min")
        check(np.array_equal(tensor["channel_max"], rows.max(axis=1)), *where, "channel_max")


def check_votes(name, file, tensors, truth):
    """Of a few tensors: as many samples for each position as find it best, but for those that find two nearly as good."""
    chosen = tensors[:: max(len(tensors) // 12, 1)]
    words = [word for tensor in chosen for word in ("--tensor", tensor["name"])]
    for tensor in json.loads(baryon("stats", file, "--json", *words))["tensors"]:
        for target in (S8_POW2, U8_POW2):
            levels = (-127, 127) if target is S8_POW2 else (-128, 127)
            votes = {vote["position"]: vote["samples"] for vote in tensor["votes"]
                     if (vote["qmin"], vote["qmax"]) == levels}  # fmt: skip
            arrays = [array for array in truth[tensor["name"]] if array.any()]
            check(sum(votes.values()) == len(arrays), name, tensor["name"], "who votes", votes)
            for position, samples in votes.items():
                nearly = pow2_by_most(arrays, target)[2]
                check(nearly[position] >= samples, name, tensor["name"], "votes", votes, nearly)


def is_float(array):
    return array.dtype in (np.float32, np.float16, np.float64)


def test_values(name, folder):
    for exact in (True, False):
        level = ort.GraphOptimizationLevel
        session = open_all(name, level.ORT_DISABLE_ALL if exact else level.ORT_ENABLE_ALL)
        truth = values_of(session, name)
        words = ["--opt-level", "none", "--tensors", "all", "--votes"] if exact else []
        file = calibrate(name, folder / "values.stats", "--per-channel", *words)
        tensors = json.loads(baryon("stats", file, "--json"))["tensors"]
        for tensor in tensors:
            check_tensor(name, tensor, truth[tensor["name"]], exact)
        if exact:
            check_votes(name, file, tensors, truth)
        names = {tensor["name"] for tensor in tensors}
        check(len(names) == len(tensors), name, "a tensor stands twice")
        if exact:
            lacking = {key for key, arrays in truth.items() if is_float(arrays[0])} - names
            constant = {key for key in lacking if is_constant(name, key)}
            check(lacking == constant, name, "lacks", sorted(lacking - constant)[:5])
        print(f"{name}: {len(tensors)} tensors", flush=True)


def test_swallowed(name, folder):
    """What is not looked at is gone in the optimized model, or read by what only bends or cuts."""
    path = ZOO / "models" / f"{name}.onnx"
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(folder / "optimized.onnx")
    ort.InferenceSession(path, options, ["CPUExecutionProvider"])
    kept = {out for node in onnx.load(folder / "optimized.onnx").graph.node for out in node.output}
    readers = {}
    for node in onnx.load(path).graph.node:
        for value in node.input:
            readers.setdefault(value, set()).add(node.op_type)
    looked = []
    for which in ("all", "seen"):
        file = calibrate(name, folder / "which.stats", "--tensors", which)
        looked.append({row["name"] for row in json.loads(baryon("stats", file, "--json"))["tensors"]})
    for value in looked[0] - looked[1]:
        bent = readers.get(value, set()) <= {"Relu", "LeakyRelu", "Clip"}
        check(value not in kept or bent, name, "is not looked at:", value)
    print(f"{name}: {len(looked[0] - looked[1])} values swallowed", flush=True)


def is_constant(name, value, cache={}):
    """Computed from initializers alone."""
    if name not in cache:
        model = onnx.load(ZOO / "models" / f"{name}.onnx")
        constants = {tensor.name for tensor in model.graph.initializer}
        for node in model.graph.node:
            has_graph = any(a.type in (a.GRAPH, a.GRAPHS) for a in node.attribute)
            if not has_graph and all(not i or i in constants for i in node.input):
                constants.update(node.output)
        cache[name] = constants
    return value in cache[name]


# ---- bytes

def test_bytes(name, folder, words, shard_counts):
    """words: what all of them have."""
    def make(out, *more):
        return calibrate(name, folder / out, *words, *more, data=False)

    whole = make("whole.stats").read_bytes()
    for threads in (1, 2, 3, 8) if LONG else (1, 3):
        check(make("other.stats", "-j", threads).read_bytes() == whole, name, threads, "threads")
    for memory in ("500KB", "5MB") if LONG else ("500KB",):
        file = make("other.stats", "--max-memory", memory)
        check(file.read_bytes() == whole, name, "memory", memory)
    for shards in shard_counts:
        order = [make(f"{i}.stats", "--shard", f"{i}/{shards}", "-j", random.randrange(1, 5),
                      "--max-memory", random.choice(["1GiB", "5MB"]))
                 for i in range(1, shards + 1)]  # fmt: skip
        random.shuffle(order)
        middle = random.randrange(shards)
        if middle:
            baryon("merge", *order[:middle], "-o", folder / "some.stats", "-q", "-f")
            order = [*order[middle:], folder / "some.stats"]
            random.shuffle(order)
        baryon("merge", *order, "-o", folder / "all.stats", "-q", "-f")
        check((folder / "all.stats").read_bytes() == whole, name, shards, "shards", order)
    print(f"{name}: {len(whole)} bytes", flush=True)


def test_all_bytes(folder):
    def data(name):
        return ["--data", ZOO / "data" / name, "--per-channel", "--moments", "--votes", *([] if LONG else ["--limit", "3"])]

    test_bytes("ppocr_cls", folder, data("ppocr_cls"), [1, 4] if LONG else [3])
    if LONG:
        test_bytes("silero_vad", folder, data("silero_vad"), [2])
    test_bytes("magika", folder, ["--votes", "--random", 7, "--int-range", "0:256", "--shape", "unk__214=1"], range(1, 8) if LONG else [3])


def main():
    seed = int(os.environ.get("SEED", "0")) or (random.SystemRandom().randrange(1, 1 << 30) if LONG else 1)
    random.seed(seed)
    print(f"SEED={seed}")
    zoo.samples.write(ZOO)
    with tempfile.TemporaryDirectory(prefix="calibrate-") as folder:
        for name in MODELS if LONG else MODELS[1:]:
            test_values(name, pathlib.Path(folder))
            test_swallowed(name, pathlib.Path(folder))
        test_all_bytes(pathlib.Path(folder))
    print(f"{passed} passed, {len(failures)} failed")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
