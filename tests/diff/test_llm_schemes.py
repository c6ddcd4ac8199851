"""Quantized weights of language models: bytes beside recorded exports of Quark 0.13, layouts beside
the formulas of their loaders in numpy, least squared error beside the whole range.
"""

import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np
from dump import Score, tool

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import llm_weights  # noqa: E402

GOLDEN = HERE.parent / "golden/llm_quark.json"
TYPES = {
    "float32": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "int8": np.int8,
    "uint8": np.uint8, "int32": np.int32, "int64": np.int64, "float8e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8e5m2": ml_dtypes.float8_e5m2,
}  # fmt: skip
TORCH = {"float8e4m3fn": "float8_e4m3fn", "float8e5m2": "float8_e5m2"}
# What layers share with their neighbours is not seen by a program of one matrix.
FUSED = ("q_proj", "k_proj", "v_proj", "gate_proj", "up_proj")
AWQ_ORDER = [0, 2, 4, 6, 1, 3, 5, 7]
ROWS, COLUMNS = 64, 256
PROGRAM = tool("llm_fields")


def quantize(values, scheme, layout, elem, search):
    """Tensors by suffix as (type, array), and the floats that they mean."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        values.astype(np.float32).tofile(path / "in")
        done = subprocess.run([PROGRAM, scheme, layout, elem, *map(str, values.shape), search,
                               path / "in", path], capture_output=True, text=True)  # fmt: skip
        if done.returncode:
            raise ValueError(done.stderr.strip())
        found = {}
        for line in done.stdout.splitlines():
            suffix, kind, *shape = line.split()
            found[suffix] = (kind, np.fromfile(path / suffix, TYPES[kind]).reshape([int(n) for n in shape]))
        return found, np.fromfile(path / "floats", np.float32).reshape(values.shape)


# --- Quark's own files ---


def compare_quark(score):
    recorded = json.loads(GOLDEN.read_text())
    weights = llm_weights.tensors()
    for scheme, answer in recorded.items():
        layers = sorted({name.rpartition(".")[0] for name in answer["tensors"]})
        for layer in layers:
            if "nvfp4" in scheme or "global" in scheme:
                if layer.rpartition(".")[2] in FUSED:
                    continue
            found, _ = quantize(weights[layer + ".weight"], scheme, "quark", "bfloat16", "quark")
            for suffix, (kind, array) in found.items():
                wanted = answer["tensors"].get(f"{layer}.{suffix}")
                own = {"type": TORCH.get(kind, kind), "shape": list(array.shape),
                       "sha256": hashlib.sha256(array.tobytes()).hexdigest()}  # fmt: skip
                score.check(own == wanted, f"{scheme} {layer}.{suffix}: {own} is not {wanted}")
            score.check(sum(name.startswith(layer + ".") for name in answer["tensors"]) == len(found),
                        f"{scheme} {layer}: {sorted(found)} are not all tensors")  # fmt: skip


# --- Formulas of loaders ---


def nibbles(words, bits=4):
    """[..., n] words to [..., n, 32 / bits] codes, lowest first."""
    shifts = np.arange(0, 32, bits, dtype=np.uint32)
    return (words.view(np.uint32)[..., None] >> shifts) & np.uint32((1 << bits) - 1)


def awq(found, group):
    order = np.argsort(AWQ_ORDER)
    codes, zeros = (nibbles(found[name][1])[..., order].reshape(found[name][1].shape[0], -1)
                    for name in ("qweight", "qzeros"))  # fmt: skip
    scales = found["scales"][1].astype(np.float32)
    return ((codes.astype(np.int32) - np.repeat(zeros, group, 0).astype(np.int32)) * np.repeat(scales, group, 0)).T


def gptq(found, bits):
    words = found["qweight"][1]
    codes = nibbles(words, bits).transpose(0, 2, 1).reshape(-1, words.shape[1]).astype(np.int32)
    zeros = nibbles(found["qzeros"][1], bits).reshape(found["qzeros"][1].shape[0], -1).astype(np.int32) + 1
    index = found["g_idx"][1]
    return ((codes - zeros[index]) * found["scales"][1].astype(np.float32)[index]).T


def packed(found, bits, group):
    words, scales = found["weight_packed"][1], found["weight_scale"][1].astype(np.float32)
    rows, columns = found["weight_shape"][1]
    codes = nibbles(words, bits).reshape(rows, -1)[:, :columns].astype(np.int32)
    zeros = np.full(scales.shape, 1 << (bits - 1), np.int32)
    if "weight_zero_point" in found:
        zeros = nibbles(found["weight_zero_point"][1].T.copy(), bits).reshape(scales.shape[1], -1).T[:rows].astype(np.int32)
    return (codes - np.repeat(zeros, group, 1)) * np.repeat(scales, group, 1)


FP4 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)


def fp4(array):
    return FP4[np.stack([array & 15, array >> 4], -1).reshape(array.shape[0], -1)]


def nvfp4(found):
    scales = found["weight_scale"][1].astype(np.float32) / found["weight_global_scale"][1]
    return fp4(found["weight_packed"][1]) * np.repeat(scales, 16, 1)


def mxfp4(found):
    scales = np.exp2(found["weight_scale"][1].astype(np.float32) - 127)
    return fp4(found["weight_packed"][1]) * np.repeat(scales, 32, 1)


def plain(found):
    return found["weight"][1].astype(np.float32) * found["weight_scale"][1].astype(np.float32)


def groups_of_bytes(found):
    scales = found["weight_scale"][1].astype(np.float32)
    return found["weight"][1].astype(np.float32) * np.repeat(scales, COLUMNS // scales.shape[1], 1)


LOADERS = [
    ("awq", "int4_wo_64", lambda found: awq(found, 64)),
    ("awq", "uint4_wo_128", lambda found: awq(found, 128)),
    ("gptq", "int4_wo_64", lambda found: gptq(found, 4)),
    ("gptq", "uint4_wo_32", lambda found: gptq(found, 4)),
    ("gptq", "uint8_wo_64", lambda found: gptq(found, 8)),
    ("gptq", "int2_wo_32", lambda found: gptq(found, 2)),
    ("gptq", "int4_wo_per_channel", lambda found: gptq(found, 4)),
    ("compressed-tensors", "int4_wo_64", lambda found: packed(found, 4, 64)),
    ("compressed-tensors", "uint4_wo_32", lambda found: packed(found, 4, 32)),
    ("compressed-tensors", "int8_wo_per_channel", lambda found: packed(found, 8, COLUMNS)),
    ("compressed-tensors", "ptpc_fp8", plain),
    ("compressed-tensors", "fp8", plain),
    ("compressed-tensors", "int8", plain),
    ("compressed-tensors", "ptpc_int8", plain),
    ("compressed-tensors", "int4_int8_64", groups_of_bytes),
    ("compressed-tensors", "int4_int8_per_channel", groups_of_bytes),
    ("compressed-tensors", "int4_fp8_128", lambda found: packed(found, 4, 128)),
    ("compressed-tensors", "nvfp4", nvfp4),
    ("compressed-tensors", "mxfp4", mxfp4),
    ("fp8", "fp8", plain),
]


def compare_loaders(score):
    values = llm_weights.matrix(ROWS, COLUMNS, 77)
    for layout, scheme, formula in LOADERS:
        for search in ("minmax", "mse"):
            found, floats = quantize(values, scheme, layout, "float16", search)
            score.check(np.array_equal(formula(found), floats),
                        f"{layout} {scheme} {search}: reading back gives other floats than the loader's formula")
            error = np.square(floats - values).sum() / np.square(values).sum()
            score.check(error < 0.3, f"{layout} {scheme} {search}: the error is {error}")


# --- Search ---

SCHEMES = """fp8 ptpc_fp8 fp8_e5m2 fp8_wo_per_channel fp8_wo_128 int8 int8_wo_32 int8_wo_per_channel uint8_wo_64
uint8_wo_per_channel int4_wo_32 int4_wo_64 int4_wo_per_channel uint4_wo_32 uint4_wo_64 uint4_wo_per_channel
int3_wo_64 int3_wo_128 int2_wo_32 uint2_wo_64 mxfp4 mxfp6_e3m2 mxfp6_e2m3 mxfp8_e4m3 mxfp8_e5m2 nvfp4 amdfp4
amdfp4_g32 amdfp4_global16 int4_fp8 ptpc_int8 int4_int8_64 int4_int8_per_channel""".split()


def compare_search(score):
    values = llm_weights.matrix(ROWS, COLUMNS, 78)
    for scheme in SCHEMES:
        errors = {}
        for layout in ("quark", "json-safetensors"):
            for search in ("minmax", "mse"):
                _, floats = quantize(values, scheme, layout, "float32", search)
                errors[layout, search] = float(np.square(floats.astype(np.float64) - values).sum())
        for search in ("minmax", "mse"):
            score.check(errors["quark", search] == errors["json-safetensors", search],
                        f"{scheme} {search}: layouts differ: {errors}")
        score.check(errors["quark", "mse"] <= errors["quark", "minmax"] * (1 + 1e-6), f"{scheme}: mse is worse: {errors}")
    for scheme in ("mx6", "mx6_weight_only", "mx9", "bfp16", "bfp16_weight_only", "mxint8", "fp16", "bf16"):
        _, floats = quantize(values, scheme, "json-safetensors", "float32", "minmax")
        error = np.square(floats - values).sum() / np.square(values).sum()
        score.check(error < 0.01, f"{scheme}: the error is {error}")


def main():
    score = Score()
    compare_quark(score)
    compare_loaders(score)
    compare_search(score)
    sys.exit(score.finish())


main()
