"""Calibration methods beside computations on the raw values and onnxruntime's collectors.

    test_calib.py          made up tensors, and some of real models; LONG=1: more of both
    test_calib.py --all    all tensors of the models
"""

import collections
import json
import os
import pathlib
import sys
import tempfile

import calib_data
import numpy as np
from calib_oracle import (S8, S8_POW2, S8_SYM, S16_POW2, U8, U8_POW2, Ours, best_range,
                          entropy_reach, error, error_of_range, percentile, pow2_by_histogram, pow2_by_most,
                          pow2_by_values, runtime_range, scale_of)
from dump import Dump, Score

MODELS = pathlib.Path(os.environ.get("MODELS", "build/zoo/models"))
PAGE = pathlib.Path("docs/calibration.md")
GOLDEN = pathlib.Path(__file__).parent.parent / "golden/calib"
PART = 1 if os.environ.get("LONG") else 4  # of the distributions, one in so many for searches in float
MOST_VALUES = 200_000  # of a tensor; of greater ones every nth
rng = np.random.default_rng(7)


def near(a, b, tolerance):
    return abs(a - b) <= tolerance


class Tensor:
    """One tensor: its samples, all values, and counts of what agrees."""

    def __init__(self, ours, score, tally, what, samples):
        self.ours, self.score, self.tally, self.what = ours, score, tally, what
        self.samples = [np.ascontiguousarray(s, "f4") for s in samples]
        self.values = np.concatenate([s.ravel() for s in self.samples])
        self.reach = float(np.abs(self.values).max())
        ours.keep(self.samples)

    def check(self, good, what):
        self.score.check(good, f"{self.what}: {what}")

    def count(self, name, good):
        self.tally[name].append(bool(good))

    def minmax(self):
        low, high = min(self.values.min(), 0), max(self.values.max(), 0)
        for target in (S8, S8_SYM, U8, S8_POW2, U8_POW2):
            found = self.ours.ask("minmax", target)
            self.check((found["low"], found["high"]) == (low, high), f"minmax {found}")
            scale, zero = scale_of(low, high, target)
            self.check((found["scale"], found["zero_point"]) == (scale, zero),
                       f"scale of minmax {found}, wanted {scale} {zero}")
        mean_low = np.mean([float(s.min()) for s in self.samples])
        mean_high = np.mean([float(s.max()) for s in self.samples])
        found = self.ours.ask("minmax", S8, moving_average=True)
        self.check(near(found["low"], min(mean_low, 0), 1e-6 * self.reach) and
                   near(found["high"], max(mean_high, 0), 1e-6 * self.reach), f"means {found}")

    def percentiles(self):
        bin_width = self.reach / 2048
        for symmetric in (1, 0):
            for percent in (99, 99.9, 99.99, 99.999, 100):
                found = self.ours.ask("percentile", S8, percentile=percent, percentile_symmetric=bool(symmetric))
                low, high = percentile(self.values, percent, symmetric)
                if low == high:  # nearly all are zeros: ours keeps the range
                    low, high = min(self.values.min(), 0), max(self.values.max(), 0)
                good = (near(found["low"], low, bin_width) and near(found["high"], high, bin_width))
                self.check(good, f"percentile {percent} {symmetric}: {found}, wanted {low} {high}")
        if len(self.samples) == 1 and self.values.min() < self.values.max():
            found = self.ours.ask("percentile", S8)
            low, high = runtime_range(self.samples, "percentile", True)
            self.count("percentile within a bin of onnxruntime's",
                       near(found["low"], min(low, 0), 1.01 * bin_width) and
                       near(found["high"], max(high, 0), 1.01 * bin_width))

    def layerwise(self):
        for power, metric in ((1, "mae"), (2, "mse")):
            for target in (S8, S8_SYM):
                found = self.ours.ask("layerwise-percentile", target, layerwise_metric=metric,
                                      percentile_candidates="99,99.9,99.99")
                ours = error_of_range(self.values, found["low"], found["high"], target, power)
                theirs = min(error_of_range(self.values, *percentile(self.values, p, True), target,
                                            power) for p in (99, 99.9, 99.99))
                self.check(ours <= theirs * 1.02 + 1e-5 * self.reach ** power,
                           f"layerwise percentile {target}: error {ours}, best {theirs}")

    def power_of_two(self):
        for target in (S8_POW2, U8_POW2, S16_POW2):
            found = self.ours.ask("minmse-pow2", target)
            best, position = pow2_by_values(self.values, target)
            theirs = pow2_by_histogram(self.values, target)
            same = found["position"] == theirs
            bits = 16 if target is S16_POW2 else 8
            self.count(f"pow2 minmse: position of a histogram's, {bits} bits", same)
            self.count(f"pow2 minmse: position of the raw values', {bits} bits",
                       found["position"] == position)
            ours = error(self.values, found["scale"], found["zero_point"], target)
            if not same and (bits == 8 or self.values.size > 1000):
                other = error(self.values, 2.0**-theirs, found["zero_point"], target)
                self.check(ours <= other * 1.0001, f"pow2 {target}: error {ours} at "
                           f"{found['position']}, {other} at {theirs}")
            if bits == 8 or self.values.size > 1000:
                self.check(ours <= best * 1.02 + 1e-12 * self.reach**2,
                           f"pow2 {target}: error {ours} at {found['position']}, {best} at "
                           f"{position}")

    def power_of_two_of_samples(self):
        """Each sample votes by itself. Ours by bins: of positions that are nearly as good either may get a vote."""
        for target in (S8_POW2, U8_POW2, S16_POW2):
            found = self.ours.ask("minmse-pow2-common", target)
            position, most, nearly = pow2_by_most(self.samples, target)
            bits = 16 if target is S16_POW2 else 8
            self.count(f"pow2 of most samples: position of the raw values', {bits} bits", found["position"] == position)
            if bits == 8 or min(s.size for s in self.samples) > 1000:
                self.check(found["position"] == position or nearly[found["position"]] >= most,
                           f"pow2 of most samples, {target}: {found['position']}, wanted {position} of {most}, {nearly}")

    def float_scale(self):
        for target in (S8, S8_SYM, U8):
            found = self.ours.ask("minmse", target)
            ours = error_of_range(self.values, found["low"], found["high"], target)
            best = best_range(self.values, target)
            self.check(ours <= best * 1.01 + 1e-9 * self.reach**2,
                       f"minmse {target}: error {ours}, best of a grid {best}")
            self.check(near(found["least"], ours, 0.02 * ours + 1e-7 * self.reach**2),
                       f"minmse {target}: says {found['least']}, is {ours}")

    def entropy(self):
        low, high = runtime_range(self.samples, "entropy", bins=128)
        found = self.ours.ask("entropy", S8)
        ratio = max(found["high"], -found["low"]) / max(high, -low)
        self.count("entropy within 2 % of onnxruntime's", 0.98 <= ratio <= 1.02)
        for bins in (256, 512, 1024):
            reach, width = entropy_reach(self.values, bins)
            found = self.ours.ask("entropy", S8, entropy_bins=bins)
            # A range that ends at an extreme may do so by either end.
            self.count("entropy within a bin of the histogram's of all values",
                       near(max(found["high"], -found["low"]), reach, 1.01 * width))

    def distribution(self):
        found = self.ours.ask("distribution", "float,448")
        deviation = float(np.std(self.values.astype("f8")))
        if deviation > 1e-6 * self.reach:
            wanted = deviation / deviation_of_float8()
            # Sums are made in single precision: what is far from 0 beside its deviation suffers.
            mean = abs(float(np.mean(self.values.astype("f8"))))
            tolerance = 1e-5 + 2e-8 * (mean / deviation) ** 2
            self.check(near(found["scale"], wanted, tolerance * wanted),
                       f"distribution {found}, wanted {wanted}")

    def distribution_of_cubes(self):
        found = self.ours.ask("distribution-p3", "float,448")
        roots = np.cbrt(self.values.astype("f8"))
        deviation, reach = float(np.std(roots)), float(np.abs(roots).max())
        if deviation > 1e-3 * reach:
            wanted = deviation / deviation_of_float8()
            # A few do not lie evenly in their bins: each root is off by up to half a bin, a third of the value's.
            tolerance = 1e-3 if self.values.size >= 12 else max(1e-3, reach / (3 * 4096) / deviation)
            self.check(near(found["scale"], wanted, tolerance * wanted), f"distribution-p3 {found}, wanted {wanted}")

    def deviations(self):
        values = self.values.astype("f8")
        mean, deviation = values.mean(), values.std()
        for count in (1, 4):
            found = self.ours.ask("stddev", S8, stddev_count=count)
            low, high = min(values.min(), 0), max(values.max(), 0)
            if deviation > 1e-3 * self.reach:
                low, high = max(mean - count * deviation, low), min(mean + count * deviation, high)
            self.check(near(found["low"], min(low, 0), 1e-4 * self.reach) and
                       near(found["high"], max(high, 0), 1e-4 * self.reach), f"stddev {count}: {found}, {low} {high}")

    def power_of_two_of_most(self):
        """
        The values above the percentile are dropped, the rest is as without. It may lie between two values
        (numpy) or on one, and in a bin with both: ours is the best without the last one or with it.
        """
        for symmetric, percent in ((1, 99.9), (1, 90), (0, 99)):
            sizes = np.abs(self.values) if symmetric else self.values
            high = np.percentile(sizes, percent if symmetric else 50 + percent / 2)
            low = -high if symmetric else np.percentile(sizes, 50 - percent / 2)
            ends = ((low, high), percentile(self.values, percent, symmetric))
            rests = [self.values[(self.values >= low) & (self.values <= high)] for low, high in ends]
            if low == high or rests[0].size < 100:
                continue
            found = self.ours.ask("minmse-pow2-percentile", S8_POW2, percentile=percent,
                                  percentile_symmetric=bool(symmetric))
            errors = [(error(rest, found["scale"], found["zero_point"], S8_POW2), pow2_by_values(rest, S8_POW2)[0])
                      for rest in rests]
            self.check(any(ours <= best * 1.02 + 1e-12 * self.reach**2 for ours, best in errors),
                       f"pow2 of {percent} %: at {found['position']} errors and best {errors}")

    def any_order(self):
        files = list(range(len(self.samples)))
        for target in (S8, S8_POW2, "float,448"):
            self.check(self.ours.all(target) == self.ours.all(target, order=files[::-1]),
                       "another order gives another answer")


def deviation_of_float8():
    import ml_dtypes
    numbers = np.arange(256, dtype="u1").view(ml_dtypes.float8_e4m3fn).astype("f8")
    return float(np.std(numbers[np.isfinite(numbers)]))


def made_up(ours, score, tally):
    for number, (name, make) in enumerate(calib_data.distributions(rng).items()):
        for size, count in ((12, 1), (900, 3), (20000, 1)):
            samples = calib_data.samples(make, size, count, rng)
            tensor = Tensor(ours, score, tally, f"{name} {count}x{size}", samples)
            tensor.minmax()
            tensor.percentiles()
            tensor.layerwise()
            tensor.power_of_two()
            tensor.power_of_two_of_samples()
            tensor.any_order()
            tensor.distribution(); tensor.distribution_of_cubes(); tensor.power_of_two_of_most(); tensor.deviations()
            if size == 20000 and number % PART == 0:
                tensor.float_scale()
            if size == 20000 and number % min(PART, 2) == 0 and name != "constant":
                tensor.entropy()


def golden(ours, score, tally):
    """What quark.onnx's collectors chose; tests/golden/make_calib.py wrote it."""
    arrays = np.load(GOLDEN / "samples.npz")
    for name, wanted in json.loads((GOLDEN / "answers.json").read_text()).items():
        tensor = Tensor(ours, score, tally, f"golden {name}", arrays[name].astype("f4"))
        bin_width = 1.01 * tensor.reach / 2048
        for symmetric, key in ((1, "percentile"), (0, "asymmetric")):
            found = ours.ask("percentile", S8, percentile=99.9, percentile_symmetric=bool(symmetric))
            low, high = wanted[key]
            width = bin_width if symmetric else 2 * bin_width
            if (name, key) == ("growing", "percentile"):
                # Its bins grow with later samples, and the greatest value falls out of them.
                low, high = percentile(tensor.values, 99.9, True)
            tensor.check(near(found["low"], min(low, 0), width) and
                         near(found["high"], max(high, 0), width), f"{key} {found}, {low} {high}")
        for target, kind in ((S8_POW2, "s8"), (U8_POW2, "u8")):
            found = ours.ask("minmse-pow2", target)["position"]
            tensor.check(found == wanted["positions"][kind], f"position {found}")
            found = ours.ask("minmse-pow2-common", target)["position"]
            tensor.check(found == wanted["common"][kind], f"position of most {found}")
        found = ours.ask("distribution", "float,448")["scale"] * deviation_of_float8()
        tensor.check(near(found, wanted["deviation"], 0.01 * found), f"deviation {found}")
        reach = max(wanted["entropy"][1], -wanted["entropy"][0])
        found = ours.ask("entropy", S8)
        tensor.count("entropy within 10 % of quark.onnx's",
                     near(max(found["high"], -found["low"]), reach, 0.1 * reach))


def documented(dump, score):
    """The manual has a row for each method, which names its options."""
    rows = {line.split("`")[1]: line for line in PAGE.read_text().splitlines() if line.startswith("| `")}
    for method, options in json.loads(dump.line("rows")).items():
        score.check(method in rows, f"{PAGE} has no row of {method}")
        for option in options:
            score.check(f"`--{option}`" in rows.get(method, ""), f"{PAGE} has no --{option} in the row of {method}")


def thinned(samples):
    size = sum(s.size for s in samples)
    step = -(-size // MOST_VALUES)
    return [s.ravel()[::step] for s in samples]


def real(ours, score, tally, most):
    models = collections.Counter()
    for model, name, samples in calib_data.zoo(MODELS, most):
        samples = thinned(samples)
        if not all(np.isfinite(s).all() for s in samples):
            continue
        models[model] += 1
        tensor = Tensor(ours, score, tally, f"{model} {name}", samples)
        if tensor.reach < 1e-30:
            continue
        tensor.minmax()
        tensor.percentiles()
        tensor.power_of_two()
        tensor.power_of_two_of_samples()
        tensor.distribution(); tensor.distribution_of_cubes(); tensor.power_of_two_of_most(); tensor.deviations()
    print(", ".join(f"{model} {count}" for model, count in models.items()), "tensors")


# Least parts that agree.
WANTED = {
    "entropy within 10 % of quark.onnx's": 0.6,  # which depend on the order of samples
    "percentile within a bin of onnxruntime's": 1,
    "pow2 minmse: position of a histogram's, 8 bits": 0.97,
    "pow2 minmse: position of the raw values', 8 bits": 0.97,
    "pow2 of most samples: position of the raw values', 8 bits": 0.97,
    "entropy within 2 % of onnxruntime's": 1,
    "entropy within a bin of the histogram's of all values": 0.85,
}


def main():
    every = "--all" in sys.argv
    score, dump = Score(), Dump("calib_dump")
    tallies = {kind: collections.defaultdict(list) for kind in ("golden", "made up", "real")}
    with tempfile.TemporaryDirectory() as folder:
        ours = Ours(dump, pathlib.Path(folder))
        documented(dump, score)
        golden(ours, score, tallies["golden"])
        made_up(ours, score, tallies["made up"])
        if MODELS.exists():
            real(ours, score, tallies["real"], None if every else 12 // PART)
    for kind, tally in tallies.items():
        for name, hits in tally.items():
            part = np.mean(hits)
            print(f"{kind}: {name}: {part:.2%} of {len(hits)}")
            score.check(part >= WANTED.get(name, 0), f"{name}: {part:.2%}")
    score.check(dump.close() == 0, "the program ends well")
    return score.finish()


if __name__ == "__main__":
    sys.exit(main())
