"""Rounding that is solved: killed, interrupted, with a spoiled checkpoint; flat memory.

The model is that of an undisturbed run, byte for byte.
"""

import contextlib
import json
import random
import resource
import signal
from collections import Counter

import models
import process

TIMES = 20 if process.LONG else 1  # kills, and interrupts
LAYERS, SIZE = 12, 96
WAYS = {
    "powers of two": ["--preset", "XINT8_ADAROUND"],
    "scales as well": ["--preset", "A8W8_ADAQUANT", "-w", "int4", "--max-memory", "1"],
    "weights alone": ["--approach", "weights", "-w", "int4", "--rounding", "descent"],
    "blocks": ["--preset", "MX6_ADAQUANT"],
}
KILLED, RESUMED = (list(WAYS), list(WAYS)) if process.LONG else (list(WAYS)[::2], list(WAYS)[1::2])
LATER = [["--preset", "A8W8_ADAQUANT", "-w", "int4"], ["--preset", "XINT8_ADAQUANT"]]


def network():
    draw = random.Random(3)

    def numbers(count, spread):
        return [draw.gauss(0, spread) for _ in range(count)]

    return models.layers(LAYERS, SIZE, lambda i: numbers(SIZE * SIZE, 1.4 / SIZE**0.5), lambda i: numbers(SIZE, 0.1))


class Rounding(process.Case):
    quick = True

    def setUp(self):
        super().setUp()
        models.save(self.folder / "m.onnx", network())

    def words(self, out, *more):
        return ("quantize", "--no-judge", "m.onnx", "-o", out, "--random", "12", *more)

    def whole(self, *more):
        done = self.baryon(*self.words("whole.onnx", "-f", *more))
        self.assertNotIn("whole.onnx.part", self.files())
        return (self.folder / "whole.onnx").read_bytes(), done.seconds

    def go_on(self, whole, *more):
        """After whatever happened, the same command makes the same model and leaves nothing else."""
        done = self.baryon(*self.words("out.onnx", "-f", *more))
        self.assertEqual((self.folder / "out.onnx").read_bytes(), whole)
        self.assertEqual([name for name in self.files() if name.startswith(("out.", "."))], ["out.onnx"])
        (self.folder / "out.onnx").unlink()
        return done.err

    def disturb(self, number, moment, *more):
        running = process.start(*self.words("out.onnx", "-f", *more), cwd=self.folder)
        moment.wait()
        running.send_signal(number)
        told = running.communicate()[1]
        moment.learn(running.returncode == 0)
        return told, running.returncode

    def interrupt(self, *more):
        """Kills it when it has solved some layers; again where it was done before that was seen."""
        part = self.folder / "out.onnx.part"

        def has_some():
            with contextlib.suppress(FileNotFoundError):
                return part.stat().st_size > 3 * SIZE * SIZE
            return False

        for _ in process.turns(has_some):
            running = process.start(*self.words("out.onnx", "-f", *more), cwd=self.folder)
            process.wait_until(running, has_some)
            running.kill()
            running.communicate()
        return part

    def test_kill(self):
        for name in KILLED:
            more = WAYS[name]
            with self.subTest(name):
                whole, seconds = self.whole(*more)
                counts, moment = Counter(), process.Moment(seconds)
                for _ in process.turns(lambda: counts["killed"] >= TIMES):
                    for _ in range(random.randrange(1, 3)):
                        _, status = self.disturb(signal.SIGKILL, moment, *more)
                        counts["runs"] += 1
                        counts["killed"] += status == -signal.SIGKILL
                    counts["went on"] += b"resumed after" in self.go_on(whole, *more)
                print(f"{name}: {dict(counts)}", flush=True)

    def test_goes_on_with_other_threads(self):
        for name in RESUMED:
            more = WAYS[name]
            with self.subTest(name):
                whole, _ = self.whole(*more)
                self.interrupt(*more)
                self.assertIn(b"resumed after", self.go_on(whole, *more, "--threads", "3"))

    def test_goes_on_in_later_ways(self):
        """Where scales are solved, layers are solved several times."""
        for more in LATER if process.LONG else LATER[:1]:
            whole, seconds = self.whole(*more)
            told, moment = [], process.Moment(seconds)
            for _ in process.turns(lambda: sum(b"with scales by" in one for one in told) >= TIMES):
                self.disturb(signal.SIGKILL, moment, *more)
                told.append(self.go_on(whole, *more))

    def test_interrupt(self):
        more = WAYS["powers of two"]
        whole, seconds = self.whole(*more)
        counts, moment = Counter(), process.Moment(seconds)
        for _ in process.turns(lambda: counts[130] >= TIMES):
            told, status = self.disturb(signal.SIGINT, moment, *more)
            self.assertIn(status, (0, 130, -signal.SIGINT), told)
            counts[status] += 1
            if b"stopped after" in told:
                self.assertIn(b"run the same command to resume", told)
                self.assertIn("out.onnx.part", self.files())
            counts["went on"] += b"resumed after" in self.go_on(whole, *more)
        print(dict(counts), flush=True)

    def test_spoiled(self):
        """What is left of a damaged checkpoint is used or not; it never shows."""
        more = WAYS["powers of two"]
        whole, _ = self.whole(*more)
        for turn in range(10 if process.LONG else 3):
            part = self.interrupt(*more)
            content = bytearray(part.read_bytes())
            place = random.randrange(8, len(content))
            if turn % 3 == 0:
                del content[place:]
            else:
                content[place] ^= 1 << random.randrange(8)
            part.write_bytes(content)
            self.go_on(whole, *more)

    def test_of_another_run(self):
        relaxed = ["--preset", "XINT8", "--rounding", "relaxation", "--rounding-iterations"]
        for more, changed in (
            (WAYS["powers of two"], [*WAYS["powers of two"], "--rounding-damping", "0.1"]),
            (WAYS["powers of two"], [*WAYS["powers of two"], "--rounding-starts", "3"]),
            ([*relaxed, "20"], [*relaxed, "19"]),
        ):
            with self.subTest(changed=changed):
                self.interrupt(*more)
                whole, _ = self.whole(*changed)
                self.assertIn(b"starts over", self.go_on(whole, *changed))

    def test_a_file_that_is_none(self):
        (self.folder / "out.onnx.part").write_text("letters")
        done = self.baryon(*self.words("out.onnx", *WAYS["powers of two"]), status=2)
        self.assert_says(done, "out.onnx.part", "does not overwrite it")
        self.assertEqual((self.folder / "out.onnx.part").read_text(), "letters")

    def test_two_at_once(self):
        more = WAYS["powers of two"]
        whole, _ = self.whole(*more)
        both = [process.start(*self.words("out.onnx", "-f", *more), cwd=self.folder) for _ in range(2)]
        for running in both:
            told = running.communicate()[1]
            self.assertEqual(running.returncode, 0, told)
            self.assertEqual((self.folder / "out.onnx").read_bytes(), whole)

    def test_any_memory(self):
        """What waits in a file comes back as it was."""
        more = ["--preset", "XINT8_ADAROUND"]
        whole, _ = self.whole(*more)
        for memory in ("1", "100KB"):
            self.baryon(*self.words("memory.onnx", "-f", "--max-memory", memory, *more))
            self.assertEqual((self.folder / "memory.onnx").read_bytes(), whole)

    def test_no_room_for_what_waits(self):
        """Refused with the folder's name; what was kept so far is whole."""
        more = ("--preset", "XINT8_ADAROUND", "--max-memory", "1")
        whole, _ = self.whole(*more)
        for size in (40 << 10, 400 << 10):
            limit = {"preexec_fn": process.limited(resource.RLIMIT_FSIZE, size)}
            done = self.baryon(*self.words("out.onnx", *more), status=5, **limit)
            self.assertIn(b"File too large", done.err)
            self.assertNotIn("out.onnx", self.files())
            self.assertEqual([name for name in self.files() if name.startswith(".")], [])
        self.go_on(whole, *more)

    def test_progress(self):
        done = self.baryon(*self.words("out.onnx", "--json", *WAYS["powers of two"]))
        events = [json.loads(line) for line in done.err.decode().splitlines() if line.startswith("{")]
        rounds = [event for event in events if event.get("stage") == "round"]
        self.assertEqual((rounds[-1]["done"], rounds[-1]["total"]), (LAYERS, LAYERS))
        self.assertEqual(rounds[-1]["seconds_left"], 0)

    def test_memory_does_not_grow_with_samples(self):
        model = str((process.MODELS / "ppocr_cls.onnx").resolve())
        few, many = (32, 512) if process.LONG else (8, 40)
        shape = [word for size in ("x:0=1", "x:2=48", "x:3=192") for word in ("--shape", size)]
        peaks = {}
        for count in (few, many):
            words = ("quantize", model, "--preset", "XINT8_ADAROUND", "--random", str(count), "--threads", "2")
            peaks[count] = self.baryon(*words, *shape, "-o", f"{count}.onnx").peak
        print({name: f"{peak / 2**20:.1f} MiB" for name, peak in peaks.items()}, flush=True)
        self.assertLess(peaks[many], peaks[few] + (12 << 20))


if __name__ == "__main__":
    process.main()
