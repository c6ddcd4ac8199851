"""A search: killed, interrupted, out of disk; the model is that of an undisturbed run, byte for byte."""

import random
import signal
from collections import Counter

import models
import process

TIMES = 10 if process.LONG else 2  # kills, and interrupts
LAYERS, SIZE = 6, 64


def network():
    draw = random.Random(7)

    def numbers(count, spread):
        return [draw.gauss(0, spread) for _ in range(count)]

    return models.layers(LAYERS, SIZE, lambda i: numbers(SIZE * SIZE, 1.4 / SIZE**0.5), lambda i: numbers(SIZE, 0.1))


class Searching(process.Case):
    quick = True

    def setUp(self):
        super().setUp()
        models.save(self.folder / "m.onnx", network())

    def words(self, out, *more):
        return ("auto", "m.onnx", "-o", out, "--random", "24", "-f", "--goal", "sqnr>=55", *more)

    def whole(self):
        done = self.baryon(*self.words("whole.onnx"))
        self.assertEqual(self.left("whole"), ["whole.onnx", "whole.yaml"])
        return {name: (self.folder / f"whole.{name}").read_bytes() for name in ("onnx", "yaml")}, done.seconds

    def left(self, stem):
        return sorted(name for name in self.files() if name.startswith((f"{stem}.", ".")))

    def go_on(self, whole):
        """After whatever happened, the same command makes the same files and leaves nothing else."""
        done = self.baryon(*self.words("out.onnx"))
        for name, content in whole.items():
            self.assertEqual((self.folder / f"out.{name}").read_bytes(), content, name)
        self.assertEqual(self.left("out"), ["out.onnx", "out.yaml"])
        (self.folder / "out.onnx").unlink()
        (self.folder / "out.yaml").unlink()
        return b"taken up" in done.err

    def disturb(self, number, moment):
        running = process.start(*self.words("out.onnx"), cwd=self.folder)
        moment.wait()
        running.send_signal(number)
        told = running.communicate()[1]
        moment.learn(running.returncode == 0)
        return told, running.returncode

    def test_kill(self):
        whole, seconds = self.whole()
        counts, moment = Counter(), process.Moment(seconds)
        for _ in process.turns(lambda: counts["killed"] >= TIMES):
            _, status = self.disturb(signal.SIGKILL, moment)
            counts["killed"] += status == -signal.SIGKILL
            counts["taken up"] += self.go_on(whole)
        print(dict(counts), flush=True)

    def test_interrupt(self):
        whole, seconds = self.whole()
        counts, moment = Counter(), process.Moment(seconds)
        for _ in process.turns(lambda: counts["stopped"] >= TIMES):
            told, status = self.disturb(signal.SIGINT, moment)
            self.assertIn(status, (0, 130, -signal.SIGINT), told)
            counts["stopped"] += status != 0
            counts["taken up"] += self.go_on(whole)
        print(dict(counts), flush=True)

    def test_spoiled_steps_are_found_again(self):
        whole, _ = self.whole()
        (self.folder / "out.onnx.part").write_bytes(b"baryonJ\1" + bytes(300))
        self.go_on(whole)
        (self.folder / "out.onnx.part").write_bytes(b"a file of the user's")
        done = self.baryon(*self.words("out.onnx"), status=2)
        self.assert_says(done, "out.onnx.part")
        self.assertEqual((self.folder / "out.onnx.part").read_bytes(), b"a file of the user's")

    def test_one_search_a_file(self):
        running = process.start(*self.words("out.onnx", "--effort", "thorough", "--goal", "sqnr>=140"), cwd=self.folder)
        process.wait_until(running, lambda: "out.onnx.part" in self.files())
        done = process.run(*self.words("out.onnx", "--effort", "thorough", "--goal", "sqnr>=140"), cwd=self.folder)
        running.send_signal(signal.SIGKILL)
        running.communicate()
        self.assertIn(done.status, (2, 7), done.err)


if __name__ == "__main__":
    process.main()
