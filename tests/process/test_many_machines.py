#!/usr/bin/env python3
"""The commands of docs/many-machines.md that need no MPI, as they stand there."""

import itertools
import pathlib
import re
import shutil
import subprocess
import unittest

import models
from process import BARYON, SECONDS, Case, environment, main

HERE = pathlib.Path(__file__).resolve().parent
DOCUMENT = HERE.parents[1] / "docs/many-machines.md"
SCRIPT = HERE.parents[1] / "examples/slurm/calibrate.sbatch"


def section(title):
    return DOCUMENT.read_text().split(f"## {title}\n")[1].split("\n## ")[0]


def blocks(title):
    """The indented lines below a heading, those that stand together in one text."""
    lines = section(title).splitlines()
    groups = itertools.groupby(lines, key=lambda line: line.startswith("    "))
    return ["\n".join(line[4:] for line in group) + "\n" for indented, group in groups if indented]


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

    def sh(self, command, status=0, **changes):
        """What a shell says on standard error that knows our programs and a stand-in for Slurm."""
        (self.folder / "bin").mkdir(exist_ok=True)
        if not (self.folder / "bin/sbatch").exists():
            (self.folder / "bin/sbatch").symlink_to(HERE / "sbatch.py")
        path = f"{pathlib.Path(BARYON).parent}:{self.folder}/bin:/usr/bin:/bin"
        done = subprocess.run(["sh", "-ec", command], cwd=self.folder, check=False, timeout=SECONDS,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True,
                              env=environment(PATH=path, HOME=str(self.folder), **changes))  # fmt: skip
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr

    def assert_same(self):
        one, other = (self.folder / f"{name}.stats" for name in ("single", "model"))
        self.assertEqual(one.read_bytes(), other.read_bytes())

    def test_slurm(self):
        script, submit, _ = blocks("With Slurm")
        self.assertEqual(script, SCRIPT.read_text())
        shutil.copy(SCRIPT, self.folder)
        self.sh(submit)
        self.assert_same()

    def test_slurm_task_fails(self):
        _, submit, _ = blocks("With Slurm")
        merge = re.search("baryon merge [^']*", submit)[0]
        shutil.copy(SCRIPT, self.folder)
        (self.folder / "part2.stats").mkdir()
        self.sh(submit)
        self.assertFalse((self.folder / "model.stats").exists())
        (self.folder / "part2.stats").rmdir()
        self.assertIn("part2.stats", self.sh(merge, status=3))
        again = "sbatch --array=2 calibrate.sbatch"
        self.assertIn(again, section("With Slurm"))
        self.sh(again)
        self.sh(merge)
        self.assert_same()

    def test_slurm_everything_again(self):
        """After a task has failed the same two commands leave alone what is there."""
        _, submit, _ = blocks("With Slurm")
        shutil.copy(SCRIPT, self.folder)
        (self.folder / "part2.stats").mkdir()
        self.sh(submit)
        before = (self.folder / "part1.stats").stat().st_mtime_ns
        (self.folder / "part2.stats").rmdir()
        self.sh(submit)
        self.assert_same()
        self.assertEqual((self.folder / "part1.stats").stat().st_mtime_ns, before)

    def test_srun_without_mpi(self):
        """Each process does everything, which one of them says."""
        command, warning = "baryon calibrate model.onnx --data photos -f -o x.stats", "without MPI"
        plain = {"SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "0", "BARYON_MPI": None}
        plain |= {name: None for name in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK")}
        self.assertIn(f"srun started 2 processes {warning}", self.sh(command, **plain))
        self.assertNotIn(warning, self.sh(command, **{**plain, "SLURM_PROCID": "1"}))
        self.assertNotIn(warning, self.sh(command, **{**plain, "SLURM_STEP_NUM_TASKS": "1"}))
        self.assertNotIn(warning, self.sh(command, **{**plain, "BARYON_MPI": "none"}))
        self.assertNotIn(warning, self.sh(f"{command} --shard 1/2", **plain))

    @unittest.skipUnless(shutil.which("parallel"), "GNU parallel is not here")
    def test_parallel(self):
        self.sh(*blocks("With GNU parallel"))
        self.assert_same()


if __name__ == "__main__":
    main()
