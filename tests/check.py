#!/usr/bin/env python3
"""What `make check` and `make check-all` run: parts, one row each.

A part is a list of commands that run in turn. Its last line "N passed, N failed"
counts; parts without one count as one test. Output goes to build/check/PART.log and
is shown when the part fails.

    check.py            the parts that every change has to pass
    check.py --all      all parts
    check.py NAME...    those parts
"""

import argparse
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from glob import glob
from itertools import groupby
from pathlib import Path

from run_programs import count, own_signals, run
from turns import Turns, lay_out

CORES = len(os.sched_getaffinity(0))
MAKE = ["make", "--no-print-directory", "--silent", f"-j{CORES}"]
PROGRAMS = "tests/run_programs.py"
PYTHON = os.environ.get("PYTHON", "build/venv/bin/python")
CASES = "tests/run_cases.py"
NUMBERS = "1-60,90-104"  # of the list of bad inputs, in tests/bad/README.md
TORTURED = [f"build/zoo/models/{name}.onnx" for name in ("silero_vad", "magika", "ppocr_cls")]
TURNS = CORES + 1  # programs at once; many wait a lot
DIFF = ["--jobs", str(TURNS), "--memory", *sorted(glob("tests/diff/test_*.py"))]
# What takes longest and rarely breaks by itself comes with check-all alone.
LATER = {f"tests/python/test_{name}.py" for name in ("targets", "wheel")}
ALL_PYTHONS = ["--jobs", "2", *sorted(set(glob("tests/python/test_*.py")) - {"tests/python/test_sanitized.py"})]
PYTHONS = [word for word in ALL_PYTHONS if word not in LATER]
PROCESS = ["--jobs", str(TURNS), *sorted(glob("tests/process/test_*.py"), key=lambda path: "mpi" not in path)]
VALGRIND = [PROGRAMS, "--build", "build", "--valgrind", "--seconds", "1200"]
VECTORS = [f"tests/unit/test_{name}" for name in "bins_squares descent_paths dtype_paths fold ggml_blocks half ops_tanh paths sketch sketch_property weights".split()]
SLICES = 4
LOG_LINES = 200
FOLDER = Path("build/check")


def make(*targets):
    return [*MAKE, *targets]


def names(pattern, build="build"):
    """What is built out of the sources that match: tests/unit/test_*.c and so on."""
    return [f"{build}/{Path(source).with_suffix('')}" for source in sorted(glob(pattern))]


def units(build, *flags, pattern="tests/unit/test_*.c"):
    return [PROGRAMS, "--build", build, *flags, *names(pattern, build)]


def vectors(build, *flags):
    """The tests of vector paths, built for another processor."""
    return [PROGRAMS, "--build", build, "--seconds", "600", *flags, *(f"{build}/{name}" for name in VECTORS)]


def cases(build, *flags):
    return [CASES, "--program", f"{build}/baryon", *flags]


def sliced(name, command, words):
    """NAME-1 and so on, for what takes half an hour: each does the command with every fourth word."""
    return {f"{name}-{i + 1}": [[*command, *words[i::SLICES]]] for i in range(SLICES)}


def cppcheck():
    return (
        "cppcheck --quiet --error-exitcode=1 --enable=warning,portability --language=c --std=c11 --inline-suppr"
        " --suppressions-list=tests/suppressions/cppcheck.txt -Iinclude -Isrc src cli"
    ).split()


# name | what is done. The first parts build what the others need.
PARTS = {
    "build": [make("all", "units", "tools", "replays", "examples")],
    "zoo": [["tests/zoo/fetch.sh"], [PYTHON, "tests/lib/backend.py"]],
    "unit": [units("build")],
    "cases": [cases("build", "--need", NUMBERS)],
    "diff": [[PROGRAMS, "--seconds", "1800", *DIFF]],
    "process": [[PROGRAMS, "--seconds", "1800", *PROCESS]],
    "python": [[PROGRAMS, "--seconds", "1800", *PYTHONS]],
    "corpus": [["tests/run_fuzz.py", "--replay"]],
    "mutated": [[PYTHON, "tests/fuzz_models.py", "--range", "0-199"]],
    "install": [["tests/install.sh"]],
    "docs": [make("docs-check")],
    "lint": [["tests/lint.py"]],
}
WHOLE = {"corpus", "install", "docs", "lint"}  # short ones; they take a turn as a whole
AT_ONCE = {"unit", "cases", "diff", "process", "python", "mutated", *WHOLE}  # each program of the others takes one
MORE_PARTS = {
    "clang": [make("FLAVOUR=clang", "all", "units", "tools", "replays")],
    "aarch64": [
        make("FLAVOUR=aarch64", "objects", "vectors"),
        vectors("build/aarch64", "--under", "qemu-aarch64 -L /usr/aarch64-linux-gnu"),
    ],
    "avx512": [make("avx512"), ["env", "PATHS=" + " ".join(["avx512"] * 7), *vectors("build/avx512")]],
    "asan-build": [make("FLAVOUR=asan", "cli", "ops", "units", "replays", "build/asan/tests/tools/served")],
    "unit-long": [["env", "LONG=1", PROGRAMS, "--build", "build", "--seconds", "1200", *names("tests/unit/test_s[kt]*.c"), "build/tests/unit/test_ops_tanh"]],
    "asan-unit": [units("build/asan", "--seconds", "600")],
    "asan-cases": [cases("build/asan", "--any-memory", "--seconds", "120")],
    "asan-python": [
        make("FLAVOUR=asan", "lib", "ops"),
        [PROGRAMS, "--seconds", "1200", "tests/python/test_sanitized.py"],
    ],
    "asan-corpus": [["tests/run_fuzz.py", "--replay", "--build", "build/asan"]],
    "mutated-long": [[PYTHON, "tests/fuzz_models.py", "--range", "200-3199"]],
    "asan-mutated": [
        [PYTHON, "tests/fuzz_models.py", "--range", "4000-4999", "--build", "build/asan"],
        [PYTHON, "tests/fuzz_models.py", "--range", "5000-5099", "--build", "build/asan", "--fork"],
    ],
    "tsan": [
        make("FLAVOUR=tsan", "units"),
        units("build/tsan", "--seconds", "600"),
    ],
    **sliced("valgrind-unit", VALGRIND, names("tests/unit/test_*.c")),
    # What is left out runs in asan-cases; the code that reads their files, in valgrind-unit.
    "valgrind-bad": [cases("build", "--valgrind", "--sample", "4", "tests/bad")],
    "packages": [["tests/packages.sh"]],
    "windows": [["tests/windows.py", "--fast"]],
    "wheels": [["tests/wheels.py", "--fast"]],
    "faults": [
        make("FLAVOUR=faults", "faults", "torture"),
        units("build/faults", "--seconds", "1200", pattern="tests/fault/test_*.c"),
    ],
    "process-long": [["env", "LONG=1", PROGRAMS, "--seconds", "3600", *PROCESS]],
    "python-long": [["env", "LONG=1", PROGRAMS, "--seconds", "3600", *ALL_PYTHONS]],
    "diff-long": [["env", "LONG=1", PROGRAMS, "--seconds", "3600", *DIFF]],
    "torture": [["build/faults/tests/torture/torture", *TORTURED]],
    "faults-unit": [
        make("FLAVOUR=faults", "build/faults/tests/unit/test_random_edits"),
        units("build/faults", pattern="tests/unit/test_random_edits.c"),
    ],
    "fuzz": [make("fuzz")],
    **{f"mutants-{i}": [["tests/mutants.py", "--part", f"{i}/{SLICES}"]] for i in range(1, SLICES + 1)},
    **sliced("clang-tidy", ["tests/tidy.py"], sorted(glob("src/**/*.c", recursive=True) + glob("cli/*.c"))),
    "cppcheck": [cppcheck()],
}


def run_part(commands, log):
    """Runs the commands until one fails; returns (passed, failed) and seconds of processors."""
    status, output, busy = 0, "", 0.0
    for command in commands:
        status, text, _, spent = run(command, 7200, dict(os.environ))
        output = text
        busy += spent
        log.write(f"$ {' '.join(command)[:2000]}\n{text}\n")
        if status:
            break
    return count(output, status), busy


def do_part(name, commands):
    """Runs it and says how that went; returns (passed, failed)."""
    start = time.monotonic()
    path = FOLDER / f"{name}.log"
    with open(path, "w", encoding="utf-8") as log, Turns() if name in WHOLE else nullcontext():
        (passed, failed), busy = run_part(commands, log)
    seconds = time.monotonic() - start
    lines = [f"{name:15} {passed:5} passed, {failed} failed {seconds:8.1f} s, {busy:7.1f} s of CPU"]
    if failed:
        lines += ["    " + line for line in path.read_text("utf-8").splitlines()[-LOG_LINES:]]
    print("\n".join(lines), flush=True)
    return passed, failed


def rounds(names):
    """The parts in their order; what may run at once, together."""
    for at_once, group in groupby(names, lambda name: name in AT_ONCE):
        group = list(group)
        yield from [group] if at_once else ([name] for name in group)


def main():
    own_signals()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PARTS | MORE_PARTS))
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    known = PARTS | MORE_PARTS
    if unknown := set(options.names) - set(known):
        parser.error(f"no part {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    chosen = options.names or list(known if options.all else PARTS)

    FOLDER.mkdir(parents=True, exist_ok=True)
    total_passed = total_failed = 0
    begin = time.monotonic()
    lay_out(TURNS)
    for names in rounds(chosen):
        with ThreadPoolExecutor(len(names)) as pool:
            for passed, failed in pool.map(lambda name: do_part(name, known[name]), names):
                total_passed += passed
                total_failed += failed
    print(f"{len(chosen)} parts in {time.monotonic() - begin:.0f} s; details in {FOLDER}/")
    print(f"{total_passed} passed, {total_failed} failed")
    return 1 if total_failed else 0


if __name__ == "__main__":
    sys.exit(main())
