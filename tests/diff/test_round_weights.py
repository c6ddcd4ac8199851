"""Rounding that is solved where weights alone become integers: MatMulNBits, and DequantizeLinear in front of
layers. As test_round.py, from the written models alone; what layers read are floats here.
"""

import itertools
import subprocess

import numpy as np
from dump import BUILD, Score, some
from onnx import helper
from test_round import A8W8, LEVELS, SOLVED, Case, Written, left_alone, look, products, transposed, windows

BITS = {2: "2 bits", 4: "4 bits", 8: "8 bits"}
LEVELS.update({name: (0, 2**bits - 1) for bits, name in BITS.items()})


class Blocks(Written):
    """A model with MatMulNBits; its nodes by the names of those that they stand for."""

    def __init__(self, path):
        super().__init__(path)
        self.turned = {}
        for node in self.graph.node:
            if node.op_type == "MatMulNBits":
                at = {a.name: helper.get_attribute_value(a) for a in node.attribute}
                self.nodes[node.name.removesuffix(f"_Q{at['bits']}")] = node

    def reader(self, name):
        return next(node for node in self.graph.node if node.op_type == "MatMulNBits" and node.input[1] == name)

    def unpacked(self, packed, bits, count):
        shifts = np.arange(8 // bits, dtype="u1") * bits
        return (packed[..., None] >> shifts & (2**bits - 1)).reshape(*packed.shape[:-1], -1)[..., :count]

    def integers(self, name, axis):
        """[outputs][inputs], as a Gemm with transB has them."""
        node = self.reader(name)
        at = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        rows, columns, bits, block = at["N"], at["K"], at["bits"], at["block_size"]
        blocks = -(-columns // block)
        levels = self.unpacked(self.array(name).reshape(rows, -1), bits, blocks * block)
        zero = np.full((rows, blocks), 2 ** (bits - 1), "f8")
        if len(node.input) > 3 and node.input[3]:
            zero = self.unpacked(self.array(node.input[3]).reshape(rows, -1), bits, blocks).astype("f8")
        scale = self.array(node.input[2]).reshape(rows, blocks)
        scale, zero = (np.repeat(one, block, 1)[:, :columns] for one in (scale, zero))
        return levels[:, :columns].astype("f8"), scale, zero, BITS[bits]

    def bias(self, node):
        if len(node.input) < 6 or not node.input[5]:
            return None
        return self.array(node.input[5]).astype("f8"), 0.0, False


class Straight(Blocks):
    """As a MatMul, or a Gemm without transB, has them: by the shape that the float model's weight has."""

    turned_ones = ("turned", "no_bias_turned")

    def integers(self, name, axis):
        found = super().integers(name, axis)
        turned = name.split(".")[0] in self.turned_ones
        return *(one if turned else one.T for one in found[:3]), found[3]


class Alone(Case):
    """Without rounding that is solved no samples are taken."""

    def quantize(self, name, options):
        data = ["--data", f"{self.folder}/data"] if name == "solved" else []
        kept = [one for one in options if name == "solved" or one not in ("--bias-correction", "false")]
        done = subprocess.run(
            [BUILD / "baryon", "quantize", "--no-judge", self.model, "-q", "-f", "-o", f"{self.folder}/{name}.onnx", *data, *kept],
            capture_output=True, text=True)  # fmt: skip
        return self.score.check(done.returncode == 0, f"{self.what}: {done.stderr}")


class AloneInBlocks(Alone):
    written = Straight


LEVELS.update({"int2": (-1, 1), "uint2": (0, 3), "int3": (-3, 3), "uint3": (0, 7)})


def of_levels(name, base=Alone):
    """Where the type of the file has more levels than were asked for."""

    class Few(Written):
        def integers(self, constant, axis):
            return *super().integers(constant, axis)[:3], name

    class OfFew(base):
        written = Few

    return OfFew


WEIGHTS = ["--approach", "weights"]
CHANNEL = ["--weight-granularity", "channel"]
GROUPS = ["--weight-granularity", "group", "--group-size", "16"]
FORMS = {
    "int8": WEIGHTS,
    "int8 channel": [*WEIGHTS, *CHANNEL],
    "int4 channel": [*WEIGHTS, "--weight", "int4", *CHANNEL],
    "uint4 pow2": [*WEIGHTS, "--weight", "uint4", "--weight-scale", "pow2", *CHANNEL],
}
# In what the file has for them: int4, and int2 itself from opset 25 on.
FEW = {
    "int3": WEIGHTS,
    "int3 pow2": [*WEIGHTS, "--weight-scale", "pow2", "--domain", "microsoft"],
    "uint3 least squares": [*WEIGHTS, "--weight-method", "minmse"],
    "int2 least squares": [*WEIGHTS, "--weight-method", "minmse"],
    "uint2 at opset 25": [*WEIGHTS, "--opset", "25"],
    "int2 at opset 25": [*WEIGHTS, "--opset", "25", "--weight-method", "minmse"],
}
BESIDE_ACTIVATIONS = {"int3": A8W8, "uint2 least squares": [*A8W8, "--weight-method", "minmse"]}
NBITS = ["--preset", "MATMUL_NBITS", "--nbits-group", "16", "--extra-op-types", "Gemm"]
BLOCKS = {
    "blocks": NBITS,
    "blocks with zero points": [*NBITS, "--nbits-symmetric=false"],
    "blocks, least squares": [*NBITS, "--nbits-method", "minmse"],
    "blocks longer than rows": [*NBITS, "--nbits-group", "64"],
    "2 bits": [*NBITS, "--nbits", "2"],
    "8 bits": [*NBITS, "--nbits", "8", "--nbits-symmetric=false"],
}


def main():
    score = Score()
    for form, options in FORMS.items():
        for make in (windows, transposed, products):
            look(score, make, form, options, SOLVED[make], case_of=Alone)
    for form in ("int4", "uint4"):
        options = [*WEIGHTS, "--weight", form, *GROUPS]
        look(score, products, f"{form} groups", options, SOLVED[products], case_of=Alone)
    for (form, options), make in some(itertools.product(FEW.items(), (windows, transposed, products))):
        name = form.split()[0]
        look(score, make, form, [*options, "--weight", name, *CHANNEL], SOLVED[make], case_of=of_levels(name))
    for (form, options), make in itertools.product(BESIDE_ACTIVATIONS.items(), (windows, products)):
        name = form.split()[0]
        look(score, make, f"A8 {form}", [*options, "--weight", name, *CHANNEL], SOLVED[make],
             case_of=of_levels(name, Case))
    for name in ("int3", "uint2"):
        look(score, products, f"{name} groups", [*WEIGHTS, "--weight", name, *GROUPS], SOLVED[products],
             case_of=of_levels(name))
    look(score, left_alone, "int8 alone", WEIGHTS, ["solved"], case_of=Alone)
    for form, options in BLOCKS.items():
        look(score, products, form, options, SOLVED[products], case_of=AloneInBlocks)
    return score.finish()


if __name__ == "__main__":
    raise SystemExit(main())
