"""Writes resize_cv/*.npz: what OpenCV's resize gives for two small pictures.

Needs the package opencv-python-headless (4.14 and 5.0 give the same bytes). The
results are stored, so that no test needs it: tests/unit/test_resize.c reads them.
"""

import pathlib

import cv2
import numpy as np

FILTERS = {"cv-nearest": cv2.INTER_NEAREST, "cv-linear": cv2.INTER_LINEAR,
           "cv-cubic": cv2.INTER_CUBIC, "cv-area": cv2.INTER_AREA}
SIZES = ((24, 18), (16, 12), (31, 20), (60, 45), (17, 70), (48, 10), (1, 1), (97, 8), (48, 72))
FOLDER = pathlib.Path(__file__).parent / "resize_cv"


def picture(width, height, channels):
    """Smooth colours, hard edges and noise."""
    rng = np.random.default_rng(11)
    y, x = np.mgrid[0:height, 0:width]
    planes = [127 + 90 * np.sin(x / (3.0 + c) + y / 7.0) + 60 * ((x // 8 + y // 8) % 2)
              + rng.normal(0, 12, (height, width)) for c in range(channels)]
    return np.clip(np.stack(planes, -1), 0, 255).astype(np.uint8)


def main():
    for name, source in (("rgb", picture(48, 36, 3)), ("gray", picture(37, 53, 1))):
        arrays = {"source": source}
        for filter_, value in FILTERS.items():
            for size in SIZES:
                result = cv2.resize(source, size, interpolation=value)
                arrays[f"{filter_}_{size[0]}x{size[1]}"] = result.reshape(size[1], size[0], -1)
        np.savez_compressed(FOLDER / f"{name}.npz", **arrays)


if __name__ == "__main__":
    main()
