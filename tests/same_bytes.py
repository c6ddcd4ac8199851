#!/usr/bin/env python3
"""Quantizes the models of tests/zoo with every preset by the program of another commit and by this one, and compares bytes.

    same_bytes.py COMMIT [--model NAME]... [--preset NAME]... [--limit SAMPLES] [--jobs COUNT]

The other commit is built below build/same/COMMIT, where hashes of its outputs are kept for the next
comparison. Statistics and plans are compared as well. A quantization that fails must fail in both.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ZOO = ROOT / "build/zoo"
CORES = len(os.sched_getaffinity(0))
SHARED = ("deps", "venv", "zoo")  # what a build needs and no commit changes


def git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, check=True, text=True, stdout=subprocess.PIPE).stdout.strip()


def build_of(commit):
    """The program of the commit, in a work tree of its own."""
    folder = ROOT / "build/same" / commit
    program = folder / "build/baryon"
    if not program.exists():
        if not (folder / "Makefile").exists():
            git("worktree", "prune")
            git("worktree", "add", "--force", "--detach", str(folder), commit)
        (folder / "build").mkdir(exist_ok=True)
        for name in SHARED:
            link = folder / "build" / name
            if not link.exists():
                link.symlink_to(ROOT / "build" / name)
        subprocess.run(["make", "--silent", f"-j{CORES}", "all"], cwd=folder, check=True)
    return program


def presets_of(program):
    """Names of presets, in the order of the list."""
    text = subprocess.run([program, "presets"], check=True, text=True, stdout=subprocess.PIPE).stdout
    return [line.split()[0] for line in text.splitlines()[1:] if line.strip()]


def hash_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()[:32]


def run_case(program, model, preset, limit):
    """Hashes of what the program writes; the exit status where it writes nothing."""
    data = ["--data", str(ZOO / "data" / model), "--limit", str(limit)]
    source = str(ZOO / "models" / f"{model}.onnx")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / ("out.stats" if preset == "statistics" else "out.onnx")
        if preset == "statistics":
            command = ["calibrate", source, "--moments", *data, "-o", str(out)]
        else:
            command = ["quantize", source, "--preset", preset, *data, "-o", str(out)]
        status = subprocess.run([program, *command], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if status.returncode == 2 and b"samples" in status.stderr and preset != "statistics":
            command = ["quantize", source, "--preset", preset, "-o", str(out)]
            status = subprocess.run([program, *command], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        files = sorted(Path(folder).iterdir())
        return {path.name: hash_of(path) for path in files} or f"exit status {status.returncode}"


class Results:
    """Hashes of one program's outputs, kept in a file where the program does not change."""

    def __init__(self, program, limit, kept):
        self.program, self.limit, self.kept = program, limit, kept
        self.known = json.loads(kept.read_text()) if kept and kept.exists() else {}

    def get(self, model, preset):
        key = f"{model} {preset} {self.limit}"
        if key not in self.known:
            self.known[key] = run_case(self.program, model, preset, self.limit)
            if self.kept:
                self.kept.write_text(json.dumps(dict(self.known), indent=1))
        return self.known[key]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("commit")
    parser.add_argument("--model", action="append")
    parser.add_argument("--preset", action="append")
    parser.add_argument("--limit", type=int, default=6)
    parser.add_argument("--jobs", type=int, default=CORES)
    options = parser.parse_args()
    commit = git("rev-parse", "--short=12", options.commit)
    before = Results(build_of(commit), options.limit, ROOT / "build/same" / f"{commit}.json")
    after = Results(ROOT / "build/baryon", options.limit, None)
    models = options.model or sorted(path.stem for path in (ZOO / "models").glob("*.onnx"))
    presets = options.preset or ["statistics", *presets_of(before.program)]
    cases = [(model, preset) for model in models for preset in presets]

    def compare(case):
        old, new = before.get(*case), after.get(*case)
        if old != new:
            print(f"DIFFERS {case[0]} {case[1]}: {old} {new}", flush=True)
        return old == new

    with ThreadPoolExecutor(options.jobs) as pool:
        same = list(pool.map(compare, cases))
    print(f"{sum(same)} passed, {len(same) - sum(same)} failed")
    return 0 if all(same) else 1


if __name__ == "__main__":
    sys.exit(main())
