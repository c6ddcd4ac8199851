"""The metrics of Quark's searches: of all outputs of a sample in a row, float ones against quantized ones.

AutoSearch and AutoSearchPro mean other things by the same names. Here cos, psnr and ssim are better when
they are greater; Quark minimizes them."""

import numpy as np

GREATER = ("cos", "psnr", "ssim")
AT_MOST_ONE = ("cos", "ssim")


def _mean_square(base, other):
    return np.mean(np.square(base - other))


def _cosine(base, other):
    """0 where one of them has no direction."""
    norms = np.linalg.norm(base) * np.linalg.norm(other)
    return np.dot(base, other) / norms if norms else None


def _half_cosine(base, other):
    cosine = _cosine(base, other)
    return 0.0 if cosine is None else 0.5 + 0.5 * cosine


def _psnr_of_bytes(base, other):
    error = _mean_square(base, other)
    return 100.0 if error < 1e-10 else 20 * np.log10(255) - 10 * np.log10(error)


def _psnr_of_peak(base, other):
    peak = np.max(base)
    return 20 * np.log10(peak if peak > 0 else 1e-10) - 10 * np.log10(_mean_square(base, other) or 1e-10)


def _ssim(base, other):
    """Of the whole, without windows."""
    small, smaller = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    means = (2 * base.mean() * other.mean() + small) / (base.mean() ** 2 + other.mean() ** 2 + small)
    return means * (2 * base.std() * other.std() + smaller) / (base.var() + other.var() + smaller)


METRICS = {
    "L2": _mean_square, "L1": lambda base, other: np.mean(np.abs(base - other)), "cos": _half_cosine,
    "psnr": _psnr_of_bytes, "ssim": _ssim,
}  # fmt: skip
METRICS_PRO = {
    "L2": lambda base, other: np.linalg.norm(base - other), "L1": lambda base, other: np.sum(np.abs(base - other)),
    "cos": lambda base, other: _cosine(base, other) or 0.0, "psnr": _psnr_of_peak, "ssim": _ssim,
}  # fmt: skip
