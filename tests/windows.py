#!/usr/bin/env python3
"""Runs the build for Windows under Wine: unit tests, cases, and a quantization beside Linux's.

    tests/windows.py [--fast] [PART...]      parts: units cases process bytes long paths python again

Builds first. Without the packages of `scripts/deps.sh windows` it fails; with --fast it says so and ends.
What is left out, and why, is in tests/windows_left_out.txt. Ends with "N passed, N failed".
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import windows_paths
import windows_python

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
FAST_UNITS = "str mem map json team err place save".split()
FAST_CASES = ["tests/cli/list", "tests/cli/inspect*", "tests/bad/1*"]
RUNTIME = ROOT / "build/deps/windows/onnxruntime/onnxruntime.dll"
SECONDS = 120  # for a program; it is ended then
JOBS = str(len(os.sched_getaffinity(0)) + 1)  # they wait for Wine's server now and then
# Statistics and quantized models of these are the same bytes on both systems: name, model, size, preset.
SAME = [
    ("ppocr_cls", "192x48", "XINT8"),
    ("centerface", "96x96", "XINT8"),
    ("centerface", "96x96", "A8W8"),
    ("ppocrv4_det", "96x96", "A16W8"),
    ("ppocrv4_rec", "96x48", "U8S8_AAWS"),
]


WRAPPER = """#!/bin/sh
LD_PRELOAD='{preload}' exec wine {program} "$@"
"""


def missing(runtime):
    """What is not there, in words."""
    programs = [name for name in ("wine", "wineserver", "x86_64-w64-mingw32-gcc") if not shutil.which(name)]
    return programs + ([] if runtime.exists() else [str(runtime)])


def left_out(kind):
    """Names and reasons of one kind: lines "KIND NAME reason"."""
    rows = (TESTS / "windows_left_out.txt").read_text(encoding="utf-8").splitlines()
    return {name: why for what, name, why in (row.split(None, 2) for row in rows if row and row[0] != "#") if what == kind}


def prepare(build, runtime):
    """A prefix of Wine of its own, and programs that stand for Wine and for ours in it."""
    environment = {**os.environ, "WINEPREFIX": str((build / "wine").resolve()), "WINEDEBUG": "-all",
                   "WINEDLLOVERRIDES": "mscoree,mshtml=", "BARYON_CBLAS": "own"}  # fmt: skip
    environment["BARYON_ONNXRUNTIME"] = str(runtime.resolve())
    environment["BARYON_LEFT_OUT"] = f" {' '.join(left_out('test'))} "
    preload = (build / "wine_preload.so").resolve()
    flags = "-std=c17 -D_GNU_SOURCE -Wall -Wextra -Werror -O1 -shared -fPIC".split()
    subprocess.run(["gcc", *flags, "-o", str(preload), str(TESTS / "lib/wine_preload.c")], check=True)
    for name, program in (("under", ""), ("baryon", f"'{(build / 'baryon.exe').resolve()}'")):
        wrapper = build / name
        wrapper.write_text(WRAPPER.format(preload=preload, program=program), encoding="utf-8")
        wrapper.chmod(0o755)
    # Wine's server stays for all programs, with services that would keep a pipe of ours open.
    quiet = {"env": environment, "stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run(["wineserver", "-p"], **quiet, check=False)
    subprocess.run(["wine", "wineboot", "-i"], **quiet, check=True)
    return environment


def units(build, environment, fast):
    skipped = left_out("unit")
    names = sorted(path.stem[5:] for path in (build / "tests/unit").glob("test_*.exe"))
    chosen = [name for name in names if name not in skipped and (not fast or name in FAST_UNITS)]
    programs = [str(build / f"tests/unit/test_{name}.exe") for name in chosen]
    print(f"units: {len(chosen)} programs, {len(skipped)} left out")
    command = ["tests/run_programs.py", "--build", str(build), "--jobs", JOBS, "--seconds", str(SECONDS), "--under", str(build / "under"), *programs]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False, capture_output=True, text=True).stdout


def cases(build, environment, fast):
    skipped = left_out("case")
    found = sorted(path.parent for kind in ("cli", "bad") for path in (TESTS / kind).glob("*/cmd"))
    if fast:
        found = sorted(path for pattern in FAST_CASES for path in ROOT.glob(pattern))
    chosen = [str(path.relative_to(ROOT)) for path in found if path.name not in skipped]
    print(f"cases: {len(chosen)} folders, {len(found) - len(chosen)} left out")
    command = ["tests/run_cases.py", "--system", "windows", "--any-memory", "--jobs", JOBS, "--program", str(build / "baryon"), "--scratch", str(build), *chosen]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False, capture_output=True, text=True).stdout


def processes(build, environment):
    """Tests of several processes, and of such as are killed."""
    skipped, passed, failed, text = left_out("process"), 0, 0, ""
    names = sorted(path.stem[5:] for path in (TESTS / "process").glob("test_*.py"))
    for name in [name for name in names if name not in skipped]:
        source = (TESTS / f"process/test_{name}.py").read_text(encoding="utf-8")
        known = [f"{one}.{test}" for one, body in re.findall(r"^class (\w+)(.*?)(?=^class |\Z)", source, re.M | re.S)
                 for test in re.findall(r"    def (test_\w+)", body)]  # fmt: skip
        chosen = [test for test in known if f"{name}/{test.split('.')[1]}" not in skipped]
        command = [str(ROOT / "build/venv/bin/python"), f"tests/process/test_{name}.py", *chosen]
        done = subprocess.run(command, cwd=ROOT, env={**environment, "BARYON": str((build / "baryon").resolve())},
                              check=False, capture_output=True, text=True)  # fmt: skip
        bad = [line for line in done.stderr.splitlines() if re.match(r"(FAIL|ERROR): ", line)]
        bad += [] if f"Ran {len(chosen)} test" in done.stderr else [f"{name}: not all ran"]
        text += "".join(f"FAILED {line}\n" for line in bad) + (done.stderr[-3000:] if bad else "")
        passed, failed = passed + len(chosen) - len(bad), failed + len(bad)
    return f"{text}{passed} passed, {failed} failed\n"


def same_bytes(build, environment, fast):
    """Statistics and quantized models from both programs, with our own loops for products."""
    folder = build / "bytes"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    linux = {key: value for key, value in environment.items() if key != "BARYON_ONNXRUNTIME"}
    programs = {"linux": (str(ROOT / "build/baryon"), linux), "windows": (str((build / "baryon").resolve()), environment)}
    passed = failed = 0
    for name, size, preset in SAME[: 1 if fast else None]:
        model = str((ROOT / f"build/zoo/models/{name}.onnx").resolve())
        samples = ["--random", "4", "--size", size]
        for what, command in (("calibrate", ["calibrate", model]), (preset, ["quantize", model, "--preset", preset])):
            made = {}
            for system, (path, variables) in programs.items():
                file = folder / f"{system}.{name}.{what}"
                done = subprocess.run([path, *command, *samples, "--force", "-o", file.name], cwd=folder, env=variables,
                                      check=False, capture_output=True, text=True, timeout=SECONDS)  # fmt: skip
                made[system] = file.read_bytes() if file.exists() else done.stderr
            same = made["linux"] == made["windows"] and isinstance(made["linux"], bytes)
            passed, failed = passed + same, failed + (not same)
            if not same:
                print(f"FAILED {name} {what}: {[value if isinstance(value, str) else len(value) for value in made.values()]}")
    return f"{passed} passed, {failed} failed\n"


def long_path(build, environment):
    """A model is written and read in a folder whose path has more than 260 characters."""
    folder = build.resolve() / "long" / "/".join(["a" * 60] * 6)
    shutil.rmtree(build / "long", ignore_errors=True)
    folder.mkdir(parents=True)
    model = str((ROOT / "build/zoo/models/ppocr_cls.onnx").resolve())
    out = folder / "half.onnx"
    status = 0
    for command in (["convert", model, "--to", "fp16", "-o", str(out)], ["inspect", str(out)]):
        done = subprocess.run([str(build / "baryon"), *command], env=environment, check=False, capture_output=True, text=True)
        status |= done.returncode
        if done.returncode:
            print(f"FAILED {command}: {done.stderr}")
    alone = [path.name for path in folder.iterdir()] == ["half.onnx"]
    return "1 passed, 0 failed\n" if alone and not status else "0 passed, 1 failed\n"


def again(build):
    """The wheel, built a second time in another folder, has the same bytes."""
    folder = build / "again"
    shutil.rmtree(folder, ignore_errors=True)
    made = []
    for place in (build, folder):
        command = ["make", "--no-print-directory", "--silent", f"-j{len(os.sched_getaffinity(0))}", "FLAVOUR=windows", f"BUILD={os.path.relpath(place, ROOT)}", "wheel"]
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        made += [path.read_bytes() for path in (place / "wheel").glob("*.whl")]
    shutil.rmtree(folder)
    same = len(made) == 2 and made[0] == made[1]
    return "1 passed, 0 failed\n" if same else f"FAILED again: wheels of {list(map(len, made))} bytes differ\n0 passed, 1 failed\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=["units", "cases", "process", "bytes", "long", "paths", "python", "again"])
    parser.add_argument("--fast", action="store_true", help="a part of them, in a minute")
    parser.add_argument("--build", type=Path, default=ROOT / "build/windows")
    parser.add_argument("--runtime", type=Path, default=RUNTIME, help="onnxruntime.dll")
    options = parser.parse_args()
    if options.fast:
        options.parts = [part for part in options.parts if part not in ("process", "python", "again")]
    if lacking := missing(options.runtime):
        print(f"left out, missing: {', '.join(lacking)}; scripts/deps.sh windows installs it")
        return 0 if options.fast else 1
    make = ["make", "--no-print-directory", "--silent", f"-j{len(os.sched_getaffinity(0))}"]
    for target in (["libraries"], ["all", "units"]):
        subprocess.run([*make, "FLAVOUR=windows", *target], cwd=ROOT, check=True)
    environment = prepare(options.build, options.runtime)
    run = {"units": lambda: units(options.build, environment, options.fast),
           "cases": lambda: cases(options.build, environment, options.fast),
           "process": lambda: processes(options.build, environment),
           "bytes": lambda: same_bytes(options.build, environment, options.fast),
           "long": lambda: long_path(options.build, environment),
           "paths": lambda: windows_paths.check(options.build, environment),
           "python": lambda: windows_python.check(options.build, environment),
           "again": lambda: again(options.build)}  # fmt: skip
    passed = failed = 0
    try:
        for part in options.parts:
            text = run[part]()
            print(text, end="")
            counts = re.findall(r"^(\d+) passed, (\d+) failed$", text, re.M)[-1]
            passed, failed = passed + int(counts[0]), failed + int(counts[1])
    finally:
        subprocess.run(["wineserver", "-k"], env=environment, check=False)  # of this prefix
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
