"""Results for any number of threads.

Baryon adds nothing to what ONNX Runtime computes, so the same bytes come out for any
number of threads wherever ONNX Runtime's own do. This prints for which models that
is so: with 1.31 on x86-64 for all of them but magika. Where it is not, ONNX Runtime's
Python package has to differ, too.
"""

import random
import struct
import time

import models
import process

THREADS = (1, 2, 3, 16) if process.LONG else (1, 5)
SAMPLES = "4" if process.LONG else "1"
# model | what `run` has to be told besides; dimensions are numbered INPUT:AXIS
REAL = {
    "magika": ["--shape", "bytes:0=2", "--int-range", "0:255"],
    "ppocr_cls": ["--shape", "x:0=2", "--shape", "x:2=48", "--shape", "x:3=192"],
    "ppocrv4_det": ["--shape", "x:0=1", "--shape", "x:2=160", "--shape", "x:3=160"],
    "silero_vad_half": ["--shape", "batch=2", "--shape", "sequence=512"],
    "centerface": [],
}


def values(count):
    return struct.pack(f"<{count}f", *(random.gauss(0, 1) for _ in range(count)))


def mixed():
    """Convolution, normalization, product, sums and softmax, of odd sizes."""
    def weight(name, *dims):
        count = 1
        for dim in dims:
            count *= dim
        return models.tensor(name, dims, values(count))

    axes = models.tensor("axes", [1], struct.pack("<q", 3), models.INT64)
    nodes = [
        models.node("Conv", ["x", "k", "kb"], ["a"]),
        models.node("Sigmoid", ["a"], ["b"]),
        models.node("MatMul", ["b", "w"], ["c"]),
        models.node("Softmax", ["c"], ["y"]),
        models.node("ReduceSum", ["c", "axes"], ["sums"]),
    ]
    weights = [weight("k", 7, 5, 3, 3), weight("kb", 7), weight("w", 211, 97), axes]
    outputs = [models.port("y", [1, 7, 301, 97]), models.port("sums", [1, 7, 301, 1])]
    return models.model(nodes, weights, [models.port("x", [1, 5, 303, 213])], outputs)


class Threads(process.Case):
    quick = True

    def outputs(self, words, threads):
        out = self.folder / f"out-{threads}"
        self.baryon("run", *words, "--threads", str(threads), "--seed", "7", "--out", out, "--force")
        return {str(p.relative_to(out)): p.read_bytes() for p in out.rglob("*.npy")}

    def engine_differs(self, path, words):
        """The same by ONNX Runtime's own package, of some of many values."""
        import numpy
        import onnxruntime

        sizes = {}
        for option, word in zip(words, words[1:]):
            if option == "--shape":
                sizes.update([word.split("=")])
        sessions = []
        for threads in THREADS:
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = threads
            options.log_severity_level = 3
            sessions.append(onnxruntime.InferenceSession(path, options, ["CPUExecutionProvider"]))
        for seed in range(20):
            feed, generator = {}, numpy.random.default_rng(seed)
            for port in sessions[0].get_inputs():
                shape = [
                    int(sizes.get(f"{port.name}:{axis}", sizes.get(size, size)))
                    for axis, size in enumerate(port.shape)
                ]
                kind = numpy.float32 if "float" in port.type else numpy.int32
                feed[port.name] = (generator.random(shape) * 200).astype(kind)
            outcomes = {b"".join(array.tobytes() for array in session.run(None, feed)) for session in sessions}
            if len(outcomes) > 1:
                return True
        return False

    def compare(self, name, *words):
        begin = time.monotonic()
        one = self.outputs(words, THREADS[0])
        self.assertTrue(one)
        differing = []
        for threads in THREADS[1:]:
            other = self.outputs(words, threads)
            self.assertEqual(set(other), set(one))
            differing += [threads] * (other != one)
        seconds = time.monotonic() - begin
        verdict = f"other bytes with {differing}" if differing else "the same bytes"
        print(f"{name}: {verdict}, threads {THREADS}, {seconds:.1f} s", flush=True)
        if differing:
            self.assertTrue(self.engine_differs(str(self.folder / words[0]), words), name)

    def test_layers(self):
        models.save(self.folder / "m.onnx", mixed())
        self.compare("layers", "m.onnx", "--random", SAMPLES)

    def test_wide(self):
        models.save(self.folder / "m.onnx", models.sums(3, 1 << 20, 0.1))
        self.compare("sums", "m.onnx", "--random", SAMPLES)

    def test_real_models(self):
        for name in REAL if process.LONG else ("magika", "ppocr_cls"):
            words = REAL[name]
            path = process.MODELS / f"{name}.onnx"
            if not path.exists():
                self.skipTest(f"{path.name} was not fetched")
            with self.subTest(name):
                self.compare(name, str(path.resolve()), "--random", "2", *words)

    def test_options_of_the_engine(self):
        """Levels of optimization do not change what sums and signs come to."""
        models.save(self.folder / "m.onnx", models.chain(60))
        words = ("m.onnx", "--random", "3", "--shape", "N=1000")
        one = self.outputs(words, 1)
        for more in (["--opt-level", "none"], ["--deterministic"]):
            self.assertEqual(self.outputs([*words, *more], 2), one, more)


if __name__ == "__main__":
    process.main()
