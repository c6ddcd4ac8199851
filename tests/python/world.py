"""What the tests of the Python package share: the package and library of this checkout, small models,
samples, and an account of checks."""

import contextlib
import os
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("BUILD", "build")
INSTALLED = os.environ.get("BARYON_INSTALLED")  # the program of a package that pip installed, which is tested instead
PROGRAM = pathlib.Path(INSTALLED or ROOT / "build/baryon")
for folder in (*([] if INSTALLED else ["python"]), "tests", "tests/diff"):
    sys.path.insert(0, str(ROOT / folder))
if not INSTALLED:
    os.environ.setdefault("BARYON_LIBRARY", str(BUILD / "libbaryon.so.0"))
    os.environ["PYTHONPATH"] = str(ROOT / "python")

import numpy as np  # noqa: E402

import cli_models  # noqa: E402
from dump import Score  # noqa: E402, F401


def samples(count=8, name="image", shape=(1, 3, 8, 8), seed=0):
    rng = np.random.default_rng(seed)
    return [{name: rng.normal(size=shape).astype(np.float32)} for _ in range(count)]


@contextlib.contextmanager
def workplace():
    """A folder with model.onnx, where the test is meanwhile."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        cli_models.net(batch=1)
        yield
        os.chdir("/")


class Reader:
    """As in the documentation of readers: comes once, unless it is told to begin again."""

    def __init__(self, data):
        self.data, self.iterator, self.given = data, None, 0

    def get_next(self):
        if self.iterator is None:
            self.iterator = iter(self.data)
        self.given += 1
        return next(self.iterator, None)


class Again(Reader):
    def rewind(self):
        self.iterator = None


def raised(call, *arguments, **options):
    """What a call raises, None when it does not."""
    try:
        call(*arguments, **options)
    except BaseException as failure:
        return failure
    return None


def raises(score, kind, text, call, *arguments, **options):
    failure = raised(call, *arguments, **options)
    good = isinstance(failure, kind) and text in str(failure)
    return score.check(good, f"{kind.__name__} with {text!r} is expected, not {type(failure).__name__}: {failure}")
