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
import unittest

import models
from process import BARYON, LONG, SECONDS, Case, environment, main, turns, wait_until

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
        """Status, and what it said."""
        try:
            text, _ = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            self.fail(f"still there after {SECONDS} s: {process.communicate()[0]}")
        return process.returncode, text

    def run_ranks(self, flavour, ranks, words, status=0):
        code, text = self.finish(self.start(flavour, ranks, words))
        self.assertEqual(code, status, text)
        return text

    def find_process(self, rank):
        """The process id of a rank below mpirun, from its environment; None before and afterwards."""
        names = {f"OMPI_COMM_WORLD_RANK={rank}", f"PMI_RANK={rank}"}
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if os.readlink(entry / "cwd") != str(self.folder):
                    continue
                if os.readlink(entry / "exe") != os.path.realpath(BARYON):
                    continue
                if names & set((entry / "environ").read_text().split("\0")):
                    return int(entry.name)
        return None

    def processes_of(self, parent, ranks):
        """Those of some ranks; fewer where the run was over before they were seen."""
        found = {}

        def is_complete():
            found.update({rank: self.find_process(rank) for rank in ranks if not found.get(rank)})
            return all(found.values())

        wait_until(parent, is_complete)
        return [found[rank] for rank in ranks if found[rank]]

    def wait_for(self, parent, *names):
        """False when the run was over before they came."""
        return wait_until(parent, lambda: all((self.folder / name).exists() for name in names))

    def stop(self, parent, pid):
        """False when it was gone before."""
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGSTOP)
            status = pathlib.Path(f"/proc/{pid}/stat")
            return wait_until(parent, lambda: status.read_text().rsplit(")")[1].split()[0] == "T")
        return False

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
                self.assertIn("is of another model, other samples or settings", text)
                self.assertEqual(text.count("baryon: single.stats"), 1, text)
                self.assert_no_parts()

    def test_more_ranks_than_samples(self):
        wanted = self.single(samples=2)
        for flavour in OTHER:
            with self.subTest(flavour=flavour):
                text = self.run_ranks(flavour, 4, calibrate(f"{flavour}.stats", samples=2))
                self.assertIn("4 ranks for 2 samples: 2 ranks stay idle", text)
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

    def bring_to(self, process, pid, victim, when):
        """Whether a run is where the blow is to come, and the victim not done yet."""
        if len(when) > 1:
            part = f"x.stats.rank-{victim}-of-3.part"
            if not (self.wait_for(process, part) and self.stop(process, pid)):
                return False
        return self.wait_for(process, *when) and not (self.folder / f"x.stats.rank-{victim}-of-3").exists()

    def kill(self, flavour, victim, when):
        """True; false where the machine was too quick for the blow, or too slow."""
        process = self.start(flavour, 3, calibrate("x.stats", "--threads", "1"))
        pids = self.processes_of(process, [victim])
        hit = bool(pids) and self.bring_to(process, pids[0], victim, when)
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        code, text = self.finish(process)
        if not hit or code == 0 or "sent nothing for" in text:
            for path in self.folder.glob("x.stats*"):
                path.unlink()
            return False
        if when:  # else it may not have met the others yet
            named = f"rank {victim} with PID" in text or re.search(rf"rank {victim} of 3.*{pids[0]}", text)
            self.assertTrue(named, text)
            self.assertFalse((self.folder / "x.stats").exists())
        return True

    def test_a_rank_is_killed(self):
        wanted = self.single()
        for flavour in FLAVOURS:
            for name, when in self.stages():
                for victim in (0, 1) if LONG and len(when) < 2 else (1,):
                    with self.subTest(flavour=flavour, stage=name, victim=victim):
                        hits = []
                        for _ in turns(lambda: any(hits)):
                            hits.append(self.kill(flavour, victim, when))
                        finished = [name for name in self.files() if re.search("rank-.-of-3$", name)]
                        self.assertLessEqual({*when} - {"x.stats.rank-1-of-3.part"}, {*finished})
                        before = {name: os.stat(self.folder / name).st_mtime_ns for name in finished}
                        text = self.run_ranks(flavour, 3, calibrate("x.stats"))
                        for name in before:
                            self.assertIn(f"{name}: already finished", text)
                        self.assertNotIn("nothing was run", text)
                        self.assertEqual((self.folder / "x.stats").read_bytes(), wanted)
                        self.assert_no_parts()
                        os.remove(self.folder / "x.stats")

    @unittest.skipUnless(LONG, "takes long")
    def test_a_rank_hangs(self):
        """mpirun sees nothing: the others do."""
        for flavour in FLAVOURS:
            with self.subTest(flavour=flavour):
                process = self.start(flavour, 3, calibrate("x.stats", samples=1000))
                [pid] = self.processes_of(process, [1])
                self.assertTrue(self.wait_for(process, "x.stats.rank-1-of-3.part"))
                self.assertTrue(self.stop(process, pid))
                code, text = self.finish(process)
                self.assertNotEqual(code, 0, text)
                self.assertIn("rank 1 of 3 sent nothing for 15 seconds", text)
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

    def interrupt(self, flavour):
        """What a run of two ranks says that are interrupted on the way."""
        process = self.start(flavour, 2, calibrate("x.stats", "--threads", "1"))
        pids = self.processes_of(process, range(2))
        self.wait_for(process, "x.stats.rank-0-of-2.part", "x.stats.rank-1-of-2.part")
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGINT)
        code, text = self.finish(process)
        if "stopped after" in text:
            self.assertNotEqual(code, 0, text)
        return text

    def test_interrupted(self):
        wanted = self.single()
        for flavour in OTHER:
            with self.subTest(flavour=flavour):
                told = [""]
                for _ in turns(lambda: "stopped after" in told[-1]):  # else its samples were done before
                    for path in self.folder.glob("x.stats*"):
                        path.unlink()
                    told.append(self.interrupt(flavour))
                self.run_ranks(flavour, 2, calibrate("x.stats"))
                self.assertEqual((self.folder / "x.stats").read_bytes(), wanted)
                os.remove(self.folder / "x.stats")

    def test_refused(self):
        for flavour in FLAVOURS:
            with self.subTest(flavour=flavour):
                text = self.run_ranks(flavour, 2, calibrate("x.stats", "--shard", "1/2"), status=2)
                self.assertEqual(text.count("--shard is not valid with several ranks"), 1, text)
        done = subprocess.run(calibrate("x.stats"), cwd=self.folder, text=True, check=False,
                              env=environment(PMI_SIZE="4", PMI_RANK="1", BARYON_MPI="other"),
                              capture_output=True)  # fmt: skip
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("started as one of several ranks, but libbaryon_mpi_other.so is missing",
                      done.stderr)  # fmt: skip
        self.assertFalse((self.folder / "x.stats").exists())


if __name__ == "__main__":
    main()
