"""Calibration methods on the raw values, with NumPy, and onnxruntime's own collectors."""

import collections
import contextlib
import io
import json
import math

import numpy as np
from onnxruntime.quantization.calibrate import HistogramCollector

FLT_MIN, FLT_MAX = (float(x) for x in (np.finfo("f4").tiny, np.finfo("f4").max))


class Target(collections.namedtuple("Target", "qmin qmax symmetric pow2")):
    def word(self):
        return f"{self.qmin},{self.qmax},{int(self.symmetric)},{int(self.pow2)}"


S8, S8_SYM, U8 = Target(-128, 127, 0, 0), Target(-127, 127, 1, 0), Target(0, 255, 0, 0)
S8_POW2, U8_POW2 = Target(-127, 127, 1, 1), Target(0, 255, 1, 1)
S16_POW2, S16 = Target(-32767, 32767, 1, 1), Target(-32768, 32767, 0, 0)


class Ours:
    """What tests/tools/calib_dump answers for samples kept in files."""

    def __init__(self, dump, folder):
        self.dump, self.folder, self.files, self.tensors = dump, folder, [], 0

    def keep(self, samples):
        for file in self.files:
            file.unlink()
        self.tensors += 1
        self.files = [self.folder / f"{self.tensors}-{i}.npy" for i in range(len(samples))]
        for file, sample in zip(self.files, samples):
            np.save(file, sample)

    def all(self, target, order=None, method="all", **options):
        """What each method chooses; options are those of methods, with _ for -."""
        files = [self.files[i] for i in order] if order is not None else self.files
        word = target if isinstance(target, str) else target.word()
        given = ";".join(f"{name.replace('_', '-')}={str(value).lower()}" for name, value in options.items())
        return json.loads(self.dump.line(word, given or "-", method, *files))

    def ask(self, method, target, **options):
        """What one of them chooses."""
        return self.all(target, method=method, **options)[method]


def scale_of(low, high, target):
    """Scale and zero point of a range."""
    half = FLT_MAX / 2
    low, high = max(min(float(low), 0), -half), min(max(float(high), 0), half)
    if target.symmetric:
        high = max(-low, high)
        low = -high
    scale = (high - low) / (target.qmax - target.qmin)
    if scale < FLT_MIN:
        return 1.0, 0
    zero = int(np.rint(target.qmin - low / scale))
    if target.symmetric and target.qmin == 0:
        zero = (target.qmax + 1) // 2
    if target.pow2:
        return 2.0 ** -int(np.rint(-math.log2(scale))), zero
    return float(np.float32(scale)), zero


def error(values, scale, zero, target, power=2):
    """Mean of |x - q(x)|^power over the values."""
    x = values.astype("f8")
    q = np.clip(np.rint(x / scale) + zero, target.qmin, target.qmax)
    return float(np.mean(np.abs((q - zero) * scale - x) ** power))


def error_of_range(values, low, high, target, power=2):
    return error(values, *scale_of(low, high, target), target, power)


def percentile(values, percent, symmetric):
    """By sorting."""
    def at(sorted_values, part):
        return sorted_values[min(max(math.ceil(part * len(sorted_values) * (1 - 1e-12)), 1),
                                 len(sorted_values)) - 1]
    low, high = min(values.min(), 0), max(values.max(), 0)
    if symmetric:
        t = at(np.sort(np.abs(values)), percent / 100)
        return max(-t, low), min(t, high)
    part = 1 - (100 - percent) / 200
    return min(-at(np.sort(-values), part), 0), max(at(np.sort(values), part), 0)


def pow2_positions(target, low, high):
    scale, zero = scale_of(low, high, target)
    base = -int(math.log2(scale))
    return [(p, 2.0**-p, zero) for p in range(base - 1, base + 4)]


def pow2_by_histogram(values, target, bins=2048):
    """The position found on the middles of a histogram of all values."""
    counts, edges = np.histogram(values.astype("f8"), bins)
    centers = ((edges[:-1] + edges[1:]) / 2).astype("f4").astype("f8")
    best = None
    for position, scale, zero in pow2_positions(target, values.min(), values.max()):
        q = np.clip(np.rint(centers / scale) + zero, target.qmin, target.qmax)
        found = float(np.sum(counts * ((q - zero) * scale - centers) ** 2))
        if best is None or found < best[0]:
            best = found, position
    return best[1]


def pow2_by_values(values, target):
    found = [(error(values, s, z, target), p)
             for p, s, z in pow2_positions(target, values.min(), values.max())]
    return min(found, key=lambda pair: pair[0])


def pow2_by_most(samples, target):
    """The position that is best for most samples, and how many samples find each nearly as good as their best."""
    votes, nearly = collections.Counter(), collections.Counter()
    for sample in samples:
        if not sample.any():
            continue
        found = [(error(sample, s, z, target), p) for p, s, z in pow2_positions(target, sample.min(), sample.max())]
        best = min(found, key=lambda pair: pair[0])
        votes[best[1]] += 1
        nearly.update(p for e, p in found if e <= best[0] * 1.02)
    most = max(votes.values(), default=0)
    return max((p for p, count in votes.items() if count == most), default=None), most, nearly


def best_range(values, target, steps=40):
    """The least mean squared error of ranges on a grid."""
    low, high = min(values.min(), 0), max(values.max(), 0)
    factors = np.concatenate([np.linspace(1, 0.3, steps), np.geomspace(0.3, 0.003, steps // 2)])
    if target.symmetric or low == 0 or high == 0:
        return min(error_of_range(values, low * f, high * f, target) for f in factors)
    coarse = factors[::3]
    return min(error_of_range(values, low * f, high * g, target) for f in coarse for g in coarse)


def smoothed(p):
    filled = p != 0
    return np.where(filled, p - 1e-4 * (~filled).sum() / filled.sum(), 1e-4)


def entropy_reach(values, bins, levels=128):
    """The reach of the least Kullback-Leibler divergence, and the width of a bin."""
    reach = float(np.abs(values).max())
    counts = np.histogram(values.astype("f8"), bins, (-reach, reach))[0].astype("f8")
    width, middle, found = 2 * reach / bins, bins // 2, []
    for half in range(levels // 2, middle + 1):
        start, end = middle - half, min(middle + half + 1, bins)
        part = counts[start:end]
        p = part.copy()
        p[0] += counts[:start].sum()
        p[-1] += counts[end:].sum()
        merged = len(p) // levels
        level = np.minimum(np.arange(len(p)) // merged, levels - 1)
        sums = np.bincount(level, part, levels)
        filled = np.bincount(level, p != 0, levels)
        q = np.where(p != 0, (sums / np.maximum(filled, 1))[level], 0)
        if q.any():
            p, q = smoothed(p), smoothed(q)
            p, q = p / p.sum(), q / q.sum()
            found.append((float(np.sum(p * np.log(p / q))), min((end - middle) * width, reach)))
        else:
            found.append((math.inf, min((end - middle) * width, reach)))
    return min(found)[1], width


def runtime_range(samples, method, symmetric=False, bins=2048, levels=128, percent=99.999):
    """onnxruntime's collector, one call a sample."""
    collector = HistogramCollector(method, symmetric, bins, levels, percent, "same")
    with contextlib.redirect_stdout(io.StringIO()):
        for sample in samples:
            collector.collect({"x": sample.ravel()})
        found = collector.compute_collection_result()["x"]
    if method == "distribution":
        return float(found.std)
    return float(found[0]), float(found[1])
