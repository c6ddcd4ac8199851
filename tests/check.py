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
from glob import glob
from pathlib import Path

from run_programs import count, own_signals, run

MAKE = ["make", "--no-print-directory", "--silent", f"-j{len(os.sched_getaffinity(0))}"]
PROGRAMS = "tests/run_programs.py"
CASES = "tests/run_cases.py"
NUMBERS = "1-60"  # of the list of bad inputs, in tests/bad/README.md
TORTURED = [f"build/zoo/models/{name}.onnx" for name in ("silero_vad", "magika", "ppocr_cls")]
PROCESS = sorted(glob("tests/process/test_*.py"))
LOG_LINES = 200


def make(*targets):
    return [*MAKE, *targets]


def names(pattern, build="build"):
    """What is built out of the sources that match: tests/unit/test_*.c and so on."""
    return [f"{build}/{Path(source).with_suffix('')}" for source in sorted(glob(pattern))]


def units(build, *flags, pattern="tests/unit/test_*.c"):
    return [PROGRAMS, "--build", build, *flags, *names(pattern, build)]


def cases(build, *flags):
    return [CASES, "--program", f"{build}/baryon", *flags]


def cppcheck():
    return (
        "cppcheck --quiet --error-exitcode=1 --enable=warning,portability --language=c --std=c11 --inline-suppr"
        " --suppressions-list=tests/suppressions/cppcheck.txt -Iinclude -Isrc src cli"
    ).split()


# name | what is done. The first parts build what the others need.
PARTS = {
    "build": [make("all", "units", "tools", "replays", "examples")],
    "zoo": [["tests/zoo/fetch.sh"]],
    "unit": [units("build")],
    "cases": [cases("build", "--need", NUMBERS)],
    "diff": [[PROGRAMS, "--seconds", "300", *sorted(glob("tests/diff/test_*.py"))]],
    "process": [[PROGRAMS, "--seconds", "300", *PROCESS]],
    "corpus": [["tests/run_fuzz.py", "--replay"]],
    "install": [["tests/install.sh"]],
    "docs": [make("docs-check")],
    "lint": [["tests/lint.py"]],
}
MORE_PARTS = {
    "clang": [make("FLAVOUR=clang", "all", "units", "tools", "replays")],
    "aarch64": [make("FLAVOUR=aarch64", "objects")],
    "asan-build": [make("FLAVOUR=asan", "cli", "units", "replays")],
    "asan-unit": [units("build/asan", "--seconds", "600")],
    "asan-cases": [cases("build/asan", "--any-memory", "--seconds", "120")],
    "asan-corpus": [["tests/run_fuzz.py", "--replay", "--build", "build/asan"]],
    "tsan": [
        make("FLAVOUR=tsan", "units"),
        units("build/tsan", "--seconds", "600"),
    ],
    "valgrind-unit": [units("build", "--valgrind", "--seconds", "1200")],
    "valgrind-bad": [cases("build", "--valgrind", "tests/bad")],
    "faults": [
        make("FLAVOUR=faults", "faults", "torture"),
        units("build/faults", "--seconds", "1200", pattern="tests/fault/test_*.c"),
    ],
    "process-long": [["env", "LONG=1", PROGRAMS, "--seconds", "3600", *PROCESS]],
    "diff-long": [["env", "LONG=1", PROGRAMS, "--seconds", "3600", "tests/diff/test_tap.py"]],
    "torture": [["build/faults/tests/torture/torture", *TORTURED]],
    "faults-unit": [
        make("FLAVOUR=faults", "build/faults/tests/unit/test_random_edits"),
        units("build/faults", pattern="tests/unit/test_random_edits.c"),
    ],
    "fuzz": [make("fuzz")],
    "clang-tidy": [["tests/tidy.py"]],
    "cppcheck": [cppcheck()],
}


def run_part(commands, log):
    """Runs the commands until one fails; returns (passed, failed)."""
    status, output = 0, ""
    for command in commands:
        status, text, _ = run(command, 7200, dict(os.environ))
        output = text
        log.write(f"$ {' '.join(command)[:2000]}\n{text}\n")
        if status:
            break
    return count(output, status)


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

    folder = Path("build/check")
    folder.mkdir(parents=True, exist_ok=True)
    total_passed = total_failed = 0
    begin = time.monotonic()
    for name in chosen:
        start = time.monotonic()
        log = folder / f"{name}.log"
        with open(log, "w", encoding="utf-8") as file:
            passed, failed = run_part(known[name], file)
        total_passed += passed
        total_failed += failed
        seconds = time.monotonic() - start
        print(f"{name:14} {passed:5} passed, {failed} failed {seconds:8.1f} s", flush=True)
        if failed:
            lines = log.read_text(encoding="utf-8").splitlines()
            print("\n".join("    " + line for line in lines[-LOG_LINES:]), flush=True)
    print(f"{len(chosen)} parts in {time.monotonic() - begin:.0f} s; details in {folder}/")
    print(f"{total_passed} passed, {total_failed} failed")
    return 1 if total_failed else 0


if __name__ == "__main__":
    sys.exit(main())
