"""Calibrating: killed, interrupted, out of disk; the file is that of an undisturbed run."""

import random
import signal
import time
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
        return b"goes on after" in done.err

    def disturb(self, number, seconds, *more):
        """Starts it and sends the signal at a random time; the status, and what it said."""
        running = process.start(*self.words("out.stats", *more), cwd=self.folder)
        time.sleep(random.uniform(0, seconds))
        running.send_signal(number)
        return running.communicate()[1], running.returncode

    def test_kill(self):
        for name, more in WAYS.items():
            with self.subTest(name):
                whole, seconds = self.whole(*more)
                counts = Counter()
                while counts["killed"] < TIMES:
                    self.assertLess(counts["runs"], 10 * TIMES, counts)
                    for _ in range(random.randrange(1, 4)):
                        _, status = self.disturb(signal.SIGKILL, seconds, *more)
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
                counts = Counter()
                while counts[130] < TIMES:
                    self.assertLess(counts.total(), 10 * TIMES, counts)
                    told, status = self.disturb(signal.SIGINT, seconds, *more)
                    self.assertIn(status, (0, 130, -signal.SIGINT), told)
                    counts[status] += 1
                    if b"stopped after" in told:
                        self.assertIn(b"the same command goes on from there", told)
                        self.assertIn("out.stats.part", self.parts())
                    counts["went on"] += self.go_on(whole, *more, *(["-f"] if status == 0 else []))
                print(f"{name}: {dict(counts)}", flush=True)

    def test_second_signal_stops_at_once(self):
        running = process.start("calibrate", "m.onnx", "--random", "100000000", "-o", "out.stats",
                                cwd=self.folder)  # fmt: skip
        time.sleep(1)
        running.send_signal(signal.SIGTERM)
        running.send_signal(signal.SIGTERM)
        running.communicate()
        self.assertEqual(running.returncode, 143)

    def test_memory_does_not_grow_with_samples(self):
        model = str((process.MODELS / "centerface.onnx").resolve())
        few, many = (32, 512) if process.LONG else (4, 32)
        peaks = {}
        peaks["run"] = self.baryon("run", model, "--random", str(few)).peak
        for count in (few, many):
            words = ("calibrate", model, "--random", str(count), "-o", f"{count}.stats")
            peaks[count] = self.baryon(*words).peak
        print({name: f"{peak / 2**20:.1f} MiB" for name, peak in peaks.items()}, flush=True)
        self.assertLess(peaks[many], 1.05 * peaks[few])
        self.assertLess(peaks[many], peaks["run"] + (64 << 20))

    def test_other_memory_when_it_goes_on(self):
        whole, seconds = self.whole("--moments")
        for memory in ("1", "2MB", "5MB", "1GiB") if process.LONG else ("1", "5MB"):
            self.disturb(signal.SIGKILL, seconds, "--moments", "--max-memory", "4MB")
            self.disturb(signal.SIGKILL, seconds * 2, "--moments", "--max-memory", memory)
            (self.folder / "out.stats").unlink(missing_ok=True)
            self.go_on(whole, "--moments", "--max-memory", random.choice(["1", "3MB", "8MB"]))


if __name__ == "__main__":
    process.main()
