#!/usr/bin/env python3
"""Plants mistakes, one at a time, and tells which of them the tests notice.

    mutants.py                   all mistakes of tests/mutants
    mutants.py WORD...           those with the word in their file, place or text
    mutants.py --part 2/4        the second of four parts
    mutants.py --check           only whether every mistake still finds its place

A mistake is a block of a file in tests/mutants:

    [src/calib/scale.c] unit:calib_scale case:quantize
    what it breaks, for people
    - the text that stands there, once in the file
    + the text that takes its place

Of a file that has moved, the one of its name that has the text is taken. The words behind the
place are the tests that should notice it, tried in turn: unit:NAME is tests/unit/test_NAME.c,
case:NAME a folder of tests/cli or tests/bad; diff:NAME, process:NAME and python:NAME are programs
there. A mistake is noticed when one of them fails, is ended by a signal or hangs. Each is planted
in a copy of the tree, where what it touches is built again; one in Python or a header as well as
one in C. Tests have to pass before it is planted. The goal is that 95 % are noticed.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from queue import Queue

from run_programs import own_signals

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tests" / "mutants"
TREES = ROOT / "build" / "mutants"
SHARED = ("deps", "venv", "zoo")  # of build/: taken as they are
GOAL = 0.95
SECONDS = 300  # a test that takes longer hangs
PYTHON = os.environ.get("PYTHON", str(ROOT / "build" / "venv" / "bin" / "python"))

# kind of test | what is built for it | the command
KINDS = {
    "unit": (["build/tests/unit/test_{}"], ["build/tests/unit/test_{}"]),
    "case": (["cli", "ops"], ["tests/run_cases.py", "--any-memory", "{}"]),
    "diff": (["cli", "ops", "tools"], [PYTHON, "tests/diff/test_{}.py"]),
    "process": (["cli", "ops"], [PYTHON, "tests/process/test_{}.py"]),
    "python": (["lib", "ops"], [PYTHON, "tests/python/test_{}.py"]),
}


@dataclass
class Mutant:
    where: str  # file and line of the block
    path: str
    tests: list
    what: str = ""
    old: list = field(default_factory=list)
    new: list = field(default_factory=list)

    def planted(self, text):
        """The file's text with the mistake; None when its place is not there, or not one."""
        old = "\n".join(self.old)
        return text.replace(old, "\n".join(self.new)) if text.count(old) == 1 else None


def read_list(path):
    mutants = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if head := re.fullmatch(r"\[([\w./-]+)\] (.+)", line):
            mutants.append(Mutant(f"{path.name}:{number}", head[1], head[2].split()))
        elif not line or line.startswith("#"):
            continue
        elif line[0] == "-":
            mutants[-1].old.append(line[2:])
        elif line[0] == "+":
            mutants[-1].new.append(line[2:])
        else:
            mutants[-1].what = line
    return mutants


def all_mutants():
    return [mutant for path in sorted(FOLDER.glob("*.txt")) for mutant in read_list(path)]


def find_moved(mutant):
    """The path becomes that of the only file of its name that has the text, where it is not there."""
    if (ROOT / mutant.path).is_file():
        return
    others = (ROOT / "src").rglob(Path(mutant.path).name)
    found = [path for path in others if mutant.planted(path.read_text("utf-8")) is not None]
    if len(found) == 1:
        mutant.path = str(found[0].relative_to(ROOT))


def fault_of_place(mutant):
    find_moved(mutant)
    path = ROOT / mutant.path
    if not mutant.old or not mutant.what:
        return "the block is not whole"
    if not path.is_file():
        return f"there is no {mutant.path}"
    text = path.read_text("utf-8")
    if mutant.planted(text) is None:
        count = text.count("\n".join(mutant.old))
        return f"its text stands {count} times in {mutant.path}, it has to stand once"
    return "it changes nothing" if mutant.planted(text) == text else None


def is_test(test):
    kind, _, name = test.partition(":")
    sources = {"unit": f"tests/unit/test_{name}.c", "case": f"tests/cli/{name}"}
    places = [sources.get(kind, f"tests/{kind}/test_{name}.py")]
    if kind == "case":
        places.append(f"tests/bad/{name}")
    return kind in KINDS and any((ROOT / place).exists() for place in places)


def faults(mutants):
    """What is wrong with the list itself."""
    for mutant in mutants:
        if fault := fault_of_place(mutant):
            yield f"{mutant.where}: {fault}"
        for test in mutant.tests:
            if not is_test(test):
                yield f"{mutant.where}: there is no test {test}"


def run(command, folder, seconds):
    """The status of the command, 124 when it takes too long; and what it said."""
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
        start_new_session=True, text=True, errors="replace",
    )  # fmt: skip
    try:
        return (0 if process.communicate(timeout=seconds) is None else process.returncode), ""
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.communicate()
        return 124, ""


class Tree:
    """A copy of the tree that can be built."""

    def __init__(self, number):
        self.folder = TREES / str(number)
        self.begin()

    def begin(self):
        if self.folder.exists():
            shutil.rmtree(self.folder)
        (self.folder / "build").mkdir(parents=True)
        names = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True,
        ).stdout.splitlines()  # fmt: skip
        for name in names:
            if (ROOT / name).is_file():
                (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.folder / name)
        for name in SHARED:
            if (ROOT / "build" / name).exists():
                (self.folder / "build" / name).symlink_to(ROOT / "build" / name)
        for path in self.built(ROOT):
            target = self.folder / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target)

    @staticmethod
    def built(root):
        """What make has built in build/, but for other flavours and logs."""
        for name in ("src", "cli", "tests", "mpi"):
            yield from (path for path in (root / "build" / name).rglob("*") if path.is_file())
        yield from (path for path in (root / "build").glob("*") if path.is_file() and not path.is_symlink())

    def restore(self, since):
        """Everything that was built since then is as it was before."""
        for path in self.built(self.folder):
            if path.stat().st_mtime < since:
                continue
            first = ROOT / path.relative_to(self.folder)
            if first.is_file():
                shutil.copy2(first, path)
            else:
                path.unlink()

    def make(self, targets):
        command = ["make", "--no-print-directory", "--silent", *targets]
        done = subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode == 0, done.stdout

    def passes(self, test):
        """(whether it passes, what make said when it could not be built)."""
        kind, _, name = test.partition(":")
        targets, command = KINDS[kind]
        built, said = self.make([target.format(name) for target in targets])
        if not built:
            return False, said
        status, _ = run([word.format(name) for word in command], self.folder, SECONDS)
        return status == 0, ""

    def judge(self, mutant):
        """The test that notices it, "" for none; or an error."""
        path = self.folder / mutant.path
        before, times = path.read_text("utf-8"), path.stat()
        since = time.time()
        time.sleep(0.01)
        path.write_text(mutant.planted(before), "utf-8")
        try:
            for test in mutant.tests:
                passes, said = self.passes(test)
                if said:
                    return None, f"it cannot be built:\n{said[-1500:]}"
                if not passes:
                    return test, ""
            return "", ""
        finally:
            path.write_text(before, "utf-8")
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
            self.restore(since)


def on_trees(trees, work, items):
    """work(tree, item) for all items, each tree busy with one at a time."""

    def one(item):
        tree = trees.get()
        try:
            return work(tree, item)
        finally:
            trees.put(tree)

    with ThreadPoolExecutor(trees.qsize()) as pool:
        return list(pool.map(one, items))


def failing_tests(trees, mutants):
    """Tests that fail without any mistake: what they say of mistakes means nothing."""
    tests = sorted({test for mutant in mutants for test in mutant.tests})
    return [test for test, (passes, _) in zip(tests, on_trees(trees, lambda tree, test: tree.passes(test), tests)) if not passes]


def judge_all(trees, mutants):
    unnoticed, errors = [], []

    def one(tree, mutant):
        begin = time.monotonic()
        test, error = tree.judge(mutant)
        verdict = error or (f"noticed by {test}" if test else "NOT NOTICED")
        print(f"{mutant.where:14} {mutant.path}: {mutant.what}: {verdict} ({time.monotonic() - begin:.1f} s)", flush=True)
        if error:
            errors.append(mutant)
        elif not test:
            unnoticed.append(mutant)

    on_trees(trees, one, mutants)
    return unnoticed, errors


def chosen(options, mutants):
    if options.words:
        mutants = [m for m in mutants if any(w in f"{m.where} {m.path} {m.what}" for w in options.words)]
    part, parts = map(int, options.part.split("/"))
    return mutants[part - 1 :: parts]


def main():
    own_signals()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="WORD")
    parser.add_argument("--part", default="1/1", metavar="I/N")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    mutants = all_mutants()
    if wrong := list(faults(mutants)):
        print("\n".join(wrong))
        print(f"{len(mutants) - len(wrong)} passed, {len(wrong)} failed")
        return 1
    if options.check:
        print(f"{len(mutants)} passed, 0 failed")
        return 0
    mutants = chosen(options, mutants)
    trees = Queue()
    for number in range(min(options.jobs, len(mutants))):
        trees.put(Tree(number))
    if failing := failing_tests(trees, mutants):
        print(f"these tests fail without any mistake: {', '.join(failing)}")
        print(f"0 passed, {len(failing)} failed")
        return 1
    unnoticed, errors = judge_all(trees, mutants)
    noticed = len(mutants) - len(unnoticed) - len(errors)
    share = noticed / max(len(mutants), 1)
    print(f"{noticed} of {len(mutants)} mistakes are noticed, {100 * share:.1f} % (the goal is {100 * GOAL:.0f} %)")
    for mutant in unnoticed + errors:
        print(f"  {mutant.where} {mutant.path}: {mutant.what}")
    good = share >= GOAL and not errors
    print(f"{noticed} passed, {0 if good else len(unnoticed) + len(errors)} failed")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
