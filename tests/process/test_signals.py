"""SIGINT and SIGTERM: the right status, soon, and nothing half done is left."""

import random
import signal
import subprocess
import time
from collections import Counter

import models
import process

STATUS = {signal.SIGINT: 130, signal.SIGTERM: 143}
TIMES = 100 if process.LONG else 5  # for each signal and each way to copy
SOON = 5.0  # seconds; writing to a busy disk cannot be interrupted


class Copying(process.Case):
    quick = True

    def setUp(self):
        super().setUp()
        models.save(self.folder / "in.onnx", models.sums(8, 1 << 20, 2.0))
        (self.folder / "out").mkdir()

    def interrupt(self, number, seconds, words):
        """Returns the status; a signal before the program's first line is the system's to handle."""
        running = process.start(*words, cwd=self.folder)
        time.sleep(random.uniform(0, seconds))
        sent = time.monotonic()
        running.send_signal(number)
        running.communicate()
        self.assertLess(time.monotonic() - sent, process.patience(SOON))
        self.assertIn(running.returncode, (0, STATUS[number], -number))
        return running.returncode

    def interrupt_often(self, *options):
        words = ("copy", "in.onnx", "out/model.onnx", *options)
        seconds = self.baryon(*words).seconds
        whole = {name: (self.folder / "out" / name).read_bytes() for name in self.files("out")}
        counts = Counter()
        for number in STATUS:
            while counts[STATUS[number]] < TIMES:
                self.assertLess(counts.total(), 20 * TIMES, counts)
                for name in self.files("out"):
                    (self.folder / "out" / name).unlink()
                status = self.interrupt(number, seconds, words)
                seconds *= 0.9 if status == 0 else 1.05
                counts[status] += 1
                there = {
                    name: (self.folder / "out" / name).read_bytes() for name in self.files("out")
                }
                allowed = ([whole], [{}, whole])[status != 0]
                self.assertTrue(there in allowed, sorted(there))
        print(f"{counts.total()} copies, statuses {dict(counts)}", flush=True)

    def files(self, folder=None):
        return super().files(self.folder / (folder or ""))

    def test_one_file(self):
        self.interrupt_often()

    def test_with_a_data_file(self):
        self.interrupt_often("--external", "weights.bin")


class Running(process.Case):
    def run_until_file(self, *words, first):
        """Starts a run and waits until its first output is there."""
        running = process.start("run", *words, cwd=self.folder)
        late = time.monotonic() + 60
        while not (self.folder / first).exists():
            self.assertIsNone(running.poll(), first)
            self.assertLess(time.monotonic(), late)
            time.sleep(0.001)
        return running

    def test_stops_after_the_sample_in_hand(self):
        models.save(self.folder / "m.onnx", models.sums(2, 1000))
        for number, status in STATUS.items():
            with self.subTest(number):
                out = f"out{status}"
                running = self.run_until_file(
                    "m.onnx", "--random", "100000000", "--out", out, first=f"{out}/random-0.npy"
                )
                time.sleep(random.uniform(0, 0.2))
                sent = time.monotonic()
                running.send_signal(number)
                _, err = running.communicate()
                self.assertLess(time.monotonic() - sent, process.patience(SOON))
                self.assertEqual(running.returncode, status, err)
                self.assertRegex(err.decode(), r"baryon: stopped after \d+ of 100000000 samples")
                sizes = {path.stat().st_size for path in (self.folder / out).iterdir()}
                self.assertEqual(sizes, {128 + 4000})
                self.assertFalse([name for name in self.files(self.folder / out) if name[0] == "."])

    def test_second_signal_ends_it_at_once(self):
        """A matrix product of some seconds, which ONNX Runtime does not interrupt."""
        side = 6000 if process.LONG else 4000
        product = models.model(
            [models.node("MatMul", ["x", "x"], ["y"])],
            [],
            [models.port("x", [side, side])],
            [models.port("y", [side, side])],
        )
        models.save(self.folder / "m.onnx", product)
        running = process.start("run", "m.onnx", "--random", "1", "--threads", "1", cwd=self.folder)
        # Resident memory tells that the product has begun: input and output are there.
        late = time.monotonic() + 60
        while self.resident(running.pid) < 2 * 4 * side * side and time.monotonic() < late:
            self.assertIsNone(running.poll())
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        with self.assertRaises(subprocess.TimeoutExpired):
            running.wait(0.1)
        sent = time.monotonic()
        running.send_signal(signal.SIGTERM)
        running.communicate()
        self.assertLess(time.monotonic() - sent, process.patience(1.0))
        self.assertEqual(running.returncode, 143)

    @staticmethod
    def resident(pid):
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * 4096


if __name__ == "__main__":
    process.main()
