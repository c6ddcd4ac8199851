"""Mutates the structure of models and runs the program on them: check, quantize, convert.

    build/venv/bin/python tests/fuzz_models.py 17                one seed; its files stay in build/fuzz/models/17
    build/venv/bin/python tests/fuzz_models.py --range 0-9999    many; files stay of those that fail

Seed i makes one model: a network of tests/lib/networks.py, a node test of the onnx package,
two of them in one graph, or the result of an earlier quantization, changed in one to four
places by tests/lib/mutations.py; most of the changes that `check` refuses are taken back. Preset number i, modulo their count, quantizes it.

A run fails that a signal ends, that exits with 1 or a status that the manual does not have,
that a sanitizer stops, that takes 120 s or 2 GiB, or that writes a model which ONNX Runtime
does not open although it opens the model before, or in which check finds errors although it
finds none in the model before.
"""

import argparse
import json
import multiprocessing
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import onnx

from lib import networks
from lib.backend import kept
from lib.mutations import graphs, mutate
from turns import Turns

ROOT = Path(__file__).resolve().parent.parent
KEEP = Path("build/fuzz/models")
SECONDS = 120
MEMORY = 8 << 30  # address space
PEAK = 2 << 30
STATUSES = {0, 2, 3, 4, 5, 6}
SANITIZER_STATUS = 99
NODE_BYTES = 20000
LAYER_PRESETS = ("XINT8", "A8W8", "U8S8_AAWS", "S8S8_AAWS", "U8U8_AAWA", "INT8_CNN_DEFAULT", "INT8_TRANSFORMER_DEFAULT")
EARLIER = ("U8S8_AAWS", "XINT8", "UINT8_DYNAMIC_QUANT", "MATMUL_NBITS", "BFP16", "BF16")


# The models.


def node_model(rng):
    names = [case for case in kept() if len(case[1]) < NODE_BYTES]
    name, data, _ = rng.choice(names)
    return name, onnx.load_from_string(data)


def prefixed(model, prefix):
    """All names of the main graph with a prefix; nested graphs have none of their own then."""
    graph = model.graph
    for node in graph.node:
        node.input[:] = [name and prefix + name for name in node.input]
        node.output[:] = [name and prefix + name for name in node.output]
        node.name = prefix + node.name
    for named in (*graph.input, *graph.output, *graph.initializer, *graph.value_info):
        named.name = prefix + named.name
    return model


def joined(rng):
    """Two models in one graph, the first input of the second fed by the first."""
    (first, one), (second, two) = node_model(rng), node_model(rng)
    two = prefixed(two, "second_")
    if one.graph.output and two.graph.input:
        source, fed = one.graph.output[0].name, two.graph.input[0].name
        for node in two.graph.node:
            node.input[:] = [source if name == fed else name for name in node.input]
        del two.graph.input[0]
    for field in ("node", "input", "output", "initializer", "value_info"):
        getattr(one.graph, field).extend(getattr(two.graph, field))
    one.functions.extend(two.functions)
    known = {entry.domain for entry in one.opset_import}
    one.opset_import.extend(entry for entry in two.opset_import if entry.domain not in known)
    return f"{first} and {second}", one


def quantized(rng, fuzz, folder):
    name, preset = rng.choice(networks.names()), rng.choice(EARLIER)
    before, after = folder / "before.onnx", folder / "earlier.onnx"
    before.write_bytes(networks.stored(name))
    fuzz.maker.run("quantize", "--no-judge", before, "-o", after, "-f", "-q", "-p", preset, *sampling(networks.network(name)))
    path = after if after.exists() else before
    return f"{name} after {path.stem} {preset}", onnx.load(path)


def base(rng, fuzz, folder):
    draw = rng.random()
    if draw < 0.6:
        name = rng.choice(networks.names())
        return name, networks.network(name)
    if draw < 0.8:
        return node_model(rng)
    return joined(rng) if draw < 0.92 else quantized(rng, fuzz, folder)


def externalize(rng, model, folder):
    """Moves constants to a data file, and sometimes names a wrong place in it."""
    moved = b""
    for tensor in model.graph.initializer:
        if not tensor.raw_data or rng.random() < 0.2:
            continue
        entries = {"location": "weights.bin", "offset": len(moved), "length": len(tensor.raw_data)}
        moved += tensor.raw_data + bytes(-len(tensor.raw_data) % 64)
        if rng.random() < 0.1:
            entries[rng.choice(list(entries))] = rng.choice(("../weights.bin", 0, -1, 1, 1 << 40, ""))
        tensor.ClearField("raw_data")
        tensor.data_location = onnx.TensorProto.EXTERNAL
        for key, value in entries.items():
            tensor.external_data.add(key=key, value=str(value))
    (folder / "weights.bin").write_bytes(moved)
    return "external data"


def make(seed, fuzz, folder):
    """Writes the model of the seed; returns its path and what it is."""
    rng = random.Random(seed)
    name, model = base(rng, fuzz, folder)
    path = folder / "model.onnx"

    def accepted(changed):
        path.write_bytes(changed.SerializeToString())
        return fuzz.maker.run("check", "-q", path)[0] == 0

    model, done = mutate(rng, model, rng.randrange(1, 5), accepted)
    if rng.random() < 0.05:
        done.append(externalize(rng, model, folder))
    path.write_bytes(model.SerializeToString())
    return path, model, f"{name}: {'; '.join(done)}"


# The runs.


def sampling(model):
    """Options for random samples: sizes for what is open, integers that are good indices."""
    words = ["--random", "2", "--int-range", "0:1"]
    for port in model.graph.input:
        for axis, dim in enumerate(port.type.tensor_type.shape.dim):
            if dim.HasField("dim_value") and dim.dim_value >= 0:
                continue
            plain = re.fullmatch(r"[A-Za-z_]\w*", dim.dim_param)
            name = dim.dim_param if plain else f"{port.name}:{axis}"
            if "=" not in name and "\n" not in name and not any(word.startswith(f"{name}=") for word in words):
                words += ["--shape", f"{name}=2"]
    return words


def plans(seed, model, presets):
    """{name: words} of the runs that write a model."""
    rng = random.Random(f"options {seed}")
    preset = presets[seed % len(presets)]
    quantize = ["quantize", "-q", "-p", preset, *sampling(model)]
    if rng.random() < 0.1:
        quantize += ["--external", "quantized.bin"]
    layers = ["quantize", "--no-judge", "-q", "-p", rng.choice(LAYER_PRESETS), "--format", "qoperator", *sampling(model)]
    convert = ["convert", "-q"]
    kind = rng.randrange(6)
    if kind < 4:
        convert += ["--to", ("fp16", "bf16", "fp32", "fp16")[kind]]
        convert += ["--keep-io"] if rng.random() < 0.3 else []
        convert += ["--clamp"] if kind != 2 and rng.random() < 0.5 else []
    elif kind == 4:
        convert += ["--opset", str(rng.randrange(8, 25))]
    else:
        for name in rng.sample(PASSES, 4):
            convert += ["--pass", name]
    return {"quantized": quantize, "qoperator": layers, "converted": convert}


PASSES = ("lift-constants", "fold-shapes", "fold-reshape", "fold-constants", "remove-noops", "merge-moves", "merge-activations", "remove-dead",
          "fold-scale", "fold-batch-norm", "fold-batch-norm-concat", "matmul-add-to-gemm", "fold-pad", "fold-div-matmul", "split-weight-rows", "copy-shared-init",
          "copy-bias-init", "fuse-instance-norm", "fuse-l2-norm", "fuse-layer-norm", "fuse-gelu", "open-clip-to-relu",
          "reduce-mean-to-global-average-pool", "split-large-pool", "split-to-slice", "batch-norm-to-conv", "clip-to-relu", "leaky-relu-dpu",
          "sigmoid-to-hard-sigmoid", "hard-sigmoid-dpu", "average-pool-dpu", "reduce-mean-dpu", "softmax-dpu", "clip-dpu", "remove-input-init",
          "nchw-to-nhwc", "fp16-to-fp32", "bf16-to-fp32")  # fmt: skip


class Loader:
    """ONNX Runtime in a process of its own, which opens one model after the other."""

    def __init__(self, library):
        self.library, self.process = library, None

    def opens(self, path):
        """Returns "", what ONNX Runtime says against the model, or the signal that ended it."""
        if self.process is None:
            self.process = subprocess.Popen([sys.executable, __file__, "--loader", str(self.library)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.DEVNULL, text=True)  # fmt: skip
        self.process.stdin.write(f"{path}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if answer:
            return answer.strip().removeprefix("ok")
        status = self.process.wait()
        self.process = None
        return f"ONNX Runtime ended by {signal.Signals(-status).name}" if status < 0 else f"ONNX Runtime ended, {status}"


def serve(library):
    """The loader's side: a path a line, an answer a line."""
    import onnxruntime as ort

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    options.register_custom_ops_library(library)
    for line in sys.stdin:
        signal.alarm(SECONDS)
        try:
            ort.InferenceSession(line.rstrip("\n"), options, providers=["CPUExecutionProvider"])
            answer = "ok"
        except Exception as error:  # whatever it is, it is the answer
            answer = " ".join(str(error).split())[:600] or type(error).__name__
        signal.alarm(0)
        answers.write(f"{answer}\n")
        answers.flush()


class Program:
    """The program, run many times by tests/tools/served.c."""

    def __init__(self, build, said, *words):
        self.command, self.said, self.process = [build / "tests/tools/served", *words], said, None
        self.environment = {
            **os.environ, "LC_ALL": "C.UTF-8", "BARYON_OPS": str(build.resolve() / "libbaryon_ops.so"), "UBSAN_OPTIONS": "print_stacktrace=1",
            "ASAN_OPTIONS": f"exitcode={SANITIZER_STATUS}:allocator_may_return_null=1:max_allocation_size_mb=2048:detect_leaks={int('--fork' in words)}",
        }  # fmt: skip

    def run(self, *words):
        """Returns (status, what it said); a signal is a negative status, "memory" too much of it."""
        self.said.write_bytes(b"")
        if self.process is None:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self.environment)
        self.process.stdin.write("\x1f".join(map(str, (self.said, *words))).encode("utf-8", "surrogateescape") + b"\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        if not answer:
            self.process.stdin.close()
            answer = self.process.wait(), 0
            self.process = None
        status, peak = map(int, answer)
        text = self.said.read_bytes()[: 1 << 20].decode(errors="backslashreplace")
        if status in STATUSES and peak > PEAK >> 10:
            self.stop()  # of which it is the peak
            status = "memory"
        return status, text

    def stop(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()
            self.process = None

    def presets(self):
        return [row["name"] for row in json.loads(self.run("presets", "--json")[1])["presets"]]


class Fuzz:
    """What the seeds of one process share."""

    def __init__(self, options):
        self.options, self.turns = options, Turns()
        self.scratch = Path(tempfile.mkdtemp(dir=options.scratch))
        self.maker = Program(ROOT / "build", self.scratch / "said")
        self.tested = Program(options.build, self.scratch / "said", *(["--fork"] if options.fork else []))
        self.loader = Loader(ROOT / "build/libbaryon_ops.so")
        self.presets = self.maker.presets()
        self.statuses = Counter()


def out_of_memory(text):
    """ONNX Runtime's own operator new, which a sanitizer does not let fail."""
    return re.search(r"AddressSanitizer: (requested allocation size|allocation-size-too-big|out-of-memory|failed to allocate|SUMMARY)", text) \
        and "libonnxruntime" in text  # fmt: skip


def complaint(status, text, endless=False):
    """Why a run is a failure, or None."""
    if status in STATUSES:
        return None
    if status == SANITIZER_STATUS and out_of_memory(text):
        return None
    if endless and status in ("memory", -signal.SIGALRM):  # a Loop without an end is what the model says
        return None
    if isinstance(status, int) and status < 0:
        return "takes too long" if status == -signal.SIGALRM else f"ended by {signal.Signals(-status).name}"
    return {"memory": "takes too much memory", SANITIZER_STATUS: "stopped by a sanitizer"}.get(status, f"exit status {status}")


def judge_output(fuzz, path, out, before, words, warned):
    """What is wrong with a written model; before: of the model, [what check exits with, what ONNX Runtime says]."""
    status, text = fuzz.tested.run("check", out)
    if reason := complaint(status, text):
        return f"check of the output: {reason}\n{text}"
    if status and before[0] == 0:
        return f"check refuses the output ({status}):\n{text}"
    said = fuzz.loader.opens(out)
    if not said or (words[0] == "convert" and ("NOT_IMPLEMENTED" in said or "bfloat16" in said)):  # for which it lacks kernels
        return None
    if "only with optimizations disabled" in warned:  # a defect of ONNX Runtime's optimizer
        return None
    if before[1] is None:
        before[1] = fuzz.loader.opens(path)
    return None if before[1] else f"the output does not load: {said}"


def run_seed(fuzz, seed, folder):
    """Returns (what the model is, its failures)."""
    path, model, what = make(seed, fuzz, folder)
    failures = []
    status, text = fuzz.tested.run("check", path)
    if reason := complaint(status, text):
        failures.append(f"check: {reason}\n{text}")
    before = [status, None]
    endless = any(node.op_type == "Loop" for graph in graphs(model.graph) for node in graph.node)
    fuzz.statuses["check", status] += 1
    for name, words in plans(seed, model, fuzz.presets).items():
        out = folder / f"{name}.onnx"
        command = [words[0], path, "-o", out, *words[1:]]
        status, text = fuzz.tested.run(*command)
        fuzz.statuses[name, status] += 1
        if fuzz.options.verbose:
            print(f"{name}: {' '.join(map(str, command))}\n    {status} {text.strip()}")
        if reason := complaint(status, text, endless):
            failures.append(f"{' '.join(map(str, command))}: {reason}\n{text}")
        elif (status == 0 or "--no-verify skips" in text) and (reason := judge_output(fuzz, path, out, before, words, text)):
            failures.append(f"{' '.join(map(str, command))}: {reason}")
    return what, failures


FUZZ = None  # of a worker


def begin(options):
    global FUZZ
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    if not options.sanitized:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    FUZZ = Fuzz(options)


def one(seed):
    """In a worker: runs the seed and keeps its files if it fails."""
    folder = FUZZ.scratch / str(seed)
    folder.mkdir()
    FUZZ.statuses.clear()
    try:
        with FUZZ.turns:
            what, failures = run_seed(FUZZ, seed, folder)
        if failures or FUZZ.options.keep:
            shutil.rmtree(KEEP / str(seed), ignore_errors=True)
            shutil.copytree(folder, KEEP / str(seed))
        return seed, what, failures, dict(FUZZ.statuses)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def span(text):
    first, last = map(int, text.split("-"))
    return range(first, last + 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seeds", nargs="*", type=int, metavar="SEED")
    parser.add_argument("--range", type=span, default=range(0), metavar="A-B")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--build", type=Path, default=Path(os.environ.get("BUILD", "build")))
    parser.add_argument("--fork", action="store_true", help="each run in a process of its own, as seeds that are named are run; looks for leaks, too")
    parser.add_argument("--verbose", action="store_true", help="show every run")
    parser.add_argument("--loader", metavar="LIBRARY", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.loader:
        return serve(options.loader)
    options.keep = bool(options.seeds)
    options.fork |= options.keep
    options.sanitized = "asan" in str(options.build)  # which takes terabytes of address space
    os.chdir(ROOT)
    kept()
    with tempfile.TemporaryDirectory(prefix="fuzz-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as options.scratch:
        return run_all(options, [*options.seeds, *options.range])


def run_all(options, seeds):
    failed, statuses = 0, Counter()
    with multiprocessing.get_context("fork").Pool(max(1, options.jobs), begin, (options,)) as pool:
        for seed, what, failures, ended in pool.imap(one, seeds, chunksize=4):
            statuses.update(ended)
            failed += bool(failures)
            if failures or options.keep:
                print(f"seed {seed}: {what}")
            for failure in failures:
                print(f"FAILED {seed}: {failure[:6000].rstrip()}", flush=True)
    for name in sorted({name for name, _ in statuses}):
        print(f"{name}: " + ", ".join(f"{count} exit {status}" for (run, status), count in sorted(statuses.items(), key=str) if run == name))
    print(f"{len(seeds) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
