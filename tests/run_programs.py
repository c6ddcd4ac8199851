#!/usr/bin/env python3
"""Runs test programs, several at a time, and counts what they say.

A program is an executable (cmocka tests say TAP) or a .py file, which the Python
of the tests runs. What it prints is shown when it fails: when its status is not
0, when it takes too long, or when it counts a failure. The counts are those of
TAP lines, of Python's unittest, or of a closing line "N passed, N failed"; a
program without any counts as one test.
"""

import argparse
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from turns import Turns

TESTS = Path(__file__).resolve().parent
IN_MEMORY = "/dev/shm"
VALGRIND = (
    "valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,possible"
    f" --show-leak-kinds=definite,possible --suppressions={TESTS}/suppressions/valgrind.supp"
).split()


def count(text, status):
    """(passed, failed) of what a test program printed; status decides when it says nothing."""
    passed = failed = 0
    if closing := re.findall(r"^(\d+) passed, (\d+) failed$", text, re.M):
        passed, failed = map(int, closing[-1])
    elif ran := re.search(r"^Ran (\d+) tests? in", text, re.M):
        bad = re.search(r"^FAILED \((.*)\)", text, re.M)
        failed = sum(map(int, re.findall(r"(?:failures|errors)=(\d+)", bad[1]))) if bad else 0
        passed = int(ran[1]) - failed
    else:
        passed = len(re.findall(r"^ok \d+", text, re.M))
        failed = len(re.findall(r"^not ok \d+ (?!# SKIP)", text, re.M))
    if status != 0 and failed == 0:
        failed = 1
    if passed + failed == 0:
        passed = 1
    return passed, failed


def run(command, seconds, environment):
    """Returns (status, text, seconds taken, seconds of processors); a status can be "late" or "absent"."""
    begin = time.monotonic()
    with tempfile.TemporaryFile() as output:
        try:
            process = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            return "absent", str(error), 0.0, 0.0
        late = threading.Event()

        def stop():
            late.set()
            os.killpg(process.pid, signal.SIGKILL)

        timer = threading.Timer(seconds, stop)
        timer.start()
        _, code, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(code)
        output.seek(0)
        text = output.read().decode(errors="backslashreplace")
    status = "late" if late.is_set() else process.returncode
    return status, text, time.monotonic() - begin, usage.ru_utime + usage.ru_stime


def describe(status):
    if status in ("late", "absent"):
        return {"late": "took too long", "absent": "cannot be run"}[status]
    if status < 0:
        return f"ended by {signal.Signals(-status).name}"
    return f"exit status {status}"


def has_room(folder, size=1 << 30):
    try:
        return shutil.disk_usage(folder).free > size and os.access(folder, os.W_OK)
    except OSError:
        return False


def own_signals():
    """Signals as at a terminal, also where nohup or a background shell had them ignored."""
    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)


def main():
    own_signals()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    build = Path(os.environ.get("BUILD", "build"))
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    parser.add_argument("--valgrind", action="store_true", help="run executables in valgrind")
    parser.add_argument("--under", metavar="COMMAND", help="what executables are run by, such as an emulator")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--seconds", type=float, default=900, help="limit for one program")
    parser.add_argument("--build", type=Path, default=build, help="where things were built")
    parser.add_argument("--memory", action="store_true", help="temporary files in memory, if possible")
    parser.add_argument("--models", type=Path, default=Path("build/zoo/models"))
    parser.add_argument("--python", default=os.environ.get("PYTHON", "build/venv/bin/python"))
    options = parser.parse_args()
    if not options.programs:
        parser.error("no program named")
    environment = {
        **os.environ,
        "BUILD": str(options.build.resolve()),
        "BARYON": str((options.build / "baryon").resolve()),
        "MODELS": str(options.models.resolve()),
        "PYTHON": os.path.abspath(options.python),
        "PYTHONPATH": str(TESTS),
        "PYTHONDONTWRITEBYTECODE": "1",
        "CMOCKA_MESSAGE_OUTPUT": "TAP",
        "TSAN_OPTIONS": f"suppressions={TESTS}/suppressions/tsan.supp",
        "LC_ALL": "C.UTF-8",
        "ORT_DISABLE_TELEMETRY": "1",  # of the Python package
    }

    wrapper = VALGRIND if options.valgrind else shlex.split(options.under or "")
    if options.valgrind:
        environment["VALGRIND"] = "1"  # a test may do less of what takes long in it
    if options.memory and has_room(IN_MEMORY):
        environment["TMPDIR"] = IN_MEMORY

    def run_one(program):
        command = [options.python, program] if program.endswith(".py") else [program]
        if not program.endswith(".py"):
            command = wrapper + command
        with turns:
            return run(command, options.seconds, environment)

    passed = failed = 0
    turns = Turns()
    with ThreadPoolExecutor(max(1, options.jobs)) as pool:
        outcomes = pool.map(run_one, options.programs)
        for program, (status, text, seconds, busy) in zip(options.programs, outcomes):
            good, bad = count(text, status)
            passed += good
            failed += bad
            print(f"{program}: {good} passed, {bad} failed, {seconds:.1f} s, {busy:.1f} s of CPU")
            for reason in sorted(set(re.findall(r"\.\.\. skipped '(.*)'$", text, re.M))):
                print(f"    skipped: {reason}")
            if bad:
                print(f"{text.rstrip()}\nFAILED {program}: {describe(status)}\n")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
