#!/usr/bin/env python3
"""clang-tidy over the library and the program, several files at a time; or over the files named.

Findings that are wrong are listed in tests/suppressions/clang-tidy.txt, a line each
with the file, the check and the reason.
"""

import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from glob import glob
from pathlib import Path

from run_programs import describe, own_signals, run

SUPPRESSIONS = Path("tests/suppressions/clang-tidy.txt")


def flags():
    root = Path(os.environ.get("ONNXRUNTIME_ROOT", "build/deps/onnxruntime"))
    header = next(root.glob("include/**/onnxruntime_c_api.h"))
    return [
        "-std=c17", "-D_GNU_SOURCE", '-DBY_MPI_FOLDER="."', "-Iinclude", "-Isrc", "-I.", "-isystem", str(header.parent)
    ]  # fmt: skip


def suppressed():
    """Pairs (file, check) whose findings are known to be wrong."""
    lines = (line.split() for line in SUPPRESSIONS.read_text().splitlines())
    return {(words[0], words[1]) for words in lines if words and not words[0].startswith("#")}


def findings(path):
    """The findings in one file: (file, check, line of text). One is that it was not looked at."""
    status, text, *_ = run(["clang-tidy", "--quiet", path, "--", *flags()], 600, dict(os.environ))
    if status != 0 and " error: " not in text:
        yield path, "clang-tidy", f"{path}: clang-tidy {describe(status)}: {text[-500:]}"
    here = f"{Path.cwd()}/"
    for match in re.finditer(r"^(\S+):\d+:\d+: (?:warning|error): .* \[([\w.,-]+)\]$", text, re.M):
        yield match[1].removeprefix(here), match[2].split(",")[0], match[0].removeprefix(here)


def main():
    own_signals()
    paths = sys.argv[1:] or sorted(glob("src/**/*.c", recursive=True) + glob("cli/*.c"))
    known, used, bad = suppressed(), set(), set()
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for found in pool.map(lambda path: list(findings(path)), paths):
            for file, check, text in found:
                if (file, check) in known:
                    used.add((file, check))
                else:
                    bad.add(text)
    for text in sorted(bad):
        print(text)
    for file, check in sorted(known - used):
        if file in paths or not sys.argv[1:]:
            bad.add(file)
            print(f"{SUPPRESSIONS}: {file} {check} is not found any more")
    print(f"{len(paths) - len(bad)} passed, {len(bad)} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
