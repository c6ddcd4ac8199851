"""The tests of the package with the library built for AddressSanitizer: no error, no leak of ours.

Python, numpy and ONNX Runtime keep memory to the end of the process; leaks count where a function of
ours is on the way to them.
"""

import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TESTS = ("test_native", "test_quark", "test_readers")


def sanitizer():
    done = subprocess.run(["gcc", "-print-file-name=libasan.so"], stdout=subprocess.PIPE, text=True, check=True)
    return os.path.realpath(done.stdout.strip())


def leaks(report):
    """Those whose allocation is a function of our library's."""
    parts = re.split(r"\n\n", report)
    return [part for part in parts if "leak of" in part and re.search(r"#[0-3] .*libbaryon", part)]


def main():
    passed = failed = 0
    environment = {**os.environ, "BUILD": "build/asan", "LD_PRELOAD": sanitizer(), "PYTHONMALLOC": "malloc",
                   "ASAN_OPTIONS": "detect_leaks=1:exitcode=99", "LSAN_OPTIONS": "exitcode=0"}  # fmt: skip
    for name in TESTS:
        done = subprocess.run([sys.executable, HERE / f"{name}.py"], env=environment, capture_output=True,
                              text=True, cwd=ROOT, check=False)  # fmt: skip
        ours = leaks(done.stderr)
        if done.returncode or "ERROR: AddressSanitizer" in done.stderr or "runtime error" in done.stderr or ours:
            failed += 1
            print(f"FAILED {name}: {done.returncode}\n{done.stdout[-1500:]}\n{done.stderr[:1500]}\n{''.join(ours)[:3000]}")
        else:
            passed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
