#!/usr/bin/env python3
"""Runs test cases of the command line tool. A case is a folder:

    cmd      shell text, run with `sh -e` in a fresh copy of the folder
    exit     the exit status (0 when the file is missing)
    stdout   the exact text; not looked at when the file is missing
    stderr   the exact text; must be empty when the file is missing
    make.py  run before, in the copy, by the Python that has onnx and numpy

With --system windows the files exit.windows, stdout.windows and stderr.windows go before those.

A line that begins with "~ " is a shell pattern for that line. The path of the
copy is taken out of what the program says. A case that exits with 77 is skipped
and says why on stdout. cmd sees BARYON (the program), MODELS (a folder of real
models), PYTHON and LC_ALL=C; make.py can import what lies in tests/.

A case fails when its status or text differ, a signal ends it, it takes too long on
the processor (waiting for others costs nothing), or its memory peak is over 16 times the bytes it has on disk plus 100 MiB.
"""

import argparse
import contextlib
import difflib
import fnmatch
import os
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TESTS = Path(__file__).resolve().parent
EXPECTED = ("cmd", *(f"{name}{of}" for name in ("exit", "stdout", "stderr") for of in ("", ".windows")))
SKIPPED = 77
MAKE_SECONDS = 600
HANGS = 30  # times as long as it may take is for ever, however busy the machine is
MEMORY_BASE = 100 << 20
MEMORY_FACTOR = 16
OUTPUT_MAX = 1 << 20  # characters of one stream that are kept

from run_programs import own_signals
from turns import Turns


class Failure(Exception):
    """What a case did wrong, as text for people."""


def find_cases(names):
    """Folders with a cmd file: those named, or all of tests/cli and tests/bad."""
    folders = [Path(name) for name in names] or [TESTS / "cli", TESTS / "bad"]
    cases = []
    for folder in folders:
        if not folder.is_dir():
            matches = sorted((*TESTS.glob(f"cli/{folder}"), *TESTS.glob(f"bad/{folder}")))
            if names and not matches:
                sys.exit(f"run_cases: no case {folder}")
            cases += matches
        elif (folder / "cmd").exists():
            cases.append(folder)
        else:
            cases += sorted(cmd.parent for cmd in folder.glob("*/cmd"))
    return cases


def sampled(cases, step):
    """The cases but for most of those that start ONNX Runtime, which takes 8 s in valgrind."""
    starts = [case for case in cases if re.search(r"\b(run|calibrate)\b", (case / "cmd").read_text())]
    skipped = set(starts) - set(starts[::step])
    print(f"{len(skipped)} of {len(starts)} cases that start ONNX Runtime are left out")
    return [case for case in cases if case not in skipped]


def missing_numbers(cases, numbers):
    """Numbers of "1-60,90-104" for which no folder is called "NN-something"."""
    wanted = set()
    for span in numbers.split(","):
        first, last = map(int, span.split("-"))
        wanted |= set(range(first, last + 1))
    present = {int(match[0]) for case in cases if (match := re.match(r"\d+", case.name))}
    return sorted(wanted - present)


def disk_bytes(folder):
    """Bytes that the files of a folder take on disk: holes are not counted."""
    total = 0
    for root, _, files in os.walk(folder):
        for name in files:
            status = os.lstat(os.path.join(root, name))
            if stat.S_ISREG(status.st_mode):
                total += min(status.st_size, status.st_blocks * 512)
    return total


class Runner:
    def __init__(self, options):
        self.options = options
        self.seconds = options.seconds * (30 if options.valgrind else 1)
        self.program = options.program.resolve()
        self.work = Path(tempfile.mkdtemp(prefix="cases-", dir=options.scratch)).resolve()
        self.environment = {
            **os.environ,
            "BARYON": str(self.program),
            "MODELS": str(options.models.resolve()),
            "PYTHON": str(options.python),
            "PYTHONPATH": str(TESTS),
            "PYTHONDONTWRITEBYTECODE": "1",
            "LC_ALL": "C",
            "ORT_DISABLE_TELEMETRY": "1",  # of the Python package, which says so where it cannot
        }
        for name in ("NO_COLOR", "CLICOLOR_FORCE", "BARYON_CONFIG"):
            self.environment.pop(name, None)
        self.turns = Turns()
        self.makers, self.local = [], threading.local()

    def wrap_in_valgrind(self, place):
        """A program that stands for ours and leaves valgrind's findings in a file."""
        wrapper = place / "valgrind"
        suppressions = TESTS / "suppressions" / "valgrind.supp"
        wrapper.write_text(
            "#!/bin/sh\n"
            f"exec valgrind -q --leak-check=full --errors-for-leak-kinds=definite,possible"
            f" --show-leak-kinds=definite,possible --suppressions='{suppressions}'"
            f" --log-file='{place}/valgrind.%p' '{self.program}' \"$@\"\n"
        )
        wrapper.chmod(0o755)
        return str(wrapper)

    def run(self, case):
        """Returns (status, reason): "passed", "skipped" or "failed"."""
        with self.turns:
            return self.run_case(case)

    def run_case(self, case):
        place = Path(tempfile.mkdtemp(prefix=case.name + "-", dir=self.work))
        try:
            return self.run_in(case, place)
        except (Failure, subprocess.TimeoutExpired) as failure:
            return "failed", str(failure)
        finally:
            try:
                shutil.rmtree(place)
            except OSError:  # a folder that lets nobody in
                subprocess.run(["chmod", "-R", "u+rwX", str(place)], check=False)
                shutil.rmtree(place, ignore_errors=True)

    def run_in(self, case, place):
        copy = place / "copy"
        shutil.copytree(case, copy, symlinks=True, ignore=self.ignored(case))
        environment = dict(self.environment)
        if (copy / "make.py").exists():
            self.make(copy)
        if self.options.valgrind:
            environment["BARYON"] = self.wrap_in_valgrind(place)
        before = disk_bytes(copy)
        status, peak, busy = self.execute(case, copy, place, environment)
        texts = {name: self.read_output(place / name, copy) for name in ("stdout", "stderr")}
        if status == SKIPPED:
            return "skipped", texts["stdout"].strip()
        self.check_status(status, texts)
        self.check_memory(peak, max(before, disk_bytes(copy)))
        self.check_time(busy)
        self.check_valgrind(place)
        if self.options.bless:
            return self.bless(case, status, texts)
        self.compare(case, status, texts)
        return "passed", ""

    @staticmethod
    def ignored(case):
        """For copytree: the expectations of the case itself stay behind."""
        return lambda folder, _: EXPECTED if Path(folder) == case else ()

    def make(self, copy):
        """Lets a process that has imported onnx run make.py, each thread one of its own."""
        maker = getattr(self.local, "maker", None)
        if not maker:
            maker = self.local.maker = subprocess.Popen(
                [self.options.python, str(TESTS / "lib/maker.py")],
                env={**self.environment, "OPENBLAS_NUM_THREADS": "1"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                bufsize=1,
                start_new_session=True,
            )
            self.makers.append(maker)
        timer = threading.Timer(MAKE_SECONDS, os.killpg, (maker.pid, signal.SIGKILL))
        timer.start()
        with contextlib.suppress(BrokenPipeError):  # it has ended: no answer
            print(copy, file=maker.stdin)
        answer = maker.stdout.readline().strip()
        timer.cancel()
        if answer != "0":
            log = copy.parent / "make.log"
            text = log.read_text(errors="backslashreplace") if log.exists() else ""
            self.local.maker = self.local.maker if answer else None
            raise Failure(f"make.py failed ({answer or 'no answer'}):\n{text}")
        (copy / "make.py").unlink()

    def close(self):
        for maker in self.makers:
            with contextlib.suppress(BrokenPipeError):
                maker.stdin.close()
            maker.wait()
        shutil.rmtree(self.work, ignore_errors=True)

    def execute(self, case, copy, place, environment):
        """Runs cmd; returns its status (negative: a signal), its peak of memory and its seconds."""
        with open(place / "stdout", "wb") as out, open(place / "stderr", "wb") as err:
            process = subprocess.Popen(
                ["sh", "-e", str(case.resolve() / "cmd")],
                cwd=copy,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
        late = threading.Event()

        def stop():
            late.set()
            os.killpg(process.pid, signal.SIGKILL)

        timer = threading.Timer(HANGS * self.seconds, stop)
        timer.start()
        _, code, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(code)
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        if late.is_set():
            raise Failure(f"still running after {HANGS * self.seconds} s")
        return process.returncode, usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime

    @staticmethod
    def read_output(path, copy):
        with open(path, encoding="utf-8", errors="backslashreplace", newline="") as file:
            text = file.read(OUTPUT_MAX)
        return text.replace(f"{copy}/", "").replace(str(copy), ".")

    @staticmethod
    def check_status(status, texts):
        number = -status if status < 0 else status - 128
        if number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
            return
        if status < 0 or 128 < status < 192:
            name = signal.Signals(number).name if number in set(signal.Signals) else number
            raise Failure(f"ended by signal {name}\n{texts['stderr']}")

    def check_time(self, busy):
        if busy > self.seconds:
            raise Failure(f"took {busy:.1f} s of the processor, allowed are {self.seconds}")

    def check_memory(self, peak, size):
        limit = MEMORY_FACTOR * size + MEMORY_BASE
        if peak > limit and not (self.options.any_memory or self.options.valgrind):
            raise Failure(
                f"took {peak >> 20} MiB of memory for {size} bytes of files,"
                f" allowed are {limit >> 20} MiB"
            )

    @staticmethod
    def check_valgrind(place):
        found = "".join(path.read_text() for path in sorted(place.glob("valgrind.*")))
        # Old ones do not know openat2(), which is then done without.
        found = re.sub(r"(==|--)\d+(==|--) WARNING: unhandled \S+ syscall: 437\n(.*\n){4}", "", found)
        if found:
            raise Failure(found)

    def expectation(self, case, name):
        """The file that has it: of the system, where that has one of its own."""
        own = case / f"{name}.{self.options.system}"
        return own if self.options.system and own.exists() else case / name

    def bless(self, case, status, texts):
        """Writes what happened as the expectation; stdout only where it is looked at.
        Patterns that still match stay. With --system what differs goes to a file of the system."""

        def put(name, text, wanted):
            path = self.expectation(case, name)
            known = path.read_text(encoding="utf-8") if path.exists() else ""
            if same_text(known, text) if path.exists() else not wanted:
                return
            if self.options.system:
                path = case / f"{name}.{self.options.system}"
            if wanted or self.options.system:
                path.write_text(with_patterns(known, text), encoding="utf-8", newline="")
            elif path.exists():
                path.unlink()

        put("exit", f"{status}\n", status != 0)
        put("stderr", texts["stderr"], texts["stderr"] != "")
        put("stdout", texts["stdout"], (case / "stdout").exists())
        return "passed", ""

    def compare(self, case, status, texts):
        problems = []
        path = self.expectation(case, "exit")
        wanted = int(path.read_text()) if path.exists() else 0
        if status != wanted:
            problems.append(f"exit status is {status}, expected {wanted}")
        for name, text in texts.items():
            path = self.expectation(case, name)
            if not path.exists() and name == "stdout":
                continue
            expected = path.read_text(encoding="utf-8") if path.exists() else ""
            if "% (" not in expected:  # what took long, on a slow machine, tells how far it is
                text = re.sub(r"^baryon: \w+: +\d+ % \(.*\n", "", text, flags=re.M)
            if not same_text(expected, text):
                problems.append(difference(path.name, expected, text))
        if problems:
            if status != wanted and not any("stderr" in problem for problem in problems):
                problems.append(texts["stderr"])
            raise Failure("\n".join(problems))


def same_text(expected, text):
    if expected == text:
        return True
    patterns, lines = expected.split("\n"), text.split("\n")
    return len(patterns) == len(lines) and all(map(same_line, patterns, lines))


def same_line(pattern, line):
    if pattern.startswith("~ "):
        return fnmatch.fnmatchcase(line, pattern[2:])
    return pattern == line


def with_patterns(expected, text):
    """The text, with those patterns of the expectation that match lines of it in the same order."""
    patterns = [line for line in expected.split("\n") if line.startswith("~ ")]
    kept, start = [], 0
    for line in text.split("\n"):
        found = next((i for i in range(start, len(patterns)) if same_line(patterns[i], line)), None)
        kept.append(line if found is None else patterns[found])
        start = start if found is None else found + 1
    return "\n".join(kept)


def difference(name, expected, text):
    """A diff in which lines that match a pattern count as equal."""
    expected, text = expected.splitlines(), text.splitlines()
    shown = [
        pattern if index < len(text) and same_line(pattern, text[index]) else None
        for index, pattern in enumerate(expected)
    ]
    text = [
        shown[index] if index < len(shown) and shown[index] is not None else line
        for index, line in enumerate(text)
    ]
    lines = difflib.unified_diff(expected, text, f"expected {name}", f"{name}", lineterm="", n=2)
    return "\n".join(lines) or f"{name}: only the end of the last line differs"


def parse_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    build = Path(os.environ.get("BUILD", "build"))
    parser.add_argument("names", nargs="*", metavar="NAME", help="folder or name of a case")
    parser.add_argument("--bless", action="store_true", help="take what happens as expected")
    parser.add_argument("--valgrind", action="store_true", help="run the program in valgrind")
    parser.add_argument("--sample", type=int, metavar="N", help="of cases that start ONNX Runtime, every Nth")
    parser.add_argument("--system", choices=["windows"], help="that the program is for")
    parser.add_argument("--any-memory", action="store_true", help="do not judge memory")
    parser.add_argument("--need", metavar="FIRST-LAST,...", help="numbers that must have a folder")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--seconds", type=float, default=60, help="of the processor, for one case")
    parser.add_argument("--program", type=Path, default=build / "baryon")
    parser.add_argument("--models", type=Path, default=Path("build/zoo/models"))
    parser.add_argument("--python", default=os.environ.get("PYTHON", "build/venv/bin/python"))
    parser.add_argument("--scratch", type=Path, default=build)
    options = parser.parse_args()
    if options.bless and not options.names:
        parser.error("--bless wants the names of the cases")
    if not options.program.exists():
        parser.error(f"there is no {options.program}: make cli")
    if "/" in options.python:
        options.python = os.path.abspath(options.python)
    return options


def main():
    own_signals()
    options = parse_options()
    cases = find_cases(options.names)
    if options.sample:
        cases = sampled(cases, options.sample)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    runner = Runner(options)
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    try:
        with ThreadPoolExecutor(max(1, options.jobs)) as pool:
            for case, (status, reason) in zip(cases, pool.map(runner.run, cases)):
                counts[status] += 1
                name = f"{case.parent.name}/{case.name}"
                if status == "failed":
                    print(f"FAILED {name}\n{reason.rstrip()}\n")
                elif status == "skipped":
                    print(f"skipped {name}: {reason}")
    finally:
        runner.close()
    if options.need:
        if missing := missing_numbers(cases, options.need):
            counts["failed"] += len(missing)
            print(f"FAILED no case has the number {', '.join(map(str, missing))}\n")
    print(f"{counts['passed']} passed, {counts['failed']} failed")
    return 1 if counts["failed"] or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
