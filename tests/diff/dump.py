"""Talks to a program of tests/tools: one command a line, one answer a line."""

import os
import pathlib
import subprocess

BUILD = pathlib.Path(os.environ.get("BUILD", "build"))


class Dump:
    def __init__(self, tool="prep_dump"):
        self.process = subprocess.Popen(
            [BUILD / "tests/tools" / tool], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
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
