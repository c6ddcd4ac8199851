#!/usr/bin/env python3
"""One calibration by several ranks, with each MPI that is here: the same bytes as by one
process; a rank that dies, hangs or fails ends the run within seconds and is named, and what
was finished is taken up.
"""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time
import unittest

import models
from process import BARYON, LONG, Case, environment, main

FLAVOURS = [
    name
    for name in ("openmpi", "mpich")
    if shutil.which(f"mpirun.{name}")
    and (pathlib.Path(BARYON).parent / f"libbaryon_mpi_{name}.so").exists()
]
# Without LONG=1 each MPI has half of the tests that do not depend on how it ends its processes.
ONE, OTHER = (FLAVOURS, FLAVOURS) if LONG else (FLAVOURS[:1], FLAVOURS[-1:])
MPI_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}
SAMPLES = 24
SMALL, LARGE = 1 << 15, 1 << 18  # values of a tensor; many where there has to be time for a blow
SECONDS = 30


def calibrate(out, *more, samples=SAMPLES):
    return [BARYON, "calibrate", "model.onnx", "--random", str(samples), "--moments", "--votes",
            "--checkpoint-seconds", "0", "--out", out, *more]  # fmt: skip


@unittest.skipUnless(FLAVOURS, "no MPI is here: scripts/deps.sh mpi, then make")
class Mpi(Case):
    def setUp(self):
        super().setUp()
        models.save(self.folder / "model.onnx", models.sums(3, LARGE))

    def single(self, *more, samples=SAMPLES):
        subprocess.run(calibrate("single.stats", "-q", *more, samples=samples), cwd=self.folder,
                       env=environment(), stdout=subprocess.DEVNULL, check=True)  # fmt: skip
        return (self.folder / "single.stats").read_bytes()

    def start(self, flavour, ranks, words):
        command = [f"mpirun.{flavour}", "-n", str(ranks), *words]
        # A session of its own: mpirun sends signals to its process group.
        return subprocess.Popen(command, cwd=self.folder, env=environment(**MPI_ENVIRONMENT),
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, start_new_session=True)  # fmt: skip

    def finish(self, process):
        """Status, what it said, and seconds from now to the end."""
        begin = time.monotonic()
        try:
            text, _ = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            self.fail(f"still there after {SECONDS} s: {process.communicate()[0]}")
        return process.returncode, text, time.monotonic() - begin

    def run_ranks(self, flavour, ranks, words, status=0):
        code, text, _ = self.finish(self.start(flavour, ranks, words))
        self.assertEqual(code, status, text)
        return text

    def process_of(self, parent, rank, ranks):
        """The process id of a rank below mpirun, from its environment."""
        names = {f"OMPI_COMM_WORLD_RANK={rank}", f"PMI_RANK={rank}"}
        late = time.monotonic() + SECONDS
        while time.monotonic() < late and parent.poll() is None:
            for entry in pathlib.Path("/proc").glob("[0-9]*"):
                with contextlib.suppress(OSError):
                    if os.readlink(entry / "cwd") != str(self.folder):
                        continue
                    if os.readlink(entry / "exe") != os.path.realpath(BARYON):
                        continue
                    if names & set((entry / "environ").read_text().split("\0")):
                        return int(entry.name)
            time.sleep(0.01)
        self.fail(f"no rank {rank} of {ranks}")

    def wait_for(self, *names):
        late = time.monotonic() + SECONDS
        while time.monotonic() < late:
            if all((self.folder / name).exists() for name in names):
                return
            time.sleep(0.005)
        self.fail(f"{names} did not come: {self.files()}")

    def assert_no_parts(self):
        self.assertEqual([name for name in self.files() if ".rank-" in name or ".part" in name], [])

    def test_same_bytes(self):
        models.save(self.folder / "model.onnx", models.sums(3, SMALL))
        wanted = self.single()
        for flavour in FLAVOURS:
            for ranks in (1, 2, 4) if LONG else (1, 3):
                with self.subTest(flavour=flavour, ranks=ranks):
                    out = f"{flavour}-{ranks}.stats"
                    text = self.run_ranks(flavour, ranks, calibrate(out))
                    self.assertEqual((self.folder / out).read_bytes(), wanted)
                    self.assertEqual(text.count("random values, seed 0"), 1, text)
                    self.assert_no_parts()

    def test_up_to_date_and_other_contents(self):
        for flavour in ONE:
            with self.subTest(flavour=flavour):
                wanted = self.single(samples=4)
                self.run_ranks(flavour, 3, calibrate("single.stats", samples=4))
                self.assertEqual((self.folder / "single.stats").read_bytes(), wanted)
                text = self.run_ranks(flavour, 3, calibrate("single.stats", samples=5), status=2)
                self.assertIn("has other contents than this would give", text)
                self.assertEqual(text.count("baryon: single.stats"), 1, text)
                self.assert_no_parts()

    def test_more_ranks_than_samples(self):
        wanted = self.single(samples=2)
        for flavour in OTHER:
            with self.subTest(flavour=flavour):
                text = self.run_ranks(flavour, 4, calibrate(f"{flavour}.stats", samples=2))
                self.assertIn("4 ranks for 2 samples: 2 ranks have nothing to do", text)
                self.assertEqual((self.folder / f"{flavour}.stats").read_bytes(), wanted)

    def test_folders_of_their_own(self):
        """Ranks that share no folder send their parts."""
        models.save(self.folder / "model.onnx", models.sums(3, SMALL))
        wanted = self.single()
        script = (
            "rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; mkdir -p r$rank; cd r$rank; "
            "ln -sf ../model.onnx .; exec " + " ".join(calibrate("x.stats"))
        )
        for flavour in OTHER:
            with self.subTest(flavour=flavour):
                self.run_ranks(flavour, 3, ["sh", "-c", script])
                self.assertEqual((self.folder / "r0/x.stats").read_bytes(), wanted)
                for rank in range(3):
                    left = self.files(self.folder / f"r{rank}")
                    self.assertEqual(left, ["model.onnx", *["x.stats"][rank:]])
                    shutil.rmtree(self.folder / f"r{rank}")

    def stages(self):
        """Name of a stage, and what has to be there before the blow."""
        if LONG:
            yield "begin", []
            yield "first checkpoint", ["x.stats.rank-1-of-3.part"]
        yield "others finished", ["x.stats.rank-0-of-3", "x.stats.rank-2-of-3"]

    def kill(self, flavour, victim, when):
        more = ["--threads", "1"]
        process = self.start(flavour, 3, calibrate("x.stats", *more))
        pid = self.process_of(process, victim, 3)
        if len(when) > 1:
            self.wait_for(f"x.stats.rank-{victim}-of-3.part")
            os.kill(pid, signal.SIGSTOP)
        self.wait_for(*when)
        os.kill(pid, signal.SIGKILL)
        code, text, seconds = self.finish(process)
        self.assertNotEqual(code, 0, text)
        self.assertLess(seconds, 12, text)
        if not when:
            return  # it may not have met the others yet
        named = f"rank {victim} with PID" in text or re.search(rf"rank {victim} of 3.*{pid}", text)
        self.assertTrue(named, text)
        self.assertFalse((self.folder / "x.stats").exists())

    def test_a_rank_is_killed(self):
        wanted = self.single()
        for flavour in FLAVOURS:
            for name, when in self.stages():
                for victim in (0, 1) if LONG and len(when) < 2 else (1,):
                    with self.subTest(flavour=flavour, stage=name, victim=victim):
                        self.kill(flavour, victim, when)
                        finished = [name for name in self.files() if re.search("rank-.-of-3$", name)]
                        self.assertLessEqual({*when} - {"x.stats.rank-1-of-3.part"}, {*finished})
                        before = {name: os.stat(self.folder / name).st_mtime_ns for name in finished}
                        text = self.run_ranks(flavour, 3, calibrate("x.stats"))
                        for name in before:
                            self.assertIn(f"{name}: finished before", text)
                        self.assertNotIn("nothing was run", text)
                        self.assertEqual((self.folder / "x.stats").read_bytes(), wanted)
                        self.assert_no_parts()
                        os.remove(self.folder / "x.stats")

    @unittest.skipUnless(LONG, "takes long")
    def test_a_rank_hangs(self):
        """mpirun sees nothing: the others do."""
        for flavour in FLAVOURS:
            with self.subTest(flavour=flavour):
                process = self.start(flavour, 3, calibrate("x.stats"))
                pid = self.process_of(process, 1, 3)
                self.wait_for("x.stats.rank-1-of-3.part")
                os.kill(pid, signal.SIGSTOP)
                code, text, seconds = self.finish(process)
                self.assertNotEqual(code, 0, text)
                self.assertLess(seconds, 40, text)
                self.assertIn("rank 1 of 3 was not heard of for 15 seconds", text)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                shutil.rmtree(self.folder)
                self.setUp()

    def test_a_rank_fails(self):
        """The error of one rank is said once, and the others keep what they have."""
        (self.folder / "data").mkdir()
        for i in range(9):
            values = b"\0" * 4 * LARGE
            (self.folder / f"data/{i}.raw").write_bytes(values if i != 4 else b"123")
        words = [BARYON, "calibrate", "model.onnx", "--data", "data", "--skip-bad", "1",
                 "--out", "x.stats"]  # fmt: skip
        for flavour in ONE:
            with self.subTest(flavour=flavour):
                text = self.run_ranks(flavour, 3, words, status=3)
                self.assertEqual(text.count("data/4.raw: rank 1 of 3: 3 bytes"), 1, text)
                self.assertFalse((self.folder / "x.stats").exists())

    def test_interrupted(self):
        wanted = self.single()
        for flavour in OTHER:
            with self.subTest(flavour=flavour):
                process = self.start(flavour, 2, calibrate("x.stats", "--threads", "1"))
                self.wait_for("x.stats.rank-0-of-2.part", "x.stats.rank-1-of-2.part")
                for rank in range(2):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(self.process_of(process, rank, 2), signal.SIGINT)
                code, text, _ = self.finish(process)
                self.assertNotEqual(code, 0, text)
                self.assertIn("stopped after", text)
                self.run_ranks(flavour, 2, calibrate("x.stats"))
                self.assertEqual((self.folder / "x.stats").read_bytes(), wanted)
                os.remove(self.folder / "x.stats")

    def test_refused(self):
        for flavour in FLAVOURS:
            with self.subTest(flavour=flavour):
                text = self.run_ranks(flavour, 2, calibrate("x.stats", "--shard", "1/2"), status=2)
                self.assertEqual(text.count("--shard has no meaning with several ranks"), 1, text)
        done = subprocess.run(calibrate("x.stats"), cwd=self.folder, text=True, check=False,
                              env=environment(PMI_SIZE="4", PMI_RANK="1", BARYON_MPI="other"),
                              capture_output=True)  # fmt: skip
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("started as one of several ranks, but libbaryon_mpi_other.so is not there",
                      done.stderr)  # fmt: skip
        self.assertFalse((self.folder / "x.stats").exists())


if __name__ == "__main__":
    main()
