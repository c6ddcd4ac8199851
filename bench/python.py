#!/usr/bin/env python3
"""What a reader in Python costs beside the same samples in files, and what importing takes.

    bench/python.py [--rounds N] [--model NAME]     needs `make` and `make zoo`

Calibrates a model on the same samples, in turn: the program on .npy files; the package on the folder, on
a list of arrays, and on a reader that loads the files with numpy. Writes bench/results/python.md.
"""

import argparse
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
os.environ.setdefault("BARYON_LIBRARY", str(ROOT / "build/libbaryon.so.0"))
sys.path.insert(0, str(ROOT / "python"))

import numpy as np  # noqa: E402

import baryon  # noqa: E402
from measure import machine  # noqa: E402

OUT = ROOT / "bench/results/python.md"


class Reader:
    """As users write it: one file loaded for each sample."""

    def __init__(self, folder, name):
        self.paths, self.name = sorted(folder.glob("*.npy")), name
        self.rewind()

    def __len__(self):
        return len(self.paths)

    def rewind(self):
        self.left = iter(self.paths)

    def get_next(self):
        path = next(self.left, None)
        return None if path is None else {self.name: np.load(path)}


def ways(model, folder, name):
    arrays = [{name: np.load(path)} for path in sorted(folder.glob("*.npy"))]
    program = [str(ROOT / "build/baryon"), "calibrate", str(model), "--data", str(folder), "-q", "--force"]

    def run_program():
        with tempfile.TemporaryDirectory() as out:
            subprocess.run([*program, "-o", f"{out}/a.stats"], check=True, stdout=subprocess.DEVNULL)

    return {
        "the program, files": run_program,
        "Python, the folder": lambda: baryon.calibrate(model, folder, progress=False),
        "Python, a reader that loads the files": lambda: baryon.calibrate(model, Reader(folder, name), progress=False),
        "Python, a list of arrays": lambda: baryon.calibrate(model, arrays, progress=False),
    }


def measure(calls, rounds):
    seconds = {name: [] for name in calls}
    for call in calls.values():
        call()  # libraries, caches
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in seconds.items()}


def import_seconds():
    script = "import time; t = time.perf_counter(); import baryon; print(time.perf_counter() - t)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    return min(float(subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, env=environment,
                                    check=True).stdout) for _ in range(5))  # fmt: skip


def write(samples, model, found):
    base = found["Python, the folder"]
    lines = [
        "# Python: what a reader costs", "",
        f"`bench/python.py` on {machine()}, "
        f"Python {platform.python_version()}: {model} calibrated on {samples} samples, median of the rounds.", "",
        "| samples come from | seconds | compared with the folder |", "|---|---|---|",
    ]  # fmt: skip
    lines += [f"| {name} | {seconds:.2f} | {100 * (seconds / base - 1):+.1f} % |" for name, seconds in found.items()]
    lines += ["", f"`import baryon`: {import_seconds() * 1000:.1f} ms.", ""]
    OUT.write_text("\n".join(lines), "utf-8")
    print("\n".join(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--model", default="ppocr_cls", help="of build/zoo/models, with one input of pictures")
    options = parser.parse_args()
    model = ROOT / f"build/zoo/models/{options.model}.onnx"
    with baryon.Session(model) as session:
        name = session.inputs[0].name
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        for i in range(options.samples):
            np.save(folder / f"{i:04}.npy", rng.normal(size=(1, 3, 48, 192)).astype(np.float32))
        found = measure(ways(model, folder, name), options.rounds)
    write(options.samples, options.model, found)


if __name__ == "__main__":
    main()
