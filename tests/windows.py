#!/usr/bin/env python3
"""Runs the build for Windows under Wine: unit tests, cases, and a quantization beside Linux's.

    tests/windows.py [--fast] [PART...]      parts: units cases bytes

What is left out, and why, is in tests/windows_left_out.txt. Ends with "N passed, N failed".
"""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
FAST_UNITS = "str mem map json team err place save".split()
FAST_CASES = ["tests/cli/list", "tests/cli/inspect*", "tests/bad/1*"]


# Wine lacks what ONNX Runtime asks graphics cards by, which it says on standard error.
WRAPPER = """#!/bin/sh
exec 3>&1
status=$( {{ {{ wine "{program}" "$@" 3>&- 4>&-; echo $? >&4; }} 2>&1 >&3 | grep -av '^Failed to create DXGI factory' >&2; }} 4>&1 )
exit $status
"""


def left_out(kind):
    """Names and reasons of one kind: lines "KIND NAME reason"."""
    rows = (TESTS / "windows_left_out.txt").read_text(encoding="utf-8").splitlines()
    return {name: why for what, name, why in (row.split(None, 2) for row in rows if row and row[0] != "#") if what == kind}


def prepare(build, runtime):
    """A prefix of Wine of its own, and a program that stands for ours."""
    environment = {**os.environ, "WINEPREFIX": str((build / "wine").resolve()), "WINEDEBUG": "-all",
                   "WINEDLLOVERRIDES": "mscoree,mshtml=", "BARYON_CBLAS": "own"}  # fmt: skip
    if runtime:
        environment["BARYON_ONNXRUNTIME"] = str(Path(runtime).resolve())
    wrapper = build / "baryon"
    wrapper.write_text(WRAPPER.format(program=(build / "baryon.exe").resolve()), encoding="utf-8")
    wrapper.chmod(0o755)
    subprocess.run(["wine", "wineboot", "-i"], env=environment, check=True, capture_output=True)
    return environment


def units(build, environment, fast):
    skipped = left_out("unit")
    names = sorted(path.stem[5:] for path in (build / "tests/unit").glob("test_*.exe"))
    chosen = [name for name in names if name not in skipped and (not fast or name in FAST_UNITS)]
    programs = [str(build / f"tests/unit/test_{name}.exe") for name in chosen]
    print(f"units: {len(chosen)} programs, {len(skipped)} left out")
    command = ["tests/run_programs.py", "--build", str(build), "--under", "wine", *programs]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False, capture_output=True, text=True).stdout


def cases(build, environment, fast):
    skipped = left_out("case")
    found = sorted(path.parent for kind in ("cli", "bad") for path in (TESTS / kind).glob("*/cmd"))
    if fast:
        found = sorted(path for pattern in FAST_CASES for path in ROOT.glob(pattern))
    chosen = [str(path.relative_to(ROOT)) for path in found if path.name not in skipped]
    print(f"cases: {len(chosen)} folders, {len(found) - len(chosen)} left out")
    command = ["tests/run_cases.py", "--any-memory", "--program", str(build / "baryon"), "--scratch", str(build), *chosen]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False, capture_output=True, text=True).stdout


def same_bytes(build, environment):
    """A quantized model from both programs, with our own loops for products."""
    folder = build / "bytes"
    folder.mkdir(exist_ok=True)
    linux = {key: value for key, value in environment.items() if key != "BARYON_ONNXRUNTIME"}
    program = {"linux": (str(ROOT / "build/baryon"), linux), "windows": (str((build / "baryon").resolve()), environment)}
    model = str((ROOT / "build/zoo/models/ppocr_cls.onnx").resolve())
    size = ["--random", "4", "--size", "192x48"]
    passed = failed = 0
    for name, command in (
        ("onnx", ["quantize", model, "--preset", "XINT8", *size, "--force", "--out"]),
    ):
        made = {}
        for system, (path, variables) in program.items():
            file = f"{system}.{name}"
            (folder / file).unlink(missing_ok=True)
            done = subprocess.run([path, *command, file], cwd=folder, env=variables, check=False, capture_output=True, text=True)
            made[system] = (folder / file).read_bytes() if (folder / file).exists() else done.stderr
        if made["linux"] == made["windows"] and isinstance(made["linux"], bytes):
            passed += 1
        else:
            failed += 1
            print(f"FAILED {name}: {[value if isinstance(value, str) else len(value) for value in made.values()]}")
    return f"{passed} passed, {failed} failed\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=["units", "cases", "bytes"])
    parser.add_argument("--fast", action="store_true", help="a part of them, in a minute")
    parser.add_argument("--build", type=Path, default=ROOT / "build/windows")
    parser.add_argument("--runtime", help="onnxruntime.dll")
    options = parser.parse_args()
    environment = prepare(options.build, options.runtime)
    run = {"units": lambda: units(options.build, environment, options.fast),
           "cases": lambda: cases(options.build, environment, options.fast),
           "bytes": lambda: same_bytes(options.build, environment)}  # fmt: skip
    passed = failed = 0
    for part in options.parts:
        text = run[part]()
        print(text, end="")
        counts = re.findall(r"^(\d+) passed, (\d+) failed$", text, re.M)[-1]
        passed, failed = passed + int(counts[0]), failed + int(counts[1])
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
