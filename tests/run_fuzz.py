#!/usr/bin/env python3
"""Runs the fuzz targets, or feeds them the stored inputs.

    run_fuzz.py --replay       every target reads its folder of tests/fuzz/corpus once
    run_fuzz.py --seconds 600  every target fuzzes so long (libFuzzer)

The corpus of tests/fuzz/fuzz_NAME.c is tests/fuzz/corpus/NAME; what fuzzing finds
new goes to build/fuzz/corpus/NAME, what breaks a target to build/fuzz/found.
Targets are compiled by `make replays` and `make FLAVOUR=fuzz fuzzers`.
"""

import argparse
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from run_programs import describe, run

FUZZ = Path("tests/fuzz")
MEMORY_MIB = 1024
INPUT_SECONDS = 10


def targets(names):
    found = sorted(path.stem.removeprefix("fuzz_") for path in FUZZ.glob("fuzz_*.c"))
    return [name for name in found if not names or name in names]


def replay(name, options):
    """Returns (text, passed, failed): one test for each stored input."""
    corpus = FUZZ / "corpus" / name
    count = sum(1 for path in corpus.rglob("*") if path.is_file())
    if count == 0:
        return f"{name}: nothing in {corpus}", 0, 1
    program = options.build / "replay" / f"fuzz_{name}"
    status, text, *_ = run([str(program), str(corpus)], 600, dict(os.environ))
    if status:
        return f"{name}: {describe(status)}\n{text}", 0, 1
    return f"{name}: {count} inputs", count, 0


def fuzz(name, options):
    """Returns (text, passed, failed): one test for the target."""
    grown, found = Path("build/fuzz/corpus") / name, Path("build/fuzz/found")
    grown.mkdir(parents=True, exist_ok=True)
    found.mkdir(parents=True, exist_ok=True)
    command = [
        f"build/fuzz/fuzz_{name}", str(grown), str(FUZZ / "corpus" / name),
        f"-max_total_time={options.seconds}", f"-rss_limit_mb={MEMORY_MIB}",
        f"-timeout={INPUT_SECONDS}", f"-artifact_prefix={found}/{name}-",
        "-print_final_stats=1", "-max_len=65536",
    ]  # fmt: skip
    if (dictionary := FUZZ / f"{name}.dict").exists():
        command.append(f"-dict={dictionary}")
    status, output, *_ = run(command, options.seconds + 300, dict(os.environ))

    def last(label):
        return (re.findall(rf"{label}: *(\d+)", output) or ["?"])[-1]

    text = (
        f"{name}: {last('number_of_executed_units')} executions, {last('cov')} edges,"
        f" peak {last('peak_rss_mb')} MiB"
    )
    if status:
        return f"{text}, FOUND something ({describe(status)}):\n{output[-6000:]}", 0, 1
    return f"{text}, nothing found", 1, 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="targets, all of them by default")
    parser.add_argument("--replay", action="store_true")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--build", type=Path, default=Path(os.environ.get("BUILD", "build")))
    options = parser.parse_args()

    work = replay if options.replay else fuzz
    passed = failed = 0
    with ThreadPoolExecutor(max(1, options.jobs)) as pool:
        for text, good, bad in pool.map(lambda name: work(name, options), targets(options.names)):
            print(text, flush=True)
            passed += good
            failed += bad
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
