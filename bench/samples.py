"""How many samples a quantization needs, and of what kind: 8 to 512 of them, on models of build/zoo.

    samples.py [--seeds 3] [--write]

Each model is calibrated on random draws of a pool and judged on samples from other sources, by the SQNR of its worst
output against the float model. Further rows spoil the samples in the ways that people spoil them. --write:
docs/choosing-samples.md.
"""

import argparse
import datetime
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))
import baryon  # noqa: E402
from measure import machine  # noqa: E402

ZOO = ROOT / "build/zoo"
COUNTS = (8, 16, 32, 64, 128, 256, 512)
JUDGES = 64
METHODS = {"XINT8": {"preset": "XINT8"}, "A8W8": {"preset": "A8W8", "activation_method": "percentile"}}


def load(path):
    return np.asarray(Image.open(path).convert("RGB"), np.float32)


def crop(rng, picture, height, width):
    """A random part of a picture, of random size and maybe mirrored, brought to height x width."""
    share = rng.uniform(0.25, 0.9) * min(picture.shape[0] / height, picture.shape[1] / width)
    tall, wide = max(1, int(height * share)), max(1, int(width * share))
    top, left = rng.integers(0, picture.shape[0] - tall + 1), rng.integers(0, picture.shape[1] - wide + 1)
    part = Image.fromarray(picture[top : top + tall, left : left + wide].astype(np.uint8)).resize((width, height))
    array = np.asarray(part, np.float32)
    return array[:, ::-1] if rng.integers(2) else array


def fixed(name, sizes):
    """The model with fixed sizes of its input."""
    model = onnx.load(ZOO / "models" / name)
    constants = {row.name for row in model.graph.initializer}
    entry = next(row for row in model.graph.input if row.name not in constants)
    for dim, size in zip(entry.type.tensor_type.shape.dim, sizes):
        dim.dim_value = size
    for output in model.graph.output:
        output.type.tensor_type.ClearField("shape")
    return entry.name, onnx.shape_inference.infer_shapes(model)


class Pictures:
    """Random parts of pictures; those that judge come from other pictures."""

    def __init__(self, model, height, width, pool, judges, prepare, raw):
        self.entry, self.model = fixed(model, (1, 3, height, width))
        self.size, self.prepare, self.raw = (height, width), prepare, raw
        self.pool, self.judges = [load(ZOO / path) for path in pool], [load(ZOO / path) for path in judges]

    def draw(self, rng, pictures, count, prepare):
        for _ in range(count):
            array = prepare(crop(rng, pictures[rng.integers(len(pictures))], *self.size))
            yield {self.entry: np.ascontiguousarray(array.transpose(2, 0, 1)[None], np.float32)}

    def samples(self, rng, count):
        return list(self.draw(rng, self.pool, count, self.prepare))

    def judging(self):
        return list(self.draw(np.random.default_rng(99), self.judges, JUDGES, self.prepare))

    def spoiled(self, rng, count):
        yield "of one picture alone", list(self.draw(rng, self.pool[:1], count, self.prepare))
        yield "prepared otherwise than in training", list(self.draw(rng, self.pool, count, self.raw))
        noise = rng.normal(size=(count, 1, 3, *self.size)).astype(np.float32)
        yield "random numbers", [{self.entry: array} for array in noise]


class Files:
    """Beginning and end of files, as magika reads them; those that judge are other files."""

    def __init__(self):
        self.entry, self.model = fixed("magika.onnx", (1, 2048))
        names = subprocess.run(["git", "ls-files"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
        paths = [ROOT / name for name in names.splitlines()]
        paths = sorted(path for path in paths if path.is_file() and path.stat().st_size > 512)
        np.random.default_rng(1).shuffle(paths)
        self.judges, self.pool = paths[:JUDGES], paths[JUDGES:]

    def read(self, path):
        data = path.read_bytes()
        both = (data[:1024].ljust(1024, b"\0"), data[-1024:].rjust(1024, b"\0"))
        return {self.entry: np.frombuffer(b"".join(both), np.uint8).astype(np.int32)[None]}

    def samples(self, rng, count):
        return [self.read(self.pool[i]) for i in rng.choice(len(self.pool), count, replace=False)]

    def judging(self):
        return [self.read(path) for path in self.judges]

    def spoiled(self, rng, count):
        kind = [path for path in self.pool if path.suffix == ".c"]
        yield "of one class alone", [self.read(kind[i]) for i in rng.choice(len(kind), count, replace=False)]
        yield "random numbers", [{self.entry: rng.integers(0, 256, (1, 2048)).astype(np.int32)} for _ in range(count)]


def networks():
    centred = lambda array: array / 127.5 - 1  # noqa: E731
    as_is = lambda array: array  # noqa: E731
    photos = ["pictures/chelsea.png", "pictures/coffee.png", "pictures/motorcycle.png"]
    yield "CenterFace, a detector, on parts of photos", Pictures(
        "centerface.onnx", 160, 160, photos, ["pictures/astronaut.png", "pictures/rocket.jpg"], as_is, centred)  # fmt: skip
    yield "PP-OCR, a classifier of lines, on parts of a page", Pictures(
        "ppocr_cls.onnx", 48, 192, ["texts/page.png", *photos], ["texts/text.png", "pictures/astronaut.png"], centred, as_is)  # fmt: skip
    yield "magika, a classifier of files", Files()


def outputs(path, samples):
    """Outputs of the model, all samples of each in one array."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    found = [session.run(None, sample) for sample in samples]
    return [np.concatenate([values.ravel() for values in each]).astype(np.float64) for each in zip(*found)]


def judge(network, samples, judges, options):
    """SQNR in dB of the worst output."""
    with tempfile.TemporaryDirectory() as folder:
        model, made = f"{folder}/float.onnx", f"{folder}/quantized.onnx"
        onnx.save(network.model, model)
        baryon.quantize(model, made, data=samples, no_judge=True, **options)
        pairs = zip(outputs(model, judges), outputs(made, judges))
        return min(10 * np.log10((wanted @ wanted) / ((wanted - got) @ (wanted - got))) for wanted, got in pairs)


def rows(network, seeds):
    """What was calibrated on, and for each method the SQNR of all seeds."""
    judges = network.judging()
    for count in COUNTS:
        draws = [network.samples(np.random.default_rng(seed), count) for seed in range(seeds)]
        yield str(count), [[judge(network, draw, judges, options) for draw in draws] for options in METHODS.values()]
    for what, samples in network.spoiled(np.random.default_rng(0), 128):
        yield f"128 {what}", [[judge(network, samples, judges, options)] for options in METHODS.values()]


def cell(values):
    if len(values) == 1:
        return f"{values[0]:.1f}"
    return f"{statistics.mean(values):.1f} ({min(values):.1f} to {max(values):.1f})"


def page(seeds):
    yield f"{datetime.date.today()}, {machine()}; `bench/samples.py --write`"
    for name, network in networks():
        yield f"\n**{name}**\n"
        yield "| calibrated on | " + " | ".join(f"{method}: dB" for method in METHODS) + " |"
        yield "|---|" + "---|" * len(METHODS)
        for what, found in rows(network, seeds):
            line = f"| {what} | " + " | ".join(cell(values) for values in found) + " |"
            print(line, file=sys.stderr, flush=True)
            yield line


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    text = "\n".join(page(options.seeds)) + "\n"
    print(text)
    if options.write:
        place = ROOT / "docs/choosing-samples.md"
        before, after = place.read_text("utf-8").split("<!-- measured -->\n")[::2]
        place.write_text(f"{before}<!-- measured -->\n{text}<!-- measured -->\n{after}", "utf-8")


if __name__ == "__main__":
    main()
