"""Writes evaluate/: small results in two folders, and what Quark's own tool says of them.

Needs amd-quark and opencv-python-headless (`make peers`). The answers are stored, so that no test
needs either: tests/diff/test_evaluate.py and tests/python/test_seeds.py read them.

    build/peers/bin/python tests/golden/make_evaluate.py
"""

import contextlib
import io
import json
import pathlib
import shutil

import cv2
import numpy as np
from quark.onnx.tools import evaluate

FOLDER = pathlib.Path(__file__).parent / "evaluate"
MEASURES = {"cosine": evaluate.calculate_cos, "l2": evaluate.calculate_l2_distance,
            "psnr": evaluate.calculate_psnr, "ssim": evaluate.calculate_ssim}  # fmt: skip
rng = np.random.default_rng(29)


def arrays():
    """Name, baseline, result."""
    for shape in ((9,), (1, 40), (40, 1), (5, 7), (2, 2), (3, 4, 5), (16, 18, 3), (12, 9, 7), (1, 20, 20), (24, 31)):
        one = (rng.normal(size=shape) * 50).astype(np.float32)
        yield "x".join(map(str, shape)), one, one + rng.normal(size=shape).astype(np.float32)
    base = rng.normal(size=(14, 13)) * 40
    for kind in ("f2", "f8", "i1", "u1", "i2", "i4", "i8"):
        made = base.astype("f8") if kind[0] != "u" else np.abs(base)
        yield kind, made.astype(kind), (made + rng.normal(size=base.shape)).astype(kind)
    yield "same", base, base
    yield "one-value", np.full((12, 12), 3.0), np.full((12, 12), 4.0)
    yield "negative", -np.abs(base) - 1, -np.abs(base)
    yield "far-off", base + 1e5, base + 1e5 + rng.normal(size=base.shape)
    yield "two-types", np.abs(base).astype("f4"), np.abs(base).astype("u1")


def odd_arrays():
    """What the tool has no number for."""
    base = rng.normal(size=(12, 11))
    nan, infinite = base.copy(), base.copy()
    nan[3, 4], infinite[5, 6] = np.nan, np.inf
    yield "zero-baseline", base * 0, base
    yield "zero-result", base, base * 0
    yield "both-zero", base * 0, base * 0
    yield "nan-baseline", nan, base
    yield "nan-result", base, nan
    yield "inf-baseline", infinite, base
    yield "inf-result", base, infinite


def pictures():
    y, x = np.mgrid[0:15, 0:22]

    def make(noise, channels, most=255):
        planes = [127 + 90 * np.sin(x / (3.0 + k) + y / 7) + rng.normal(0, noise, x.shape) for k in range(channels)]
        return np.clip(np.stack(planes, -1) * most / 255, 0, most).astype("u1" if most == 255 else "u2")

    for name, channels, most in (("rgb.png", 3, 255), ("gray.png", 1, 255), ("alpha.png", 4, 255),
                                 ("gray16.png", 1, 65535), ("rgb16.png", 3, 65535),
                                 ("rgb.jpg", 3, 255), ("gray.jpg", 1, 255)):  # fmt: skip
        yield name, make(0, channels, most), make(9, channels, most)


def save(folder, pairs):
    for which in ("one", "two"):
        (folder / which).mkdir(parents=True)
    for name, *both in pairs:
        for which, array in zip(("one", "two"), both):
            if "." in name:
                cv2.imwrite(str(folder / which / name), array)
            else:
                np.save(folder / which / f"{name}.npy", array)


def load(path):
    return np.load(path) if path.suffix == ".npy" else cv2.imread(str(path))


def number(value):
    return float(value) if np.isfinite(value) else None


def answers(folder):
    """What it prints, as numbers, and what is behind that, file by file."""
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        evaluate.main(str(folder / "one"), str(folder / "two"))
    lines = [line.rpartition(": ") for line in told.getvalue().splitlines()]
    files = {}
    for path in sorted((folder / "one").iterdir()):
        one, two = load(path), load(folder / "two" / path.name)
        files[path.name] = {name: number(measure(one, two)) for name, measure in MEASURES.items()}
    return {"lines": {label: number(float(value)) for label, _, value in lines}, "files": files}


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    save(FOLDER / "plain", [*arrays(), *pictures()])
    save(FOLDER / "odd", odd_arrays())
    told = {name: answers(FOLDER / name) for name in ("plain", "odd")}
    (FOLDER / "answers.json").write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
