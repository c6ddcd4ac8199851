"""Calibrating: killed, interrupted, out of disk; the file is that of an undisturbed run."""

import random
import signal
from collections import Counter

import models
import process

TIMES = 20 if process.LONG else 2  # kills, and interrupts, of each kind
SAMPLES = 40 if process.LONG else 20
WAYS = {
    "plain": [],
    "moments in several passes, votes": ["--moments", "--max-memory", "3MB", "--votes"],
}


def network():
    return models.layers(4, 300, lambda i: [((i + k) * 7 % 17 - 8) / 64 for k in range(300)] * 300)


class Calibrating(process.Case):
    quick = True

    def setUp(self):
        super().setUp()
        models.save(self.folder / "m.onnx", network())

    def words(self, out, *more):
        return ("calibrate", "m.onnx", "--random", str(SAMPLES), "-o", out,
                "--checkpoint-seconds", "0", *more)  # fmt: skip

    def whole(self, *more):
        done = self.baryon(*self.words("whole.stats", "-f", *more))
        return (self.folder / "whole.stats").read_bytes(), done.seconds

    def parts(self):
        return [name for name in self.files() if name.startswith("out.stats")]

    def go_on(self, whole, *more):
        """After whatever happened, the same command makes the same file and leaves nothing else."""
        done = self.baryon(*self.words("out.stats", *more))
        self.assertEqual((self.folder / "out.stats").read_bytes(), whole)
        self.assertEqual(self.parts(), ["out.stats"])
        (self.folder / "out.stats").unlink()
        return b"resumed after" in done.err

    def disturb(self, number, moment, *more):
        """Starts it and sends the signal at a random time; the status, and what it said."""
        running = process.start(*self.words("out.stats", *more), cwd=self.folder)
        moment.wait()
        running.send_signal(number)
        told = running.communicate()[1]
        moment.learn(running.returncode == 0)
        return told, running.returncode

    def test_kill(self):
        for name, more in WAYS.items():
            with self.subTest(name):
                whole, seconds = self.whole(*more)
                counts, moment = Counter(), process.Moment(seconds)
                for _ in process.turns(lambda: counts["killed"] >= TIMES):
                    for _ in range(random.randrange(1, 4)):
                        _, status = self.disturb(signal.SIGKILL, moment, *more)
                        counts["runs"] += 1
                        counts["killed"] += status == -signal.SIGKILL
                        if status == 0:
                            break
                    counts["went on"] += self.go_on(whole, *more, *(["-f"] if status == 0 else []))
                print(f"{name}: {dict(counts)}", flush=True)

    def test_interrupt(self):
        for name, more in WAYS.items():
            with self.subTest(name):
                whole, seconds = self.whole(*more)
                counts, moment = Counter(), process.Moment(seconds)
                for _ in process.turns(lambda: counts[130] >= TIMES):
                    told, status = self.disturb(signal.SIGINT, moment, *more)
                    self.assertIn(status, (0, 130, -signal.SIGINT), told)
                    counts[status] += 1
                    if b"stopped after" in told:
                        self.assertIn(b"run the same command to resume", told)
                        self.assertIn("out.stats.part", self.parts())
                    counts["went on"] += self.go_on(whole, *more, *(["-f"] if status == 0 else []))
                print(f"{name}: {dict(counts)}", flush=True)

    def test_second_signal_stops_at_once(self):
        running = process.start("calibrate", "m.onnx", "--random", "100000000", "-o", "out.stats",
                                "--checkpoint-seconds", "0", cwd=self.folder)  # fmt: skip
        self.assertTrue(process.wait_until(running, (self.folder / "out.stats.part").exists))
        running.send_signal(signal.SIGTERM)
        running.send_signal(signal.SIGTERM)
        running.communicate(timeout=process.SECONDS)
        self.assertEqual(running.returncode, 143)

    def test_memory_does_not_grow_with_samples(self):
        model = str((process.MODELS / "centerface.onnx").resolve())
        few, many = (32, 512) if process.LONG else (4, 32)
        peaks = {"run": self.baryon("run", model, "--random", str(few), "--threads", "1").peak}
        for threads in ("1", "2"):
            for count in (few, many):
                words = ("calibrate", model, "--random", str(count), "-o", "x.stats", "-f", "--threads", threads)
                peaks[threads, count] = self.baryon(*words).peak
        print({name: f"{peak / 2**20:.1f} MiB" for name, peak in peaks.items()}, flush=True)
        self.assertLess(peaks["1", many], 1.05 * peaks["1", few])
        self.assertLess(peaks["1", many], peaks["run"] + (64 << 20))
        # Of a few samples one thread may have taken all.
        self.assertLess(peaks["2", many], 2 * peaks["1", few])

    def test_other_memory_when_it_goes_on(self):
        whole, seconds = self.whole("--moments")
        moment = process.Moment(seconds)
        for memory in ("1", "2MB", "5MB", "1GiB") if process.LONG else ("1", "5MB"):
            self.disturb(signal.SIGKILL, moment, "--moments", "--max-memory", "4MB")
            self.disturb(signal.SIGKILL, moment, "--moments", "--max-memory", memory)
            (self.folder / "out.stats").unlink(missing_ok=True)
            self.go_on(whole, "--moments", "--max-memory", random.choice(["1", "3MB", "8MB"]))


if __name__ == "__main__":
    process.main()
