"""SIGINT and SIGTERM: the right status, soon, and nothing half done is left."""

import random
import resource
import signal
import struct
import time
from collections import Counter

import models
import process

STATUS = {signal.SIGINT: 130, signal.SIGTERM: 143}
TIMES = 100 if process.LONG else 5  # for each signal and each way to copy


class Copying(process.Case):
    quick = True

    def setUp(self):
        super().setUp()
        models.save(self.folder / "in.onnx", models.sums(8, 1 << 20, 2.0))
        (self.folder / "out").mkdir()

    def interrupt(self, number, moment, words):
        """Returns the status; a signal before the program's first line is the system's to handle."""
        running = process.start(*words, cwd=self.folder)
        moment.wait()
        running.send_signal(number)
        running.communicate(timeout=process.SECONDS)
        moment.learn(running.returncode == 0)
        self.assertIn(running.returncode, (0, STATUS[number], -number))
        return running.returncode

    def interrupt_often(self, *options):
        words = ("copy", "in.onnx", "out/model.onnx", *options)
        moment = process.Moment(self.baryon(*words).seconds)
        whole = {name: (self.folder / "out" / name).read_bytes() for name in self.files("out")}
        counts = Counter()
        for number in STATUS:
            for _ in process.turns(lambda: counts[STATUS[number]] >= TIMES):
                for name in self.files("out"):
                    (self.folder / "out" / name).unlink()
                status = self.interrupt(number, moment, words)
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
        self.assertTrue(process.wait_until(running, (self.folder / first).exists), first)
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
                running.send_signal(number)
                _, err = running.communicate(timeout=process.SECONDS)
                self.assertEqual(running.returncode, status, err)
                self.assertRegex(err.decode(), r"baryon: stopped after \d+ of 100000000 samples")
                sizes = {path.stat().st_size for path in (self.folder / out).iterdir()}
                self.assertEqual(sizes, {128 + 4000})
                self.assertFalse([name for name in self.files(self.folder / out) if name[0] == "."])

    def test_second_signal_ends_it_at_once(self):
        """In a node that takes an hour, which ONNX Runtime does not interrupt."""
        side = 5000
        shape = models.tensor("shape", [4], struct.pack("<4q", 1, 1, side, side), models.INT64)
        nodes = [
            models.node("Expand", ["x", "shape"], ["all"]),
            models.node("MaxPool", ["all"], ["y"]) + models.integers("kernel_shape", [side // 2, side // 2]),
        ]
        ports = [models.port("x", [1, 1, 1, 1])], [models.port("y", [1, 1, side // 2 + 1, side // 2 + 1])]
        models.save(self.folder / "m.onnx", models.model(nodes, [shape], *ports))
        counts = Counter()
        for _ in process.turns(lambda: counts[143]):
            running = process.start("run", "m.onnx", "--random", "1", "--threads", "1", cwd=self.folder)
            # The node has its input when that lies in memory and no more is touched. Who comes earlier ends
            # the run with one signal.
            process.wait_until(running, self.settled(running.pid, 4 * side * side))
            running.send_signal(signal.SIGINT)
            time.sleep(0.1)
            running.send_signal(signal.SIGTERM)
            running.communicate(timeout=process.SECONDS)
            self.assertIn(running.returncode, (130, 143))
            counts[running.returncode] += 1

    def settled(self, pid, least):
        """Whether the process has so many bytes, and for a while has had no more."""
        seen = {"size": 0, "since": 0.0}

        def look():
            size, now = self.resident(pid), time.monotonic()
            if size > seen["size"] + (1 << 20):
                seen.update(size=size, since=now)
            return size > least and now - seen["since"] > 0.3

        return look

    @staticmethod
    def resident(pid):
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * resource.getpagesize()


if __name__ == "__main__":
    process.main()
