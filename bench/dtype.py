"""Rounding to number formats, their codes and the way back: gigabytes a second, read and written, beside memcpy of the same values.

    dtype.py [--megabytes 256] [--threads 1,0] [--tries 7] [--write]

Values are normal ones in an array of rows of 1,024; what blocks share is not counted. 0 threads: all that the process may use; memcpy has one.
Best of the tries. --write: into results/dtype.md.
"""

import argparse
import datetime
import json
import os
import pathlib
import subprocess

from measure import machine

HERE = pathlib.Path(__file__).parent
TOOL = pathlib.Path(os.environ.get("BUILD", "build")) / "tests/tools/dtype_time"


def table(rows):
    """One run of the tool as Markdown."""
    run, copy, *formats = rows
    yield f"{run['threads']} threads, path {run['path']}, {run['megabytes']} MB; memcpy {copy['gbps']:.1f} GB/s"
    yield ""
    yield "| format | what | GB/s | of memcpy |"
    yield "|---|---|---|---|"
    for row in formats:
        yield f"| {row['format']} | {row['what']} | {row['gbps']:.1f} | {row['gbps'] / copy['gbps']:.2f} |"
    yield ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=256)
    parser.add_argument("--threads", default="1,0")
    parser.add_argument("--tries", type=int, default=7)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    lines = ["# Number formats", "", f"{datetime.date.today()}, {machine()}", ""]
    for threads in options.threads.split(","):
        done = subprocess.run([TOOL, str(options.megabytes), threads, str(options.tries)],
                              stdout=subprocess.PIPE, check=True)
        lines += table(json.loads(done.stdout))
    print("\n".join(lines))
    if options.write:
        (HERE / "results/dtype.md").write_text("\n".join(lines).rstrip() + "\n")


if __name__ == "__main__":
    main()
