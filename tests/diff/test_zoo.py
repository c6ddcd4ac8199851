"""Real models: copied byte for byte, found valid, and run with ONNX Runtime's own
Python package beside `baryon run`: the same bits come out of both."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np
import onnxruntime

from zoo import samples

BARYON = os.environ["BARYON"]
MODELS = Path(os.environ["MODELS"])
onnxruntime.set_default_logger_severity(4)


def baryon(*arguments):
    return subprocess.run(
        [BARYON, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=900
    )


def reference(model, feed):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return [dict(zip(names, session.run(None, sample))) for sample in feed]


def plain(name):
    """The name of an output as that of a folder."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in name)


class Zoo(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.out = Path(cls.folder.name)
        samples.write(MODELS.parent)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_all_are_here(self):
        self.assertEqual(sorted(samples.SAMPLES), sorted(path.stem for path in MODELS.glob("*.onnx")))

    def test_copy(self):
        for name in samples.SAMPLES:
            with self.subTest(name):
                model, copy = MODELS / f"{name}.onnx", self.out / f"{name}.onnx"
                done = baryon("copy", model, copy)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(model.read_bytes(), copy.read_bytes())

    def test_check(self):
        for name in samples.SAMPLES:
            with self.subTest(name):
                done = baryon("check", MODELS / f"{name}.onnx")
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_run(self):
        for name in samples.SAMPLES:
            with self.subTest(name):
                model, data, out = MODELS / f"{name}.onnx", MODELS.parent / "data" / name, self.out / name
                done = baryon("run", model, "--data", data, "--out", out, "--threads", 1)
                self.assertEqual(done.returncode, 0, done.stderr)
                files = sorted(data.iterdir())
                self.assertGreater(len(files), 1)
                expected = reference(model, [dict(np.load(path)) for path in files])
                for path, outputs in zip(files, expected):
                    for output, value in outputs.items():
                        folder = out / plain(output) if len(outputs) > 1 else out
                        found = np.load(folder / f"{path.stem}.npy")
                        self.assertEqual((found.dtype, found.shape), (value.dtype, value.shape))
                        self.assertEqual(found.tobytes(), value.tobytes(), f"{path.stem} {output}")


if __name__ == "__main__":
    unittest.main()
