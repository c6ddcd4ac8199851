"""Measures of `baryon evaluate` beside numpy and scikit-image, on random and hostile arrays.

PSNR and SSIM are scikit-image's (Gaussian weights, sigma 1.5, covariance of the whole population)
to 1e-6, the rest are formulas of numpy's in double. Those of --compat are Quark's, written down
here with scipy's Gaussian filter, which mirrors as OpenCV does; and what Quark's own tool said of
the folders in tests/golden/evaluate, in float32.
"""

import json
import math
import os
import pathlib
import subprocess
import tempfile

import numpy as np
from dump import Score
from scipy.ndimage import correlate1d
from skimage.metrics import peak_signal_noise_ratio, structural_similarity

BARYON = pathlib.Path(os.environ.get("BUILD", "build")) / "baryon"
GOLDEN = pathlib.Path("tests/golden/evaluate")
rng = np.random.default_rng(11)


def rows(folder, *options):
    """What is said of one/ and two/ in the folder."""
    done = subprocess.run(
        [BARYON, "evaluate", f"{folder}/one", f"{folder}/two", "--json", "-q", *options],
        stdout=subprocess.PIPE, check=True,
    )  # fmt: skip
    return {row["metric"]: row for row in json.loads(done.stdout)["scores"]}


def evaluate(one, two, *options):
    """All scores of one pair of arrays, by measure."""
    with tempfile.TemporaryDirectory() as folder:
        for name, array in (("one", one), ("two", two)):
            (pathlib.Path(folder) / name).mkdir()
            np.save(f"{folder}/{name}/a.npy", array)
        return {name: math.inf if row["mean"] is None else row["mean"] for name, row in rows(folder, *options).items()}


# ---- What others say


def planes(one, two, last):
    """Pairs of matrices, one a channel."""
    if one.ndim >= 3 and last:
        one, two = np.moveaxis(one, -1, -3), np.moveaxis(two, -1, -3)
    shape = one.shape[-2:] if one.ndim > 1 else (1, one.size)
    return zip(one.reshape(-1, *shape), two.reshape(-1, *shape))


def ssim(one, two, peak, last):
    return np.mean([
        structural_similarity(a, b, gaussian_weights=True, sigma=1.5, use_sample_covariance=False,
                              data_range=peak)
        for a, b in planes(one, two, last)
    ])  # fmt: skip


def ssim_compat(one, two):
    taps = np.exp(-np.arange(-5, 6) ** 2 / 4.5)
    taps /= taps.sum()
    values = []
    for x, y in planes(one, two, one.ndim == 3):
        mx, my, xx, yy, xy = (
            correlate1d(correlate1d(part, taps, 0, mode="mirror"), taps, 1, mode="mirror")
            for part in (x, y, x * x, y * y, x * y)
        )
        c1, c2 = 6.5025, 58.5225
        values.append(np.mean((2 * mx * my + c1) * (2 * xy + c2)
                              / ((mx**2 + my**2 + c1) * (xx + yy + c2) + 1e-10)))  # fmt: skip
    return np.mean(values)


def softmax(rows):
    powers = np.exp(rows - rows.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def distances(one, two, peak):
    error = np.mean((one - two) ** 2)
    noise = np.sum((one - two) ** 2)
    return {
        "cosine": np.sum(one * two) / math.sqrt(np.sum(one**2)) / math.sqrt(np.sum(two**2)),
        "l2": math.sqrt(noise),
        "max-error": np.max(np.abs(one - two)),
        "psnr": peak_signal_noise_ratio(one, two, data_range=peak) if error else math.inf,
        "sqnr": 10 * math.log10(np.sum(one**2) / noise) if noise else math.inf,
    }


def classes(one, two):
    order = np.argsort(-two, -1, kind="stable")
    best = np.argmax(one, -1)
    p, q = softmax(one), softmax(two)
    return {
        "top1": np.mean(order[:, 0] == best),
        "top5": np.mean((order[:, :5] == best[:, None]).any(-1)),
        "kl": np.mean(np.sum(p * np.log(p / q), -1)),
    }


# ---- Arrays

SHAPES = ((11, 11), (12, 40), (2, 3, 17, 23), (1, 64, 48, 3), (3, 31, 33), (40, 29, 3), (5, 1, 16, 16))


def pairs():
    """Names, arrays as they are saved, the peak."""
    for shape in SHAPES:
        one = rng.normal(size=shape)
        for scale, offset, noise in ((1, 0, 0.1), (1e-6, 0, 1e-8), (1e4, 1e6, 1), (1, 0, 0)):
            a = one * scale + offset
            b = a + noise * rng.normal(size=shape)
            for kind in ("f4", "f8"):
                x, y = a.astype(kind), b.astype(kind)
                yield f"{shape} {scale:g}+{offset:g} {kind}", x, y, float(np.ptp(x.astype("f8")))
        x = rng.integers(0, 256, shape).astype("u1")
        yield f"{shape} u1", x, np.clip(x + rng.integers(-9, 9, shape), 0, 255).astype("u1"), 255
        x = rng.integers(-30000, 30000, shape).astype("i2")
        yield f"{shape} i2", x, (x + rng.integers(-99, 99, shape)).astype("i2"), 65535
    flat = np.full((20, 20), 3.0)
    yield "constant", flat, flat + 0.5, 3.0
    edge = np.zeros((24, 24))
    edge[:, 12:] = 1
    yield "edge", edge, edge[:, ::-1].copy(), 1.0
    yield "opposite", edge + 1, -(edge + 1), 1.0
    spike = np.zeros((30, 30))
    spike[15, 15] = 1e30
    yield "spike", spike, spike * 0.5, 1e30
    for kind in ("f4", "f8"):
        most = 3e38 if kind == "f4" else 1e72
        for size in (most, 1 / most):
            x = np.linspace(-size, size, 400).reshape(20, 20).astype(kind)
            yield f"{size:g} {kind}", x, x[::-1].copy(), float(np.ptp(x.astype("f8")))
    for kind, least in (("i8", -(2**62)), ("u4", 0), ("f2", -60000)):
        x = np.linspace(least, 2.0**62 if kind == "i8" else 60000, 18 * 19).reshape(18, 19).astype(kind)
        yield f"wide {kind}", x, np.roll(x, 1), float(np.ptp(x.astype("f8")))
    stripes = np.tile([1.0, -1.0], (16, 8))
    yield "opposite stripes", stripes, -stripes, 2.0
    yield "one value off", stripes, np.where(np.arange(256).reshape(16, 16) == 100, 1e-12, 0) + stripes, 2.0


def close(got, wanted):
    return got == wanted or abs(got - wanted) <= 1e-6 * max(1, abs(wanted))


def compare(score, name, got, wanted):
    for metric, value in wanted.items():
        score.check(metric in got and close(got[metric], value), f"{name}: {metric} is {got.get(metric)}, {value} elsewhere")


def check_pictures(score):
    for name, one, two, peak in pairs():
        last = one.ndim >= 3 and one.shape[-1] <= 4
        got = evaluate(one, two)
        a, b = one.astype("f8"), two.astype("f8")
        compare(score, name, got, {**distances(a, b, peak), "ssim": ssim(a, b, peak, last)})


def check_options(score):
    one = rng.normal(size=(3, 20, 24))
    two = one + 0.2 * rng.normal(size=one.shape)
    got = evaluate(one, two, "--peak", "7.5", "--channels", "first")
    compare(score, "peak", got, {**distances(one, two, 7.5), "ssim": ssim(one, two, 7.5, False)})
    got = evaluate(one[:, :3], two[:, :3], "--channels", "last", "--peak", "2")
    five = [part[..., None].repeat(5, -1) * np.arange(1, 6) for part in (one[0, :12, :14], two[0, :12, :14])]
    got, first, last = (evaluate(*five, *options)["ssim"] for options in ((), ("--channels", "first"), ("--channels", "last")))
    score.check(got == first != last, "five channels are not last")
    got = evaluate(one[:, :3], two[:, :3], "--channels", "last", "--peak", "2")
    score.check(0 < got["ssim"] < 1, "a side shorter than the window has a similarity")


def check_compat(score):
    for shape in ((20, 30), (1, 1000), (16, 18, 3), (7, 5)):
        one = rng.normal(size=shape) * 100
        two = one + rng.normal(size=shape)
        error = np.mean((one - two) ** 2)
        got = evaluate(one, two, "--compat")
        wanted = {"psnr": 20 * math.log10(one.max()) - 10 * math.log10(error),
                  "ssim": ssim_compat(one, two)}  # fmt: skip
        compare(score, f"compat {shape}", got, wanted)
    same = np.full((12, 12), -1.0)
    got = evaluate(same, same, "--compat")
    compare(score, "compat, equal and negative", got, {"psnr": -100.0})


def check_quark(score):
    """Files one by one, and the eight numbers of a folder of arrays and pictures together."""
    told = json.loads((GOLDEN / "answers.json").read_text("utf-8"))

    def agree(name, got, wanted):
        same = got is wanted if None in (got, wanted) else abs(got - wanted) <= 1e-5 * max(1, abs(wanted))
        score.check(same, f"{name} is {got}, {wanted} by Quark's tool")

    for kind, answers in told.items():
        with tempfile.TemporaryDirectory() as folder:
            for name, wanted in answers["files"].items():
                for which in ("one", "two"):
                    place = pathlib.Path(folder) / name / which
                    place.mkdir(parents=True)
                    (place / name).symlink_to((GOLDEN / kind / which / name).resolve())
                got = rows(pathlib.Path(folder) / name, "--compat")
                for metric, value in wanted.items():
                    agree(f"{kind} {name}: {metric}", got[metric]["mean"], value)
        values = [row[which] for row in list(rows(GOLDEN / kind, "--compat").values())[:4] for which in ("mean", "worst")]
        for (label, wanted), got in zip(answers["lines"].items(), values):
            agree(f"{kind} {label}", got, wanted)


def check_ends(score):
    """Of double precision: what is tiny is nothing, what is huge is refused."""
    tiny = np.full((12, 12), 1e-80)
    got = evaluate(tiny, -tiny)
    score.check(got["cosine"] == 1 and got["l2"] == 0 and got["ssim"] == 1, f"tiny: {got}")
    with tempfile.TemporaryDirectory() as folder:
        for name in ("one", "two"):
            os.mkdir(f"{folder}/{name}")
            np.save(f"{folder}/{name}/a.npy", np.full(3, 1e200))
        done = subprocess.run([BARYON, "evaluate", f"{folder}/one", f"{folder}/two"], capture_output=True, check=False)
    score.check(done.returncode == 4 and b"a value is 1e+200" in done.stderr, f"huge: {done.stderr}")


def check_classes(score):
    for shape in ((1, 10), (17, 1000), (300, 6)):
        one = rng.normal(size=shape) * 3
        two = one + rng.normal(size=shape)
        compare(score, f"logits {shape}", evaluate(one, two, "--logits"), classes(one, two))
        p, q = softmax(one), softmax(two)
        compare(score, f"chances {shape}", evaluate(p, q), {"kl": np.mean(np.sum(p * np.log(p / q), -1))})
        score.check("kl" not in evaluate(one, two), f"{shape}: scores are no distribution")


def check_zeros(score):
    nothing, some = np.zeros(5), np.ones(5)
    for one, two, wanted in ((nothing, some, 0), (some, nothing, 0), (nothing, nothing, 1)):
        got = evaluate(one, two)["cosine"]
        score.check(got == wanted, f"the cosine of {one[0]} and {two[0]} is {got}, not {wanted}")


def check_equal_scores(score):
    """Of equal scores the first class counts; with five classes all are among the first five."""
    one = rng.integers(0, 4, (200, 8)).astype("f8")
    two = np.where(rng.random(one.shape) < 0.2, 3, one)
    wanted = {name: value for name, value in classes(one, two).items() if name != "kl"}
    compare(score, "equal scores", evaluate(one, two), wanted)
    score.check("top5" not in evaluate(one[:, :5], two[:, :5]) and "top5" in evaluate(one[:, :6], two[:, :6]),
                "top5 is a measure from six classes on")  # fmt: skip
    great = one * 1000
    compare(score, "great logits", evaluate(great, great[:, ::-1].copy(), "--logits"),
            {"kl": np.mean(np.sum(np.exp(log_softmax(great)) * (log_softmax(great) - log_softmax(great[:, ::-1])), -1))})  # fmt: skip


def log_softmax(rows):
    shifted = rows - rows.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def check_goals(score):
    """Errors of 0 and 1 in two files: what is just reached is reached, and the worst is one of them."""
    with tempfile.TemporaryDirectory() as folder:
        for name, error in (("one", 0), ("two", 1)):
            (pathlib.Path(folder) / name).mkdir()
            np.save(f"{folder}/{name}/a.npy", np.zeros(4))
            np.save(f"{folder}/{name}/b.npy", np.zeros(4) + error)
        for goal, reached in (("max-error=0.5", True), ("max-error=0.49", False), ("max-error.worst=1", True),
                              ("max-error.worst=0.75", False), ("max-error=0.75", True)):  # fmt: skip
            done = subprocess.run([BARYON, "evaluate", f"{folder}/one", f"{folder}/two", "-q", "--max", goal],
                                  capture_output=True, check=False)  # fmt: skip
            score.check((done.returncode == 0) == reached, f"--max {goal}: status {done.returncode}")


def main():
    score = Score()
    check_pictures(score)
    check_options(score)
    check_compat(score)
    check_quark(score)
    check_ends(score)
    check_classes(score)
    check_zeros(score)
    check_equal_scores(score)
    check_goals(score)
    return score.finish()


if __name__ == "__main__":
    raise SystemExit(main())
