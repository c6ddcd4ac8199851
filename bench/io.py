"""Load and save a 500 MB model from the page cache: ours beside onnx.load/onnx.save.

Both run in the same minutes, in turns, in a process of their own each. Ours is the
whole program `baryon copy`, process start and fsync included; of the Python side only
the two calls are timed, and its peak memory is counted without the interpreter.
"""

import argparse
import datetime
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
MAKE = """
import sys, numpy, onnx
from onnx import helper, numpy_helper
count, side = 20, 2500
random = numpy.random.default_rng(0)
weights = [numpy_helper.from_array(random.standard_normal((side, side), dtype=numpy.float32),
                                   f"w{i}") for i in range(count)]
nodes = [helper.make_node("MatMul", [f"y{i}", f"w{i}"], [f"y{i + 1}"]) for i in range(count)]
port = lambda name: helper.make_tensor_value_info(name, 1, [1, side])
graph = helper.make_graph(nodes, "bench", [port("y0")], [port(f"y{count}")], weights)
model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
onnx.save(model, sys.argv[1])
"""
PEER = """
import resource, sys, time
import onnx
usage = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before = usage()
start = time.perf_counter()
onnx.save(onnx.load(sys.argv[1]), sys.argv[2])
print(time.perf_counter() - start, usage() - before)
"""


def run_ours(program, model, out):
    start = time.perf_counter()
    child = subprocess.Popen([program, "copy", "--quiet", "--force", model, out])
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - start
    if status:
        sys.exit(f"baryon copy failed with status {status}")
    return seconds, usage.ru_maxrss / 1024


def run_peer(python, model, out):
    text = subprocess.run([python, "-c", PEER, model, out], check=True, capture_output=True,
                          text=True).stdout
    seconds, kib = text.split()
    return float(seconds), float(kib) / 1024


def describe(values):
    return f"{statistics.median(values):.3f} ({min(values):.3f} to {max(values):.3f})"


def machine():
    names = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if "model name" in line]
    return f"{names[0] if names else platform.machine()}, {os.cpu_count()} cores"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--program", default=os.environ.get("BARYON", "build/baryon"))
    parser.add_argument("--python", default="build/venv/bin/python", help="has the onnx package")
    parser.add_argument("--write", action="store_true", help="write bench/results/io.md")
    args = parser.parse_args()
    peer = subprocess.run([args.python, "-c", "import onnx; print(onnx.__version__)"],
                          capture_output=True, text=True)
    if peer.returncode:
        print("the onnx package is not installed: no model to make and no peer to compare with "
              "(`make check` installs it)")
        return 0
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as folder:
        model, out = f"{folder}/model.onnx", f"{folder}/out.onnx"
        subprocess.run([args.python, "-c", MAKE, model], check=True)
        for round_ in range(args.rounds + 1):
            pair = run_ours(args.program, model, out), run_peer(args.python, model, out)
            if round_:  # the first warms the page cache
                ours.append(pair[0])
                theirs.append(pair[1])
        size = os.path.getsize(model)
    speed = [t[0] / o[0] for o, t in zip(ours, theirs)]
    memory = [o[1] / t[1] for o, t in zip(ours, theirs)]
    lines = [
        "# Load and save of a 500 MB model", "",
        f"{datetime.date.today()}, {machine()}; {size} bytes, {args.rounds} rounds in turns; "
        f"median (least to most). Peer: onnx {peer.stdout.strip()}.", "",
        "| | baryon copy | onnx.load + onnx.save | ratio |", "|---|---|---|---|",
        f"| seconds | {describe([o[0] for o in ours])} | {describe([t[0] for t in theirs])} | "
        f"{describe(speed)} times faster |",
        f"| peak MiB | {describe([o[1] for o in ours])} | {describe([t[1] for t in theirs])} | "
        f"{describe(memory)} of the memory |", "",
        "Ours: the whole process, with the result synced to the disk. Peer: the two calls alone, not "
        "synced, memory without the interpreter.", ""]
    print("\n".join(lines))
    if args.write:
        (HERE / "results" / "io.md").write_text("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
