"""The operators of libbaryon_ops.so: beside stored answers of Quark's library, bit for bit; in ways that
Quark's cannot; and what they say where they cannot.

LONG=1: a million blocks of each format; without, test_dtype.py has them beside the same kernels."""

import json
import os
import pathlib

import dtype_data as data
import numpy as np
import onnxruntime as ort
import ops_data
from dump import BUILD, Score
from onnx import TensorProto, helper
from ops_data import BF16, FLOAT, HALF, Node

GOLDEN = pathlib.Path(__file__).parent.parent / "golden/ops"
LIBRARY = BUILD / "libbaryon_ops.so"
BFP, MX = "BFPQuantizeDequantize", "MXQuantizeDequantize"
QUANTIZE, DEQUANTIZE = "ExtendedQuantizeLinear", "ExtendedDequantizeLinear"
NORM, LSTM = "ExtendedInstanceNormalization", "ExtendedLSTM"


def test_answers(score):
    wanted = json.loads((GOLDEN / "answers.json").read_text())
    seen = dict(ops_data.answers(LIBRARY))
    for name in wanted | seen:
        score.check(wanted.get(name) == seen.get(name), name)


def test_million(score):
    """A million blocks of each format."""
    wanted = json.loads((GOLDEN.parent / "dtype/answers.json").read_text())
    nodes = {}

    def run(name, values, axis):
        if (name, axis) not in nodes:
            operator, attributes = data.operator_of(name, "even")
            nodes[name, axis] = Node(LIBRARY, operator, [FLOAT], FLOAT, axis=axis, threads=2, **attributes)
        return nodes[name, axis].run(values)

    for name, digest in data.digests_of_million(data.BLOCK_FORMATS, run).items():
        score.check(digest == wanted[f"{name} even million"], f"{name}: a million blocks")


def big_nodes():
    """(name, operator, inputs, output, attributes, arrays) of more values than one thread takes."""
    values = data.blocks(5, 700, 1000)
    small = (data.words(6, 700000) % np.uint64(2001)).astype("f4").reshape(700, 1000) / 250 - 4
    scales, zeros = ops_data.channel_sets(TensorProto.INT16, 1000, 1)
    for axis in (0, 1):
        yield f"bfp {axis}", BFP, [FLOAT], FLOAT, {"axis": axis}, [values]
        yield f"mx9 {axis}", BFP, [FLOAT], FLOAT, {"axis": axis, "bfp_method": "to_bfp_prime", "block_size": 16}, [values]
        yield f"mx {axis}", MX, [FLOAT], FLOAT, {"axis": axis}, [values]
    yield "half", MX, [HALF], HALF, {"element_dtype": "fp4_e2m1"}, [small.astype("f2").view("u2")]
    yield "channels", QUANTIZE, [FLOAT, FLOAT, TensorProto.INT16], TensorProto.INT16, {"axis": 1}, [values, scales, zeros]
    yield "bf16", QUANTIZE, [FLOAT, FLOAT, BF16], BF16, {}, [values, np.array(3, "f4"), np.array(0, "u2")]
    yield "to half", QUANTIZE, [FLOAT, FLOAT, HALF], HALF, {}, [values, np.array(3, "f4"), np.array(0, "u2")]
    codes = (values.view("u4") >> 16).astype("i2")
    yield "norm", NORM, [FLOAT] * 3, FLOAT, {}, [small.reshape(7, 25, 4000), scales[:25], scales[25:50]]
    attributes, given = ops_data.lstm_case(7, 20, 24, 3, 9)
    yield "lstm", LSTM, [FLOAT] * 4, FLOAT, attributes, given
    yield "back", DEQUANTIZE, [TensorProto.INT16, FLOAT, TensorProto.INT16], FLOAT, {"axis": 1}, [codes, scales, zeros]


def test_threads(score):
    for name, operator, inputs, output, attributes, arrays in big_nodes():
        answers = {data.digest(Node(LIBRARY, operator, inputs, output, threads=threads, **attributes).run(*arrays))
                   for threads in (1, 2, 3, 8)}
        score.check(len(answers) == 1, f"{name}: the same for any number of threads")


def test_old_names(score):
    for name, operator, inputs, output, attributes, arrays in big_nodes():
        new, old = (Node(LIBRARY, operator, inputs, output, old=old, **attributes).run(*arrays) for old in (False, True))
        score.check(data.digest(new) == data.digest(old), f"{name}: the same under its old name")


def test_any_rank(score):
    """A session takes inputs of any rank and size, one after the other."""
    for operator, attributes in ((BFP, {}), (BFP, {"bfp_method": "to_bfp_prime", "block_size": 16}), (MX, {})):
        one = Node(LIBRARY, operator, [FLOAT], FLOAT, axis=-1, **attributes)
        for shape in [*ops_data.SHAPES, (0,), (3, 0), (0, 4, 2), *reversed(ops_data.SHAPES)]:
            values = next(ops_data.arrays(shape))
            fresh = Node(LIBRARY, operator, [FLOAT], FLOAT, axis=-1, **attributes)
            score.check(data.digest(one.run(values)) == data.digest(fresh.run(values)), f"{operator}: shape {shape}")


def test_input_stays(score):
    """Rounding to bf16 first does not write into what others read."""
    values = next(ops_data.arrays((6, 40)))
    before = values.copy()
    Node(LIBRARY, BFP, [FLOAT], FLOAT, convert_to_bfloat_before_bfp=1).run(values)
    score.check(data.digest(values) == data.digest(before), "the input stays as it is")


ATTRIBUTES = [
    (BFP, {"bfp_method": "to_bfq"}, "attribute bfp_method is 'to_bfq', must be to_bfp or to_bfp_prime"),
    (BFP, {"bfp_method": "x" * 40}, "attribute bfp_method has 40 characters"),
    (BFP, {"bfp_method": 3}, "attribute bfp_method has a wrong type, must be a string"),
    (BFP, {"axis": 1.5}, "attribute axis has a wrong type, must be an integer"),
    (BFP, {"axis": 99}, "attribute axis is 99, must be -16 to 15"),
    (BFP, {"block_size": 0}, "attribute block_size is 0, must be 1 to 2147483648"),
    (BFP, {"bit_width": 9}, "attribute bit_width is 9, must be 10 to 32"),
    (BFP, {"bit_width": 33}, "attribute bit_width is 33"),
    (BFP, {"rounding_mode": 3}, "attribute rounding_mode is 3, must be 0 to 2"),
    (BFP, {"sub_block_size": 0}, "attribute sub_block_size is 0"),
    (BFP, {"sub_block_shift_bits": 9}, "attribute sub_block_shift_bits is 9, must be 0 to 8"),
    (BFP, {"bfp_method": "to_bfp_prime", "sub_block_size": 3},
     "attribute block_size is 8, must be a multiple of sub_block_size, which is 3"),
    (BFP, {"use_compiler_version_cpu_kernel": 1, "bit_width": 13}, "attribute bit_width is 13, must be 16 for use_compiler_version_cpu_kernel"),
    (MX, {"element_dtype": "fp5"}, "attribute element_dtype is 'fp5', must be int8, fp8_e5m2"),
    (MX, {"block_size": -1}, "attribute block_size is -1"),
    (MX, {"rounding_mode": -1}, "attribute rounding_mode is -1"),
]

S8, S64 = TensorProto.INT8, TensorProto.INT64
X, ONE, TWO = np.ones((2, 3), "f4"), np.ones((), "f4"), np.ones(2, "f4")
INPUTS = [
    (BFP, [FLOAT], {"axis": 2}, [X], "block axis 2, must be an axis of the 2 dimensions of the array"),
    (MX, [FLOAT], {"axis": -3}, [X], "block axis -3, must be an axis of the 2 dimensions of the array"),
    (MX, [S64], {}, [X.astype("i8")], "input 0 has type int64, must be float32 or float16"),
    (QUANTIZE, [FLOAT, FLOAT, S64], {}, [X, ONE, ONE.astype("i8")], "the zero point (input 2) has type int64, must be"),
    (QUANTIZE, [FLOAT, FLOAT, S8], {}, [X, ONE, TWO.astype("i1")], "the zero point (input 2) has 2 elements, the scale has one"),
    (QUANTIZE, [FLOAT, FLOAT, S8], {"axis": 1}, [X, TWO, TWO.astype("i1")], "the scale (input 1) has 2 elements, the axis has 3"),
    (QUANTIZE, [FLOAT, FLOAT, S8], {}, [X, TWO, ONE.astype("i1")], "the zero point (input 2) has rank 0"),
    (QUANTIZE, [FLOAT, FLOAT, S8], {"axis": 2}, [X, TWO, TWO.astype("i1")], "attribute axis is 2, must be an axis of the 2 dimensions of the input"),
    (QUANTIZE, [FLOAT, FLOAT, S8], {}, [X, X, TWO.astype("i1")], "the scale (input 1) has rank 2"),
    (NORM, [FLOAT] * 3, {}, [TWO, TWO, TWO], "input 0 has rank 1, must be at least 2: samples x channels"),
    (NORM, [FLOAT] * 3, {}, [X, TWO, TWO], "the scale (input 1) has 2 elements, the input has 3 channels"),
    (NORM, [FLOAT] * 3, {}, [X, X[0], TWO], "the bias (input 2) has 2 elements, the input has 3 channels"),
    (DEQUANTIZE, [S8, FLOAT, S8], {"axis": 1}, [X.astype("i1"), TWO, TWO.astype("i1")], "the scale (input 1) has 2 elements"),
]


def test_late_shapes(score):
    """Shapes that are known only once the runtime has folded constants: types stay what they are."""
    one = helper.make_tensor("one", TensorProto.INT64, [1], [1])
    rest = helper.make_tensor("rest", TensorProto.INT64, [1], [6])
    start, stop = (helper.make_tensor(name, TensorProto.INT64, [1], [at]) for name, at in (("start", 0), ("stop", 1)))
    scale, zero = helper.make_tensor("scale", FLOAT, [], [1.0]), helper.make_tensor("zero", BF16, [], b"\0\0", raw=True)
    nodes = [helper.make_node("Slice", ["one", "start", "stop"], ["first"]),
             helper.make_node("Concat", ["first", "rest"], ["shape"], axis=0),
             helper.make_node("Reshape", ["x", "shape"], ["flat"]),
             helper.make_node(QUANTIZE, ["flat", "scale", "zero"], ["small"], domain="com.amd.quark"),
             helper.make_node(DEQUANTIZE, ["small", "scale", "zero"], ["wide"], domain="com.amd.quark"),
             helper.make_node("Relu", ["wide"], ["y"])]
    graph = helper.make_graph(nodes, "late", [helper.make_tensor_value_info("x", FLOAT, [2, 3])],
                              [helper.make_tensor_value_info("y", FLOAT, None)], [one, rest, start, stop, scale, zero])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.amd.quark", 1)],
                              ir_version=8)
    options = ort.SessionOptions()
    options.register_custom_ops_library(str(LIBRARY))
    session = ort.InferenceSession(model.SerializeToString(), options)
    given = np.array([[1, -2, 3.5], [0, 256, 257]], "f4")
    score.check(session.run(None, {"x": given})[0].tolist() == [[1, 0, 3.5, 0, 256, 256]], "shapes known late")


def complaint(call):
    try:
        call()
    except Exception as error:  # the runtime has many kinds of them
        return str(error)
    return "no complaint"


def test_errors(score):
    for operator, attributes, wanted in ATTRIBUTES:
        said = complaint(lambda: Node(LIBRARY, operator, [FLOAT], FLOAT, **attributes))
        score.check(f"{operator} 'node': {wanted}" in said, f"{wanted}: {said}")
    for operator, inputs, attributes, arrays, wanted in INPUTS:
        output = {QUANTIZE: inputs[-1], DEQUANTIZE: FLOAT}.get(operator, inputs[0])
        node = Node(LIBRARY, operator, inputs, output, **attributes)
        said = complaint(lambda: node.run(*arrays))
        score.check(f"{operator}: {wanted}" in said, f"{wanted}: {said}")


LSTM_ATTRIBUTES = [
    ({"direction": "forward"}, "attribute direction is 'forward', must be bidirectional"),
    ({"hidden_size": 0}, "attribute hidden_size is 0, must be 1 to"),
    ({"hidden_size": None}, "attribute hidden_size is missing"),
    ({"layout": 1}, "attribute layout is 1, must be 0 to 0"),
    ({"input_forget": 1}, "attribute input_forget is 1, must be 0 to 0"),
    ({"w_scale": None}, "attribute w_scale is missing"),
    ({"w_scale": 0.0}, "attribute w_scale is 0, must be greater than 0"),
    ({"y_scale": float("inf")}, "attribute y_scale is inf, must be finite"),
    ({"b_zero_point": None}, "attribute b_zero_point is missing"),
    ({"b_zero_point": 65536}, "attribute b_zero_point is 65536, must be 0 to 65535"),
]
LSTM_INPUTS = [
    (0, (7, 20), {}, "X (input 0) has rank 2, must be 3: steps x 1 x inputs"),
    (0, (7, 2, 20), {}, "X (input 0) has a batch of 2, must be 1"),
    (0, (7, 1, 0), {}, "X (input 0) has no inputs"),
    (1, (2, 96, 19), {}, "the shape of W (input 1) must be 2,96,20"),
    (2, (1, 96, 24), {}, "the shape of R (input 2) must be 2,96,24"),
    (3, (2, 96), {}, "the shape of B (input 3) must be 2,192"),
    (0, (7, 1, 20), {"x_scale": 100.0, "w_scale": 1.0}, "the product of x_scale and w_scale is"),
    (0, (7, 1, 20), {"y_scale": 1.0, "r_scale": 1e-6}, "attribute y_scale is 1, must be 2^-40 to 2^-9"),
]


def test_lstm_errors(score):
    attributes, given = ops_data.lstm_case(7, 20, 24, 3, 9)
    for change, wanted in LSTM_ATTRIBUTES:
        all_of_them = {name: value for name, value in (attributes | change).items() if value is not None}
        said = complaint(lambda: Node(LIBRARY, LSTM, [FLOAT] * 4, FLOAT, **all_of_them))
        score.check(f"{LSTM} 'node': {wanted}" in said, f"{wanted}: {said}")
    for index, shape, change, wanted in LSTM_INPUTS:
        arrays = [np.zeros(shape, "f4") if i == index else array for i, array in enumerate(given)]
        node = Node(LIBRARY, LSTM, [FLOAT] * 4, FLOAT, **attributes | change)
        said = complaint(lambda: node.run(*arrays))
        score.check(f"{LSTM}: {wanted}" in said, f"{wanted}: {said}")


def main():
    score = Score()
    for test in (test_answers, test_threads, test_old_names, test_any_rank, test_input_stays, test_late_shapes, test_errors,
                 test_lstm_errors, *([test_million] if os.environ.get("LONG") else [])):
        test(score)
    return score.finish()


if __name__ == "__main__":
    raise SystemExit(main())
