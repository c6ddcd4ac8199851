"""Operators and models with libraries of custom operators, in turns: one JSON document on stdout.

    ops_run.py OURS [--quark] [--threads 1] [--tries 15] [--models MODEL.onnx=SAMPLES...]

--quark: also AMD Quark's own library, which this Python has to have. Times are the best of the tries, in ms.
"""

import argparse
import hashlib
import json
import pathlib
import sys
import time

import numpy as np
import onnxruntime

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tests/diff"))
from ops_data import BF16, FLOAT, HALF, Node, lstm_case  # noqa: E402

# Of MobileNetV2 at 224 x 224 and MiniLM with 128 tokens.
IMAGE, TOKENS, WEIGHT = (1, 96, 112, 112), (1, 128, 1536), (384, 1536)
BLOCKS = [
    ("BFP16", "BFPQuantizeDequantize", {"rounding_mode": 2}),
    ("MX6", "BFPQuantizeDequantize", {"bfp_method": "to_bfp_prime", "bit_width": 13, "block_size": 16, "rounding_mode": 2}),
    ("MX9", "BFPQuantizeDequantize", {"bfp_method": "to_bfp_prime", "bit_width": 16, "block_size": 16, "rounding_mode": 2}),
    ("MXFP4", "MXQuantizeDequantize", {"element_dtype": "fp4_e2m1", "rounding_mode": 2}),
    ("MXINT8", "MXQuantizeDequantize", {"element_dtype": "int8", "rounding_mode": 2}),
]


def normal(*shape):
    return np.random.default_rng(1).normal(0, 2, shape).astype("f4")


def operators():
    """(what, operator, input types, output type, attributes, arrays)"""
    for what, operator, attributes in BLOCKS:
        for shape, axis in ((IMAGE, 1), (TOKENS, -1), (WEIGHT, 0)):
            yield what, operator, [FLOAT], FLOAT, {"axis": axis, **attributes}, [normal(*shape)]
    yield "BFP16, float16", BLOCKS[0][1], [HALF], HALF, BLOCKS[0][2], [normal(*IMAGE).astype("f2").view("u2")]
    one, zero = np.array(1, "f4"), np.array(0, "u2")
    for what, elem in (("BF16", BF16), ("FP16", HALF)):
        yield what, "ExtendedQuantizeLinear", [FLOAT, FLOAT, elem], elem, {}, [normal(*IMAGE), one, zero]
        codes = normal(*IMAGE).astype("f2").view("u2") if elem == HALF else (normal(*IMAGE).view("u4") >> 16).astype("u2")
        yield what, "ExtendedDequantizeLinear", [elem, FLOAT, elem], FLOAT, {}, [codes, one, zero]
    channels = [np.full(96, 0.01, "f4"), np.zeros(96, "i4")]
    yield "INT32, channels", "ExtendedQuantizeLinear", [FLOAT, FLOAT, 6], 6, {"axis": 1}, [normal(*IMAGE), *channels]
    yield "BF16 arithmetic", "ExtendedInstanceNormalization", [FLOAT] * 3, FLOAT, {}, [normal(*IMAGE), channels[0], channels[0]]
    attributes, given = lstm_case(80, 64, 128, 3, 9)
    yield "UINT16 arithmetic", "ExtendedLSTM", [FLOAT] * 4, FLOAT, attributes, given


def in_turns(runs, tries):
    """Milliseconds of the fastest of each."""
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(tries):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            best[name] = min(best[name], (time.perf_counter() - start) * 1000)
    return best


def digest(arrays):
    whole = hashlib.sha256()
    for array in arrays:
        whole.update(array.tobytes())
    return whole.hexdigest()


def time_operators(libraries, threads, tries):
    for what, operator, inputs, output, attributes, arrays in operators():
        runs, answers = {}, set()
        for name, library in libraries.items():
            node = Node(library, operator, inputs, output, threads=threads, **attributes)
            answers.add(digest([node.run(*arrays)]))
            runs[name] = lambda node=node, bound=node.bind(*arrays): node.session.run_with_iobinding(bound)
        yield {"operator": operator, "what": what, "shape": arrays[0].shape, "equal": len(answers) == 1,
               "ms": in_turns(runs, tries)}


def open_model(path, library, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    options.register_custom_ops_library(str(library))
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def time_models(libraries, threads, tries, models):
    for model in models:
        path, folder = model.split("=")
        samples = [dict(np.load(file)) for file in sorted(pathlib.Path(folder).glob("*.npz"))[:4]]
        runs, answers = {}, set()
        for name, library in libraries.items():
            session = open_model(path, library, threads)
            answers.add(digest([y for sample in samples for y in session.run(None, sample)]))
            runs[name] = lambda session=session: session.run(None, samples[0])
        yield {"model": pathlib.Path(path).stem, "samples": len(samples), "equal": len(answers) == 1,
               "ms": in_turns(runs, tries)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ours")
    parser.add_argument("--quark", action="store_true")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--tries", type=int, default=15)
    parser.add_argument("--models", nargs="*", default=[])
    args = parser.parse_args()
    libraries = {"ours": args.ours}
    if args.quark:
        from quark.onnx import get_library_path
        libraries["quark"] = get_library_path()
    answer = {"operators": list(time_operators(libraries, args.threads, args.tries)),
              "models": list(time_models(libraries, args.threads, args.tries, args.models))}
    print("\n" + json.dumps(answer))


if __name__ == "__main__":
    main()
