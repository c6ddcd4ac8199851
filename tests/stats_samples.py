"""Small files of statistics for cases: the seeds of the fuzz target, made by tests/tools/stats_make."""

import shutil
from pathlib import Path

SEEDS = Path(__file__).resolve().parent / "fuzz/corpus/stats"


def seed(name):
    """The bytes of one: part-BEGIN-END are samples [BEGIN, END) of 30, other-20-30 other data,
    votes-0-6 with votes of samples."""
    return (SEEDS / name).read_bytes()


def copy(**files):
    """copy(a="part-0-13") makes a.stats."""
    for name, source in files.items():
        shutil.copyfile(SEEDS / source, f"{name}.stats")


def damaged(path, offset, bits=1):
    """Flips bits of one byte of a file."""
    data = bytearray(Path(path).read_bytes())
    data[offset] ^= bits
    Path(path).write_bytes(data)
