"""Nodes of Quark's operators with inputs, the same ones wherever and whenever they are made, and a way
to run them with a library."""

import ctypes

import dtype_data as data
import numpy as np
import onnxruntime
from onnx import TensorProto, helper

FLOAT, HALF, BF16 = TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16
CODES = {TensorProto.UINT8: "u1", TensorProto.INT8: "i1", TensorProto.UINT16: "u2", TensorProto.INT16: "i2",
         TensorProto.UINT32: "u4", TensorProto.INT32: "i4", HALF: "u2", BF16: "u2"}
STORED = CODES | {FLOAT: "f4", TensorProto.INT64: "i8"}
OLD_NAMES = {"BFPQuantizeDequantize": "BFPFixNeuron", "MXQuantizeDequantize": "MXFixNeuron",
             "ExtendedQuantizeLinear": "VitisQuantizeLinear", "ExtendedDequantizeLinear": "VitisDequantizeLinear",
             "ExtendedInstanceNormalization": "VitisInstanceNormalization", "ExtendedLSTM": "VitisLSTM"}
SHAPES = [(), (1,), (50,), (4, 17), (33, 1), (3, 5, 7), (2, 33, 5), (2, 3, 4, 5), (1, 64, 3, 3), (2, 3, 2, 5, 3)]


class Node:
    """One node in a model of its own."""

    def __init__(self, library, operator, inputs, output, old=False, threads=1, **attributes):
        domain = "com.vai.quantize" if old else "com.amd.quark"
        names = [f"x{i}" for i in range(len(inputs))]
        node = helper.make_node(OLD_NAMES[operator] if old else operator, names, ["y"], "node", domain=domain,
                                **attributes)
        graph = helper.make_graph(
            [node], "one", [helper.make_tensor_value_info(n, t, None) for n, t in zip(names, inputs)],
            [helper.make_tensor_value_info("y", output, None)])
        model = helper.make_model(graph, ir_version=8, opset_imports=[
            helper.make_opsetid("", 17), helper.make_opsetid(domain, 1)])
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.register_custom_ops_library(str(library))
        options.log_severity_level = 4
        self.inputs, self.output = inputs, output
        self.session = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                                    providers=["CPUExecutionProvider"])

    def bind(self, *arrays):
        """For run_with_iobinding(); half floats and bf16 are their bits."""
        bound = self.session.io_binding()
        for i, (array, elem) in enumerate(zip(arrays, self.inputs)):
            value = onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(
                np.ascontiguousarray(array).reshape(array.shape), elem)
            bound.bind_ortvalue_input(f"x{i}", value)
        bound.bind_output("y")
        return bound

    def run(self, *arrays):
        """NaN of a half float comes out as the usual one: what it carries depends on where the runtime's
        own cast meets it."""
        bound = self.bind(*arrays)
        self.session.run_with_iobinding(bound)
        out = bound.get_outputs()[0]  # numpy has not all of the types
        shape, kind = out.shape(), np.dtype(STORED[self.output])
        count = int(np.prod(shape))
        if not count:
            return np.empty(shape, kind)
        values = np.frombuffer((ctypes.c_char * (count * kind.itemsize)).from_address(out.data_ptr()),
                               kind).copy().reshape(shape)
        if self.output == HALF:
            values = np.where((values & 0x7FFF) > 0x7C00, values & 0x8000 | 0x7E00, values).astype("u2")
        return values


def arrays(shape, seed=0):
    """With magnitudes of all sizes and what is not finite; and plain ones with many ties."""
    count = int(np.prod(shape))
    yield data.blocks(60 + seed, 1, count).reshape(shape)
    plain = (data.words(61 + seed, count) % np.uint64(2001)).astype("f4") / 250 - 4
    plain[data.words(62 + seed, count) % np.uint64(16) == 0] = -0.0
    yield plain.reshape(shape)
    mixed = data.blocks(63 + seed, count // 8 + 1, 8).ravel()[:count].reshape(shape)
    yield np.where(np.isfinite(mixed), mixed, plain.reshape(shape))


def halves(shape):
    count = int(np.prod(shape))
    for seed in (70, 71):
        codes = (data.words(seed, count) >> np.uint64(16)).astype("u2")
        nan = (codes & 0x7FFF) > 0x7C00
        yield np.where(nan, 0x7E00, codes).astype("u2").reshape(shape)
    small = (data.words(72, count) % np.uint64(2001)).astype("f4") / 250 - 4
    yield small.astype("f2").view("u2").reshape(shape)


def axes(shape):
    return range(-len(shape), len(shape)) if shape else [1]


def block_variants():
    """(name, operator, attributes)"""
    bfp, mx = "BFPQuantizeDequantize", "MXQuantizeDequantize"
    yield "bfp default", bfp, {}
    yield "mx default", mx, {}
    for mode in range(3):
        for bits in (10, 12, 16, 20, 24):
            yield f"bfp {bits} {mode}", bfp, {"bfp_method": "to_bfp", "bit_width": bits, "rounding_mode": mode}
        yield f"bfp compiler {mode}", bfp, {"use_compiler_version_cpu_kernel": 1, "rounding_mode": mode}
        yield f"bfp bfloat {mode}", bfp, {"convert_to_bfloat_before_bfp": 1, "rounding_mode": mode}
        yield f"bfp block 5 {mode}", bfp, {"block_size": 5, "rounding_mode": mode}
        for bits, sub, shifts in ((11, 2, 1), (13, 2, 1), (16, 2, 1), (14, 4, 2), (10, 1, 3), (20, 16, 0)):
            yield f"micro {bits} {sub} {shifts} {mode}", bfp, {
                "bfp_method": "to_bfp_prime", "bit_width": bits, "block_size": 16, "sub_block_size": sub,
                "sub_block_shift_bits": shifts, "rounding_mode": mode}
        yield f"micro block 6 {mode}", bfp, {
            "bfp_method": "to_bfp_prime_shared", "block_size": 6, "sub_block_size": 3, "rounding_mode": mode}
        for element in ("int8", "fp8_e5m2", "fp8_e4m3", "fp6_e3m2", "fp6_e2m3", "fp4_e2m1"):
            yield f"mx {element} {mode}", mx, {"element_dtype": element, "rounding_mode": mode}
        yield f"mx block 7 {mode}", mx, {"block_size": 7, "rounding_mode": mode}


def in_blocks(library, operator, attributes, elem, make, turn):
    """What becomes of arrays of all shapes, along one axis in turn; along all of them where turn is None."""
    for i, shape in enumerate(SHAPES):
        every = axes(shape)
        for axis in every if turn is None else [every[(turn + i) % len(every)]]:
            node = Node(library, operator, [elem], elem, axis=axis, **attributes)
            for values in make(shape):
                yield node.run(values)


def channel_sets(elem, channels, seed):
    """Scales and zero points."""
    scales = (data.words(80 + seed, channels) % np.uint64(1000) + np.uint64(1)).astype("f4") / 300
    if elem in (HALF, BF16):
        zeros = (data.words(81 + seed, channels) % np.uint64(9)).astype("f4") - 4
        zeros = zeros.astype("f2").view("u2") if elem == HALF else (zeros.view("u4") >> 16).astype("u2")
    else:
        zeros = data.words(82 + seed, channels).astype(CODES[elem])
    return scales, zeros


def with_scales(elem, shape):
    """(attributes, scale, zero): one for all, and one for each channel."""
    for seed, form in ((0, ()), (1, (1,))):
        scales, zeros = channel_sets(elem, 1, seed)
        yield {}, scales.reshape(form), zeros.reshape(form)
    kind = np.dtype(CODES[elem])
    yield {"axis": 2}, np.array(1, "f4"), np.zeros((), kind)
    for axis in axes(shape) if shape else []:
        yield {"axis": axis}, *channel_sets(elem, shape[axis], axis + 7)
    if shape:
        yield {}, *channel_sets(elem, shape[0], 3)


def linear(library, elem):
    """Codes of arrays of all shapes, and the values of these codes."""
    for shape in SHAPES:
        for attributes, scale, zero in with_scales(elem, shape):
            quantize = Node(library, "ExtendedQuantizeLinear", [FLOAT, FLOAT, elem], elem, **attributes)
            dequantize = Node(library, "ExtendedDequantizeLinear", [elem, FLOAT, elem], FLOAT, **attributes)
            for values in arrays(shape, len(shape)):
                yield quantize.run(values, scale, zero)
            count = int(np.prod(shape))
            codes = (data.words(90, count) >> np.uint64(11)).astype(CODES[elem]).reshape(shape)
            if elem in (HALF, BF16):  # the usual NaN
                limit, nan = (0x7C00, 0x7E00) if elem == HALF else (0x7F80, 0x7FC0)
                codes = np.where((codes & 0x7FFF) > limit, nan, codes).astype("u2")
            yield dequantize.run(codes, scale, zero)


NORM_SHAPES = [(3, 5), (1, 1, 1), (2, 3, 7), (1, 9, 16), (2, 5, 6, 7), (1, 4, 2, 3, 5), (1, 6, 40, 40)]


def instance_norms(library):
    for i, shape in enumerate(NORM_SHAPES):
        scale, bias = ((data.words(100 + k, shape[1]) % np.uint64(4001)).astype("f4") / 1000 - 2 for k in (0, 1))
        for epsilon in ({}, {"epsilon": 1e-3}):
            node = Node(library, "ExtendedInstanceNormalization", [FLOAT] * 3, FLOAT, **epsilon)
            for values in arrays(shape, 40 + i):
                found = node.run(values, scale, bias)
                yield np.where(np.isnan(found), np.float32("nan"), found)  # its sign is the compiler's
            for low, high in ((-1, 1), (0, 1000), (2.999, 3)):
                part = (data.words(102 + i, int(np.prod(shape))) >> np.uint64(40)).astype("f4") / 2**24
                yield node.run((part * (high - low) + low).astype("f4").reshape(shape), scale, bias)


def lstm_case(steps, inputs, hidden, seed, zero):
    """(attributes, arrays): ranges of real networks; zero moves the zero points from the middle."""
    def values(number, low, high, *shape):
        part = (data.words(110 + 10 * seed + number, int(np.prod(shape))) >> np.uint64(40)).astype("f4") / 2**24
        return (part * (high - low) + low).astype("f4").reshape(shape)

    given = [values(0, -2, 3, steps, 1, inputs), values(1, -0.6, 0.5, 2, 4 * hidden, inputs),
             values(2, -0.5, 0.7, 2, 4 * hidden, hidden), values(3, -1, 1, 2, 8 * hidden)]
    attributes = {"direction": "bidirectional", "hidden_size": hidden}
    for name, span, turn in (("x", 5, 1), ("w", 1.1, -1), ("r", 1.2, 1), ("b", 2, -1), ("y", 2.1, 1)):
        attributes[f"{name}_scale"] = float(np.float32(span / 65535))
        attributes[f"{name}_zero_point"] = 32768 + turn * zero
    return attributes, given


def lstms(library):
    for seed, (steps, inputs, hidden) in enumerate([(1, 1, 1), (5, 4, 8), (12, 30, 17), (9, 64, 32), (0, 3, 2)]):
        for zero in (0, 5, 3000, -7):
            attributes, given = lstm_case(steps, inputs, hidden, seed, zero)
            yield Node(library, "ExtendedLSTM", [FLOAT] * 4, FLOAT, **attributes).run(*given)
    attributes, given = lstm_case(4, 24, 9, 5, 100)
    yield Node(library, "ExtendedLSTM", [FLOAT] * 4, FLOAT, **attributes).run(*(np.full_like(g, -90) for g in given))
    for span in (1 / 16384, 1 / 40000, 1 / 70000, 1 / 600):  # powers of two have a side of their own
        attributes, given = lstm_case(6, 8, 8, 9, 40)
        attributes |= {"x_scale": span, "y_scale": span, "w_scale": 1 / 32768}
        yield Node(library, "ExtendedLSTM", [FLOAT] * 4, FLOAT, **attributes).run(*given)


def answers(library):
    """(case, digest)"""
    for i, (name, operator, attributes) in enumerate(block_variants()):
        turn = i if attributes else None
        yield name, data.digest(*in_blocks(library, operator, attributes, FLOAT, arrays, turn))
        yield f"{name} half", data.digest(*in_blocks(library, operator, attributes, HALF, halves, turn))
    for elem in CODES:
        yield f"linear {TensorProto.DataType.Name(elem)}", data.digest(*linear(library, elem))
    for i, values in enumerate(instance_norms(library)):
        yield f"instance norm {i}", data.digest(values)
    for i, values in enumerate(lstms(library)):
        yield f"lstm {i}", data.digest(values)
