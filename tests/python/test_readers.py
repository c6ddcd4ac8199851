"""Readers that go wrong, Ctrl-C, threads, and how much memory and time a reader takes."""

import gc
import logging
import os
import pathlib
import resource
import signal
import subprocess
import sys
import threading

from world import BUILD, Again, Reader, Score, raises, samples, workplace

import numpy as np

import baryon
import cli_models
from baryon import errors

LONG = bool(os.environ.get("LONG"))


class Broken(Exception):
    pass


def quantize(data, **options):
    return baryon.quantize("model.onnx", preset="XINT8", data=data, **options)


def changed(data, place, sample):
    return [*data[:place], sample, *data[place + 1 :]]


def check_bad(score, data):
    image = data[0]["image"]

    class Raising(Again):
        def get_next(self):
            if self.given == 5:
                raise broken
            return super().get_next()

    broken = Broken("the camera is off")
    try:
        quantize(Raising(data))
    except Broken as failure:
        score.check(failure is broken, "the very exception of the reader")
    else:
        score.check(False, "an exception of a reader is lost")

    def generator():
        yield data[0]
        raise broken

    raises(score, Broken, "camera", quantize, generator())
    wrong = {
        "the model has no input 'imag'; its input is 'image'": {"imag": image},
        "[1,3,8,9], the model input is": {"image": np.zeros((1, 3, 8, 9), "f4")},
        "uint8": {"image": np.zeros((1, 3, 8, 8), "u1")},
        "NaN": {"image": np.full((1, 3, 8, 8), np.nan, "f4")},
        "no array for the model input 'image'": {},
    }
    for text, sample in wrong.items():
        raises(score, errors.InputError, text, quantize, changed(data, 2, sample))
    raises(score, TypeError, "ONNX does not support", quantize, changed(data, 2, {"image": np.zeros(3, "M8[s]")}))
    raises(score, NotImplementedError, "an array of strings, must be numeric", quantize, changed(data, 2, {"image": "a.png"}))
    raises(score, TypeError, "'image' contains a NoneType", quantize, changed(data, 2, {"image": None}))
    for name, source in (("None at once", Reader([])), ("an empty list", []), ("an empty generator", iter(()))):
        failure = errors.InputError
        raises(score, failure, "is empty", quantize, source)
    score.check(quantize(changed(data, 2, {"image": np.zeros((1, 3, 8, 8), "f8")})).samples == len(data),
                "float64 is converted")  # fmt: skip


def check_others(score, data):
    """Arrays that the model has no input for are left out, and that is told once."""
    told = []
    handler = logging.Handler()
    handler.emit = lambda record: told.append(record.getMessage())
    logging.getLogger("baryon").addHandler(handler)
    more = [{**sample, "mask": np.ones(3, "f4")} for sample in data]
    score.check(quantize(more).model == quantize(data).model, "an array more changes the model")
    wanted = ["arrays that are not inputs of the model are ignored: 'mask'"]
    score.check(told == wanted, f"what is left out is told: {told}")
    logging.getLogger("baryon").removeHandler(handler)


def check_again(score, data):
    once = quantize(Reader(data)).model
    reader = Again(data)
    score.check(quantize(reader).model == once, "a reader that comes once and one that begins again")
    score.check(reader.given == len(data) + 1, f"samples are made once, not {reader.given} times")
    score.check(quantize(reader).model == once, "the same reader a second time")

    def endless():
        while True:
            yield from data

    score.check(quantize(endless(), limit=len(data)).model == once, "an endless reader with a limit")


def check_progress(score, data):
    told = []
    quantize(data, progress=lambda *now: told.append(now))
    done = [now for now in told if now[0] == "calibrate"]
    score.check([now[1] for now in done] == list(range(len(data) + 1)) and done[-1][2] == len(data), f"{told}")
    raises(score, errors.CancelledError, "", quantize, data, progress=lambda stage, done, total: done < 3)
    for _ in range(20):  # the reader may be asked before the library knows
        raises(score, errors.CancelledError, "", quantize, Reader(data), progress=lambda *_: False)
    raises(score, Broken, "progress", quantize, data, progress=lambda *_: (_ for _ in ()).throw(Broken("progress")))


def check_threads(score, data):
    other = samples(seed=7)
    alone = [quantize(data).model, quantize(other).model]
    made = [None, None]

    def work(place, source):
        made[place] = quantize(Reader(source)).model

    threads = [threading.Thread(target=work, args=pair) for pair in enumerate((data, other))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    score.check(made == alone, "two threads at once")


SCRIPT = """
import itertools, sys, time
import numpy as np, baryon
def endless():
    for i in itertools.count():
        if i == 3:
            print("ready", flush=True)
        time.sleep(0.01)
        yield {"image": np.ones((1, 3, 8, 8), "f4")}
try:
    baryon.quantize("model.onnx", "never.onnx", preset="XINT8", data=endless())
except KeyboardInterrupt:
    print("stopped", flush=True)
print(baryon.quantize("model.onnx", preset="XINT8", data=[np.ones((1, 3, 8, 8), "f4")]).samples)
"""


def check_interrupt(score):
    process = subprocess.Popen([sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, text=True)
    score.check(process.stdout.readline() == "ready\n", "the script begins")
    process.send_signal(signal.SIGINT)
    rest = process.communicate(timeout=600)[0]  # it would take for ever
    score.check(rest == "stopped\n1\n" and process.returncode == 0, f"Ctrl-C: {rest!r}, {process.returncode}")
    score.check(not pathlib.Path("never.onnx").exists(), "there is no half of a model")


def check_import(score):
    """Without numpy, onnx and the library; the processor's time, since others may be at work."""
    script = "import time; t = time.process_time(); import baryon; s = time.process_time() - t; import sys; print(s, 'numpy' in sys.modules)"
    told = [subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, check=True).stdout.split() for _ in range(3)]
    score.check(min(float(one[0]) for one in told) < 0.2 and told[0][1] == "False", f"import: {told}")


def check_memory(score):
    """As many samples as one likes in the same memory: resident size hardly grows."""
    count = 10000 if LONG else 600
    rng = np.random.default_rng(5)
    sample = rng.normal(size=(1, 3, 64, 64)).astype(np.float32)

    class Counted:
        def __init__(self, count):
            self.count = self.left = count

        def __len__(self):
            return self.count

        def rewind(self):
            self.left = self.count

        def get_next(self):
            self.left -= 1
            return {"image": sample + np.float32(self.left)} if self.left >= 0 else None

    cli_models.net("wide.onnx", batch=1, sides=(64, 64))
    baryon.calibrate("wide.onnx", Counted(50), threads=2)
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = baryon.calibrate("wide.onnx", Counted(count), threads=2)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    score.check(found.covered == count and grown < 16 << 10, f"{count} samples: {grown} KiB more")


def main():
    score = Score()
    data = samples()
    with workplace():
        check_bad(score, data)
        check_others(score, data)
        check_again(score, data)
        check_progress(score, data)
        check_threads(score, data)
        check_interrupt(score)
        check_import(score)
        if "asan" not in str(BUILD):  # it keeps what was freed
            check_memory(score)
    return score.finish()


if __name__ == "__main__":
    raise SystemExit(main())
