#!/usr/bin/env python3
"""Slurm's sbatch as far as docs/many-machines.md uses it: tasks run at once and one after the
other, the last one first; a job whose dependency has failed is not run.
"""

import argparse
import os
import pathlib
import subprocess
import sys

JOBS = pathlib.Path("jobs")  # a file for each: its status


def read(words):
    parser = argparse.ArgumentParser(allow_abbrev=False)
    for flag in ("--array", "--cpus-per-task", "--dependency", "--job-name", "--open-mode", "--output",
                 "--time", "--wrap"):  # fmt: skip
        parser.add_argument(flag)
    parser.add_argument("--kill-on-invalid-dep", choices=["yes", "no"])
    parser.add_argument("--parsable", action="store_true")
    parser.add_argument("script", nargs="?")
    return parser.parse_args(words)


def directives(script):
    lines = pathlib.Path(script).read_text().splitlines()
    return [line.split(None, 1)[1] for line in lines if line.startswith("#SBATCH ")]


def tasks(array):
    first, _, last = array.partition("-")
    return range(int(first), int(last or first) + 1)


def run(given, command, number, changes):
    name = (given.output or "slurm-%j.out").replace("%j", str(number))
    name = name.replace("%a", changes.get("SLURM_ARRAY_TASK_ID", ""))
    with open(name, "a" if given.open_mode == "append" else "w") as log:
        return subprocess.run(command, env={**os.environ, **changes}, stdin=subprocess.DEVNULL,
                              stdout=log, stderr=log, check=False).returncode  # fmt: skip


def main():
    given = read(sys.argv[1:])
    if given.script:
        given = read([*directives(given.script), *sys.argv[1:]])
    JOBS.mkdir(exist_ok=True)
    number = len(list(JOBS.iterdir())) + 1
    changes = {"SLURM_CPUS_PER_TASK": given.cpus_per_task} if given.cpus_per_task else {}
    kind, _, before = (given.dependency or "").partition(":")
    if before and (kind != "afterok" or (JOBS / before).read_text() != "0"):
        status = "cancelled"
    elif given.wrap:
        status = run(given, ["sh", "-c", given.wrap], number, changes)
    else:
        own = tasks(given.array)
        counts = {**changes, "SLURM_ARRAY_TASK_COUNT": str(len(own))}
        status = sum(run(given, ["sh", given.script], number, {**counts, "SLURM_ARRAY_TASK_ID": str(task)})
                     for task in reversed(own))  # fmt: skip
    (JOBS / str(number)).write_text(str(status))
    print(number if given.parsable else f"Submitted batch job {number}")


if __name__ == "__main__":
    main()
