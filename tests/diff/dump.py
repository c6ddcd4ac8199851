"""Talks to a program of tests/tools: one command a line, one answer a line."""

import os
import pathlib
import subprocess
import sys
from functools import cache

BUILD = pathlib.Path(os.environ.get("BUILD", "build"))


def dependencies_of(listing):
    """Files of ours that the compiler read, out of the .d file that it wrote."""
    words = listing.read_text().replace("\\\n", " ").split(":", 1)[1].split("\n", 1)[0].split()
    return [word for word in words if not word.startswith("/")]


@cache
def changed_at(path):
    """Nanoseconds; 0: it is gone."""
    return os.stat(path).st_mtime_ns if os.path.exists(path) else 0


@cache
def newer_source(name):
    """A source that changed since the tool's objects were compiled; None: there is none."""
    listings = [BUILD / f"tests/tools/{name}.d", *(BUILD / "src").rglob("*.d")]
    for listing in listings:
        if not changed_at(listing.relative_to(BUILD).with_suffix(".c")):
            continue  # of a source that is gone
        made = changed_at(listing.with_suffix(".o"))
        if changed := next((path for path in dependencies_of(listing) if changed_at(path) > made), None):
            return changed
    return None


def some(rows, step=2):
    """One in so many of them; LONG=1: all."""
    return [row for i, row in enumerate(rows) if os.environ.get("LONG") or i % step == 0]


def tool(name):
    """The path of a program of tests/tools. Ends the test where it is missing or older than its sources."""
    path = BUILD / "tests/tools" / name
    if not path.exists():
        sys.exit(f"{path} is missing: run `make tools`")
    if changed := newer_source(name):
        sys.exit(f"{path} is older than {changed}: run `make tools`")
    return path


class Dump:
    def __init__(self, name="prep_dump"):
        self.process = subprocess.Popen(
            [tool(name)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True)

    def line(self, *words):
        print(*words, file=self.process.stdin, flush=True)
        return self.process.stdout.readline().strip()

    def ask(self, *words):
        """(True, text) or (False, message)."""
        line = self.line(*words)
        return line.endswith("ok"), line.removeprefix("error ")

    def close(self):
        self.process.stdin.close()
        return self.process.wait()


class Score:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, good, what):
        if good:
            self.passed += 1
        else:
            self.failed += 1
            print("FAILED", what)
        return good

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed else 0
