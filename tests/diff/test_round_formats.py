"""Rounding that is solved in floats of fewer bits and in blocks. As test_round.py, from the written models alone: a
weight's grid follows from the float weights by the formats' definitions in NumPy and ml_dtypes, what was chosen has
to be one of its two neighbours there, and has to be left as it is by the format itself.
"""

import itertools

import ml_dtypes
import numpy as np
from dump import Score, some
from test_round import LEVELS, MIX, SOLVED, One, Written, look
from test_round_weights import Alone

# Every number of a type of few bits, and how far its greatest power of two is above 1.
ELEMENTS = {"fp8_e5m2": (ml_dtypes.float8_e5m2, 15), "fp8_e4m3": (ml_dtypes.float8_e4m3fn, 8),
            "fp6_e3m2": (ml_dtypes.float6_e3m2fn, 4), "fp6_e2m3": (ml_dtypes.float6_e2m3fn, 2),
            "fp4_e2m1": (ml_dtypes.float4_e2m1fn, 2)}
BITS = {"mx4": 2, "mx6": 4, "mx9": 7, "bfp16": 7, "mxint8": 7}  # of magnitudes
SIZES = {"mx4": 16, "mx6": 16, "mx9": 16, "bfp16": 8}


def exponents(values):
    """Of the float's own bits; -127 for zero."""
    return (np.abs(values).astype("f4").view("u4") >> 23).astype("i4") - 127


def numbers(kind):
    """All that are not negative, ascending."""
    bits = 8 * np.dtype(kind).itemsize
    codes = np.arange(2 ** (bits - 1), dtype=f"u{bits // 8}") if bits > 8 else np.arange(256, dtype="u1")
    with np.errstate(invalid="ignore"):
        values = codes.view(kind).astype("f8")
    return np.unique(values[np.isfinite(values) & (values >= 0)])


def around(sizes, grid):
    """Of the numbers of the grid the ones below and above; sizes beyond its end count as that."""
    held = np.minimum(sizes, grid[-1])
    above = np.searchsorted(grid, held)
    below = np.maximum(np.where(grid[above] == held, above, above - 1), 0)
    return held, grid[below], grid[above]


class Format:
    """The grid of a type around weights, blocks along an axis."""

    def __init__(self, name, axis):
        self.name, self.axis = name, axis

    def lines(self, values):
        """[line][block][element] with zeros behind the last one, and what leads back."""
        axis = 0 if values.ndim < 2 else self.axis
        size = SIZES.get(self.name, 32)
        moved = np.moveaxis(values, axis, -1)
        flat = moved.reshape(-1, moved.shape[-1])
        padded = np.pad(flat, ((0, 0), (0, -flat.shape[1] % size)))

        def back(found):
            found = found.reshape(len(flat), -1)[:, :flat.shape[1]]
            return np.moveaxis(found.reshape(moved.shape), -1, axis)

        return padded.reshape(len(flat), -1, size), back

    def units(self, blocks):
        """What 1 stands for in each element."""
        top = exponents(blocks).max(-1, keepdims=True)
        if self.name in ("mx4", "mx6", "mx9"):
            pairs = exponents(blocks.reshape(*blocks.shape[:-1], -1, 2)).max(-1)
            return np.exp2(top - np.repeat(np.minimum(top - pairs, 1), 2, -1))
        return np.exp2((top - ELEMENTS[self.name[2:]][1] if self.name[2:] in ELEMENTS else top).astype("f8"))

    def grid(self):
        if self.name in BITS:
            return np.arange(2 ** BITS[self.name]) / 2 ** (BITS[self.name] - 1)
        return numbers({"bf16": ml_dtypes.bfloat16, "fp16": np.float16}.get(self.name)
                       or ELEMENTS[self.name.removeprefix("mx")][0])

    def neighbours(self, values):
        """Values within the format, the ones below and above, each with its sign."""
        values = values.astype("f8")
        if self.name in ("bf16", "fp16"):
            found = around(np.abs(values), self.grid())
        else:
            blocks, back = self.lines(values)
            units = self.units(blocks)
            found = [back(one * units) for one in around(np.abs(blocks) / units, self.grid())]
        return [np.copysign(one, values) for one in found]

    def leaves(self, values):
        """Those that it leaves as they are."""
        held, below, above = self.neighbours(values)
        return (held == values) & (below == above)


class Grid(Written):
    """Weights as whole numbers of steps, by the neighbours of the float weights."""

    kind, float = None, None

    def begin(self, name):
        """The constant that nodes of the format begin with, and the axis of its blocks."""
        axis = 1
        while name in self.makers:
            node = self.makers[name]
            axis = next((a.i for a in node.attribute if a.name == "axis"), axis)
            name = node.input[0]
        return name, axis

    def integers(self, name, axis):
        stored, axis = self.begin(name)
        values = self.array(stored).astype("f8")
        held, below, above = Format(self.kind, axis).neighbours(self.float.array(stored.removesuffix("_solved")))
        step = np.where(above == below, np.abs(above) + (above == 0), np.abs(above - below))
        if not stored.endswith("_solved"):
            values = nearest(held, below, above)
        self.form, self.held = Format(self.kind, axis), held / step
        return values / step, step, np.zeros(values.shape), "grid"

    def bias(self, node):
        if len(node.input) < 3 or not node.input[2]:
            return None
        stored, axis = self.begin(node.input[2])
        held, below, above = Format(self.kind, axis).neighbours(self.array(stored))
        step = np.maximum(np.abs(above - below), np.abs(held) * 2.0**-7)
        return nearest(held, below, above), step, stored != node.input[2]


def nearest(held, below, above):
    return np.where(np.abs(held - below) <= np.abs(held - above), below, above)


class OnGrid(One):
    def __init__(self, case, told):
        super().__init__(case, told)
        node = case.solved.nodes[self.name]
        case.solved.integers(node.input[1], 1)
        form = case.solved.form
        self.held = self.layer.ordered(case.solved.held)
        self.check(form.leaves(case.solved.array(case.solved.begin(node.input[1])[0])).all() or not told["kept"],
                   "values that the format does not leave as they are")
        if self.bias is not None and told["kept"]:
            stored, axis = case.solved.begin(node.input[2])
            self.check(Format(form.name, axis).leaves(case.solved.array(stored)).all(), "biases that it changes")

    def levels(self, scale):
        return self.held

    def unit(self, alone):
        """Steps differ by far; those that are tiny beside the others may be lost in rounding."""
        return np.broadcast_to(alone.mean(-1, keepdims=True), alone.shape)

    def mean(self, left, given):
        """Weights step again behind it, but with the bias as it is: less is left than before."""
        if not self.own:
            super().mean(left, given)

    def aim(self, mean_x, mean_y):
        """Means are mixed as all else is."""
        given = self.case.float.nodes[self.name].input
        if len(given) < 3 or self.case.fixed:
            return mean_y
        bias = self.case.float.array(given[2]).reshape(self.layer.groups, -1)
        return (1 - MIX) * mean_y + MIX * (bias + np.einsum("goc,gc->go", self.layer.weights, mean_x))


class Formats(Alone):
    layer = OnGrid

    def quantize(self, name, options):
        kind = self.what.split()[1]
        self.written = type(kind, (Grid,), {"kind": kind, "float": Written(self.model)})
        return super().quantize(name, options)

    def untouched(self, names):
        """Constants of solved layers have other names."""
        for name in self.nearest.constants.keys() & self.solved.constants.keys():
            self.check(name.rpartition(".")[0] in names or
                       np.array_equal(self.solved.array(name), self.nearest.array(name)), f"{name} is another one")


PRESETS = {"bfp16": "BFP16", "mx4": "MX4", "mx6": "MX6", "mx9": "MX9", "mxfp8_e5m2": "MXFP8E5M2",
           "mxfp8_e4m3": "MXFP8E4M3", "mxfp6_e3m2": "MXFP6E3M2", "mxfp6_e2m3": "MXFP6E2M3", "mxfp4_e2m1": "MXFP4E2M1",
           "mxint8": "MXINT8", "fp16": "FP16", "bf16": "BF16"}


def main():
    score = Score()
    LEVELS.update(dict.fromkeys(["grid"], (-(2**30), 2**30)))
    for (make, expected), (kind, preset) in some(itertools.product(SOLVED.items(), PRESETS.items()), 5):
        look(score, make, kind, ["--preset", preset, "--cle=off"], expected, case_of=Formats)
    return score.finish()


if __name__ == "__main__":
    raise SystemExit(main())
