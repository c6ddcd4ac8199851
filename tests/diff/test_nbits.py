"""Weights of MatMulNBits: beside ONNX Runtime's own quantizer, and what the operator computes with them."""

import itertools
import struct
import subprocess

import numpy as np
import onnxruntime
from dump import Score, tool
from onnx import helper, numpy_helper
from onnxruntime.capi import _pybind_state

RUNTIMES = {bits: getattr(_pybind_state, f"quantize_matmul_{bits}bits") for bits in (2, 4, 8)}
rng = np.random.default_rng(17)


class Ours:
    def __init__(self):
        self.process = subprocess.Popen([tool("nbits_dump")], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def _array(self, kind, *shape):
        size = int(np.prod(shape)) * np.dtype(kind).itemsize
        return np.frombuffer(self.process.stdout.read(size), kind).reshape(shape)

    def ask(self, matrix, bits=4, block=32, symmetric=True, minmse=False, half=False, method="rtn", threads=2,
            transposed=False):
        """matrix: [inputs, channels]."""
        axis = 0 if transposed else 1
        matrix = np.ascontiguousarray(matrix.T if transposed else matrix, "f4")
        words = f"{bits} {block} {symmetric:d} {minmse:d} {half:d} {method} {axis} {1 - axis} {threads}".encode()
        self.process.stdin.write(struct.pack("I", len(words)) + words + struct.pack("2q", *matrix.shape)
                                 + matrix.tobytes())
        self.process.stdin.flush()
        problem = self.process.stdout.read(struct.unpack("I", self.process.stdout.read(4))[0]).decode()
        if problem:
            return problem
        channels, blocks, size, zeros = self._array("u8", 4)
        return Made(bits, self._array("u1", channels, blocks, size), self._array("f4", channels, blocks),
                    self._array("f4", channels, blocks), self._array("u1", channels, zeros),
                    self._array("f8", 1)[0], method == "hqq")


class Made:
    def __init__(self, bits, packed, scales, zeros, packed_zeros, error, float_zeros):
        self.bits, self.packed, self.scales, self.zeros = bits, packed, scales, zeros
        self.packed_zeros, self.error, self.float_zeros = packed_zeros, error, float_zeros

    def levels(self):
        each = 8 // self.bits
        shifts = np.arange(each, dtype="u1") * self.bits
        return (self.packed[..., None] >> shifts & (2**self.bits - 1)).reshape(*self.packed.shape[:2], -1)

    def matrix(self, inputs):
        """What the weights are: [inputs, channels]."""
        values = (self.levels() - self.zeros[..., None]).astype("f4") * self.scales[..., None]
        return values.reshape(len(values), -1)[:, :inputs].T


def theirs(matrix, bits, block, symmetric):
    inputs, channels = matrix.shape
    blocks = -(-inputs // block)
    packed = np.zeros((channels, blocks, block * bits // 8), "u1")
    scales = np.zeros(channels * blocks, "f4")
    zeros = np.zeros(channels * ((blocks * bits + 7) // 8), "u1")
    RUNTIMES[bits](packed, np.ascontiguousarray(matrix), scales, zeros, block, channels, inputs, symmetric)
    zeros = zeros.reshape(channels, -1)
    shifts = np.arange(8 // bits, dtype="u1") * bits
    unpacked = (zeros[..., None] >> shifts & (2**bits - 1)).reshape(channels, -1)[:, :blocks].astype("f4")
    if symmetric:
        unpacked = np.full((channels, blocks), 2.0**(bits - 1), "f4")
    return Made(bits, packed, scales.reshape(channels, blocks), unpacked, zeros, None, False)


def draw(kind, inputs, channels):
    values = rng.normal(0, 0.05, (inputs, channels))
    if kind == "outliers":
        values[rng.integers(0, inputs, 20), rng.integers(0, channels, 20)] *= 30
    if kind == "shifted":
        values += 0.2
    if kind == "zeros":
        values[:64] = 0
    return values.astype("f4")


def run_operator(made, block, x, channels):
    inputs = [("B", made.packed), ("scales", made.scales.ravel())]
    if made.float_zeros:
        inputs.append(("zeros", made.zeros.ravel()))
    else:
        inputs.append(("zeros", made.packed_zeros.ravel()))
    node = helper.make_node("MatMulNBits", ["x", *(name for name, _ in inputs)], ["y"], domain="com.microsoft",
                            K=x.shape[1], N=channels, bits=made.bits, block_size=block)
    graph = helper.make_graph(
        [node], "g", [helper.make_tensor_value_info("x", 1, x.shape)],
        [helper.make_tensor_value_info("y", 1, [x.shape[0], channels])],
        [numpy_helper.from_array(np.array(value), name) for name, value in inputs])
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17),
                                                                  helper.make_opsetid("com.microsoft", 1)])
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, {"x": x})[0]


def check_made(score, made, matrix, block, what):
    back = made.matrix(matrix.shape[0])
    off = float(np.mean((back.astype("f8") - matrix)**2))
    score.check(np.isclose(off, made.error, rtol=1e-5, atol=1e-15), f"{what}: error {made.error}, is {off}")
    x = rng.normal(size=(3, matrix.shape[0])).astype("f4")
    wanted = x.astype("f8") @ back
    found = run_operator(made, block, x, matrix.shape[1])
    score.check(np.allclose(found, wanted, rtol=0, atol=2e-6 * np.abs(x).sum(1).max() * np.abs(back).max()),
                f"{what}: the operator gives something else, {np.abs(found - wanted).max()}")


def beside_runtime(ours, score):
    """The formula is the runtime's; a level may differ where it multiplies instead of dividing."""
    for bits, block, symmetric, kind in itertools.product((2, 4, 8), (16, 32, 64, 128, 256), (True, False),
                                                          ("normal", "outliers", "shifted", "zeros")):
        matrix, what = draw(kind, 300, 35), f"{bits} bits, blocks of {block}, {symmetric}, {kind}"
        made = ours.ask(matrix, bits, block, symmetric)
        check_made(score, made, matrix, block, what)
        other = theirs(matrix, bits, block, symmetric)
        used = other.scales != 0
        score.check(np.allclose(made.scales[used], other.scales[used], rtol=1e-6), f"{what}: scales")
        score.check(np.mean(made.zeros[used] == other.zeros[used]) > 0.999, f"{what}: zero points")
        inputs = np.broadcast_to(used[..., None], made.levels().shape).copy()
        inputs.reshape(35, -1)[:, 300:] = False
        same = np.mean(made.levels()[inputs] == other.levels()[inputs])
        score.check(same > 0.998, f"{what}: {same:.4%} of the levels are the same")


def searches(ours, score):
    gains = []
    for bits, block, kind in itertools.product((2, 4), (32, 128), ("normal", "outliers", "shifted")):
        matrix = draw(kind, 512, 24)
        for symmetric in (True, False):
            plain = ours.ask(matrix, bits, block, symmetric)
            best = ours.ask(matrix, bits, block, symmetric, minmse=True)
            check_made(score, best, matrix, block, f"minmse {bits} {block} {kind} {symmetric}")
            score.check(best.error <= plain.error * (1 + 1e-9), f"minmse is worse: {bits} {block} {kind} {symmetric}")
            gains.append(plain.error / best.error)
        plain, hqq = ours.ask(matrix, bits, block, False), ours.ask(matrix, bits, block, False, method="hqq")
        check_made(score, hqq, matrix, block, f"HQQ {bits} {block} {kind}")
        off = [float(np.mean(np.abs(m.matrix(512) - matrix))) for m in (plain, hqq)]
        score.check(off[1] <= off[0] * 1.0001, f"HQQ {bits} {block} {kind}: {off[1]}, nearest {off[0]}")
    print(f"error of nearest levels beside minmse: {np.mean(gains):.3f} times")


def forms(ours, score):
    matrix = draw("normal", 320, 70)
    one = ours.ask(matrix, method="hqq", symmetric=False, threads=1)
    for many in (ours.ask(matrix, method="hqq", symmetric=False, threads=4),
                 ours.ask(matrix, method="hqq", symmetric=False, transposed=True)):
        score.check(all(np.array_equal(getattr(one, a), getattr(many, a)) for a in ("packed", "scales", "zeros")),
                    "threads or the way the matrix lies change the result")
    half = ours.ask(matrix, half=True, symmetric=False, method="hqq")
    for values in (half.scales, half.zeros):
        score.check(np.array_equal(values, values.astype("f2").astype("f4")), "numbers that are no float16")
    alike = ours.ask(np.full((64, 3), 0.3, "f4"), method="hqq", symmetric=False)
    score.check(np.allclose(alike.matrix(64), 0.3), "HQQ of equal values")
    matrix[3, 4] = np.nan
    score.check("[3,4]" in ours.ask(matrix), "NaN")
    for wrong in ({"bits": 3}, {"block": 24}, {"block": 512}, {"bits": 8, "method": "hqq"}):
        score.check(isinstance(ours.ask(draw("normal", 64, 4), **wrong), str), f"{wrong} is taken")


def main():
    onnxruntime.set_default_logger_severity(4)
    ours, score = Ours(), Score()
    for part in (beside_runtime, searches, forms):
        part(ours, score)
    return score.finish()


if __name__ == "__main__":
    raise SystemExit(main())
