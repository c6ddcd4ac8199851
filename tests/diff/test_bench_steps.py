"""bench/steps.py on a made network: the model that its steps leave without pairs is the float model, steps that change
nothing have no row, and what cannot be quantized says so."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from types import SimpleNamespace

import numpy as np
import onnx

sys.path[:0] = ["bench", "tests"]
import cli_models  # noqa: E402
import steps  # noqa: E402

BARYON = pathlib.Path(os.environ["BARYON"])
FEW = ["equalization", "wide activations", "headroom"]


def write_products(path):
    """Two products of matrices, whose inner channels differ by up to 64."""
    rng = np.random.default_rng(2)
    uneven = 2.0 ** (np.arange(16) % 7)
    weights = [cli_models.tensor("w1", (rng.standard_normal((8, 16)) * uneven).astype("f4")),
               cli_models.tensor("w2", (rng.standard_normal((16, 4)) / uneven[:, None]).astype("f4"))]
    nodes = [onnx.helper.make_node("MatMul", ["x", "w1"], ["p"], "one"), onnx.helper.make_node("Relu", ["p"], ["q"], "act"),
             onnx.helper.make_node("MatMul", ["q", "w2"], ["y"], "two")]
    cli_models.save(onnx.helper.make_graph(nodes, "g", [cli_models.value("x", [4, 8])], [cli_models.value("y", [4, 4])], weights),
                    path)


class Steps(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        (self.folder / "models").mkdir()
        write_products(self.folder / "models" / "net.onnx")
        rng = np.random.default_rng(1)
        for part in ("calib", "eval"):
            data = self.folder / "data" / "net" / part
            data.mkdir(parents=True)
            for i in range(4):
                np.savez(data / f"{i}.npz", x=rng.standard_normal((4, 8)).astype("f4"))
        self.args = SimpleNamespace(program=str(BARYON), zoo=str(self.folder), samples=4, judge=4, options=[], timeout=300,
                                    python=sys.executable, keep=None, library=[])
        kept = steps.STEPS
        self.addCleanup(setattr, steps, "STEPS", kept)
        steps.STEPS = {name: kept[name] for name in FEW}

    def test_rows(self):
        rows = list(steps.rows(self.args, "net", "A8W8", str(self.folder)))
        self.assertTrue(rows[0].startswith("| A8W8 | net | none | "), rows)
        for row in rows:
            cells = [cell.strip() for cell in row.split("|")[1:-1]]
            self.assertGreater(float(cells[3]), 10, row)
            self.assertEqual(cells[4], "100 %", row)
            self.assertTrue(cells[5] == "same" or float(cells[5]) > 100, row)
        found = [row.split("|")[4:] for row in rows]
        self.assertTrue(all(one != other for one, other in zip(found, found[1:])), rows)

    def test_a_model_without_pairs_is_the_float_model(self):
        written, plain = (str(self.folder / name) for name in ("q.onnx", "plain.onnx"))
        self.assertIsNone(steps.quantize(self.args, "net", "A8W8", FEW, written))
        self.assertTrue(steps.without_pairs(written, plain))
        kinds = [node.op_type for node in onnx.load(plain).graph.node]
        self.assertEqual(kinds, ["MatMul", "Relu", "MatMul", "Identity"])
        onnx.checker.check_model(plain)

    def test_integers_without_floats_leave_no_float_model(self):
        model, written = str(self.folder / "image.onnx"), str(self.folder / "q.onnx")
        cli_models.net(model)  # whose biases are integers alone
        done = subprocess.run([BARYON, "quantize", model, "-o", written, "-q", "--random", "2", "--shape", "N=1", "--cle", "off"],
                              check=False)
        self.assertEqual(done.returncode, 0)
        self.assertFalse(steps.without_pairs(written, str(self.folder / "plain.onnx")))

    def test_failures_are_rows(self):
        self.args.options = ["--activation", "none-such"]
        row, = steps.rows(self.args, "net", "A8W8", str(self.folder))
        self.assertRegex(row, r"^\| A8W8 \| net \| none \| fails \|  \| .*none-such")


if __name__ == "__main__":
    unittest.main()
