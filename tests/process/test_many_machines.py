#!/usr/bin/env python3
"""The commands of docs/many-machines.md that need no MPI, as they stand there."""

import pathlib
import shutil
import subprocess
import unittest

import models
from process import BARYON, Case, environment, main

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs/many-machines.md"


def commands(title):
    """The indented lines below a heading."""
    text = DOCUMENT.read_text().split(f"## {title}\n")[1].split("\n## ")[0]
    return [line.strip() for line in text.splitlines() if line.startswith("    ")]


def has_merge():
    return subprocess.run([BARYON, "help", "merge"], capture_output=True, check=False).returncode == 0


@unittest.skipUnless(has_merge(), "this build has no 'baryon merge'")
class Parts(Case):
    def setUp(self):
        super().setUp()
        models.save(self.folder / "model.onnx", models.sums(2, 1 << 10))
        (self.folder / "photos").mkdir()
        for i in range(9):
            (self.folder / f"photos/{i}.raw").write_bytes(models.floats(1 << 10, i / 8 - 0.5))
        self.sh("baryon calibrate model.onnx --data photos -o single.stats")

    def sh(self, command, **changes):
        path = f"{pathlib.Path(BARYON).parent}:/usr/bin:/bin"
        subprocess.run(["sh", "-ec", command], cwd=self.folder, check=True, timeout=60,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       env=environment(PATH=path, HOME=str(self.folder), **changes))  # fmt: skip

    def assert_same(self):
        one, other = (self.folder / f"{name}.stats" for name in ("single", "model"))
        self.assertEqual(one.read_bytes(), other.read_bytes())

    def test_slurm_array(self):
        part, merge = commands("With a Slurm array")
        for task in 2, 0, 3, 1:
            self.sh(part, SLURM_ARRAY_TASK_ID=str(task))
        self.sh(merge)
        self.assert_same()

    @unittest.skipUnless(shutil.which("parallel"), "GNU parallel is not here")
    def test_parallel(self):
        for command in commands("With GNU parallel"):
            self.sh(command)
        self.assert_same()


if __name__ == "__main__":
    main()
