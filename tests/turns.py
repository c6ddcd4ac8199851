"""Turns: what several runners of tests share, so that together they do not start more than
the machine can run. Without TURNS in the environment everybody has turns of their own.
"""

import atexit
import os
import shutil
import tempfile


def lay_out(count):
    """Makes so many turns for this process and all that it starts from here on."""
    folder = tempfile.mkdtemp(prefix="turns-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["TURNS"] = os.path.join(folder, "pipe")
    os.mkfifo(os.environ["TURNS"])
    os.write(Turns().pipe, b"." * count)  # which stays open, so that they stay in it


class Turns:
    """with turns: one is taken, and given back."""

    def __init__(self):
        path = os.environ.get("TURNS")
        self.pipe = os.open(path, os.O_RDWR) if path else None

    def __enter__(self):
        if self.pipe is not None:
            os.read(self.pipe, 1)

    def __exit__(self, *_):
        if self.pipe is not None:
            os.write(self.pipe, b".")
