"""baryon llm quantize and dequantize on folders: bytes and config.json beside recorded exports of
Quark 0.13, sources of other programs beside their formulas in numpy, the same bytes for any number
of threads.
"""

import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np
from dump import BUILD, Score
from safetensors.numpy import load_file, save_file

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import llm_weights  # noqa: E402

GOLDEN = HERE.parent / "golden/llm_quark.json"
AWQ_ORDER = [0, 2, 4, 6, 1, 3, 5, 7]


def baryon(*words):
    done = subprocess.run([BUILD / "baryon", "llm", *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        raise ValueError(f"{words}: {done.stderr.strip()}")
    return done.stdout


def files(folder):
    return {path.name: path.read_bytes() for path in sorted(pathlib.Path(folder).iterdir())}


# --- Quark's exports ---


def differences(ours, theirs, place=""):
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted(set(ours) | set(theirs)):
            yield from differences(ours.get(key, "missing"), theirs.get(key, "missing"), f"{place}.{key}")
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for i, (a, b) in enumerate(zip(ours, theirs)):
            yield from differences(a, b, f"{place}[{i}]")
    elif ours != theirs:
        yield place


def compare_quark(score, root, model):
    for scheme, answer in json.loads(GOLDEN.read_text()).items():
        out = root / scheme
        baryon("quantize", model, "-o", out, "--scheme", scheme, "--compat", "quark-0.13", "--threads", 2)
        found = llm_weights.read_safetensors(out)
        for name, wanted in answer["tensors"].items():
            own = found.get(name)
            if not score.check(own is not None, f"{scheme} {name} is missing"):
                continue
            described = {"type": str(own.dtype), "shape": list(own.shape),
                         "sha256": hashlib.sha256(own.tobytes()).hexdigest()}  # fmt: skip
            score.check(described == wanted, f"{scheme} {name}: {described} is not {wanted}")
        config = json.loads((out / "config.json").read_text())["quantization_config"]
        # Scales of inputs need samples: they are dynamic here, or the inputs stay floats.
        for place in differences(config, answer["config"]):
            score.check("input_tensors" in place, f"{scheme}: quantization_config{place} differs")


# --- Layouts ---

SAME = [
    ("int4_wo_64", ["quark", "compressed-tensors"], "bf16"),
    ("uint4_wo_32", ["quark", "compressed-tensors"], "bf16"),
    ("int4_wo_32", ["awq", "gptq"], "fp16"),
    ("ptpc_fp8", ["quark", "compressed-tensors"], "bf16"),
    ("mxfp4", ["quark", "compressed-tensors", "json-safetensors"], "bf16"),
    ("fp8", ["fp8", "json-safetensors"], "bf16"),
]


def compare_layouts(score, root, model):
    original = llm_weights.tensors()
    for scheme, layouts, _ in SAME:
        back = {}
        for layout in layouts:
            out = root / f"{scheme}-{layout}"
            baryon("quantize", model, "-o", out, "--scheme", scheme, "--layout", layout)
            baryon("dequantize", out, "-o", f"{out}-fp32", "--to", "fp32")
            back[layout] = llm_weights.read_safetensors(f"{out}-fp32")
            score.check(set(back[layout]) == set(original), f"{scheme} {layout}: other names after dequantizing")
            config = json.loads(pathlib.Path(f"{out}-fp32/config.json").read_text())
            score.check(config == llm_weights.CONFIG, f"{scheme} {layout}: config.json is {config}")
            score.check(pathlib.Path(f"{out}-fp32/generation_config.json").exists(), f"{scheme} {layout}: no generation_config")
        first = back[layouts[0]]
        for layout in layouts[1:]:
            same = all(np.array_equal(first[name], back[layout][name]) for name in first)
            score.check(same, f"{scheme}: {layout} means other floats than {layouts[0]}")
        for name in llm_weights.linears():
            name += ".weight"
            error = np.square(first[name] - original[name]).sum() / np.square(original[name]).sum()
            score.check(0 < error < 0.05, f"{scheme} {name}: error {error}")


# --- Sources of other programs ---


def words(codes, axis, order=range(8), bits=4):
    """Codes packed along an axis, place k of a word has element order[k]."""
    per = 32 // bits
    codes = np.moveaxis(codes.astype(np.uint32), axis, -1)
    codes = codes.reshape(*codes.shape[:-1], -1, per)
    packed = np.zeros(codes.shape[:-1], np.uint32)
    for place in range(per):
        packed |= codes[..., list(order)[place] if bits == 4 else place] << np.uint32(bits * place)
    return np.ascontiguousarray(np.moveaxis(packed, -1, axis)).view(np.int32)


def integers(shape, most, seed):
    return (llm_weights.mixed(int(np.prod(shape)), seed) % np.uint64(most)).astype(np.int64).reshape(shape)


def awq_layer(rows, columns, seed):
    codes, zeros = integers((rows, columns), 16, seed), integers((rows, columns // 32), 16, seed + 1)
    scales = (1 + integers(zeros.shape, 100, seed + 2)).astype(np.float16) / np.float16(1024)
    arrays = {"qweight": words(codes.T, 1, AWQ_ORDER), "qzeros": words(zeros.T, 1, AWQ_ORDER), "scales": scales.T}
    return arrays, (codes - np.repeat(zeros, 32, 1)) * np.repeat(scales.astype(np.float32), 32, 1)


def gptq_layer(rows, columns, seed, bits=4, first=1, shuffled=True):
    codes = integers((rows, columns), 1 << bits, seed)
    zeros = first + integers((rows, columns // 32), (1 << bits) - first, seed + 1)
    scales = (1 + integers(zeros.shape, 100, seed + 2)).astype(np.float16) / np.float16(1024)
    index = (np.argsort(llm_weights.mixed(columns, seed + 3)) if shuffled else np.arange(columns)) // 32
    arrays = {"qweight": words(codes.T, 0, bits=bits), "qzeros": words((zeros - first).T, 1, bits=bits),
              "scales": scales.T, "g_idx": index.astype(np.int32)}  # fmt: skip
    return arrays, (codes - zeros[:, index]) * scales.astype(np.float32)[:, index]


def block_layer(rows, columns, seed):
    weight = llm_weights.matrix(rows, columns, seed).astype(ml_dtypes.float8_e4m3fn)
    scales = (1 + integers((-(-rows // 48), -(-columns // 80)), 100, seed)).astype(np.float32) / 64
    spread = np.repeat(np.repeat(scales, 48, 0), 80, 1)[:rows, :columns]
    return {"weight": weight, "weight_scale_inv": scales}, weight.astype(np.float32) * spread


SOURCES = {
    "awq": (awq_layer, {"quant_method": "awq", "bits": 4, "group_size": 32, "zero_point": True, "version": "gemm"}),
    "gptq": (gptq_layer, {"quant_method": "gptq", "bits": 4, "group_size": 32, "desc_act": True, "sym": False}),
    "gptq8": (lambda *a: gptq_layer(*a, bits=8, shuffled=False),
              {"quant_method": "gptq", "bits": 8, "group_size": 32, "desc_act": False, "sym": False}),
    "gptq_v2": (lambda *a: gptq_layer(*a, first=0),
                {"quant_method": "gptq", "bits": 4, "group_size": 32, "desc_act": True, "checkpoint_format": "gptq_v2"}),
    "fp8-blocks": (block_layer, {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [48, 80]}),
}  # fmt: skip


def compare_sources(score, root):
    for name, (make, config) in SOURCES.items():
        arrays = {key: value.astype(ml_dtypes.bfloat16) for key, value in llm_weights.tensors().items()}
        wanted = {}
        for seed, (layer, (rows, columns)) in enumerate(llm_weights.linears().items()):
            del arrays[layer + ".weight"]
            own, floats = make(rows, columns, 10 * seed)
            arrays |= {f"{layer}.{suffix}": np.ascontiguousarray(value) for suffix, value in own.items()}
            wanted[layer + ".weight"] = floats.astype(np.float32)
        llm_weights.write_model(root / name, arrays, config)
        baryon("dequantize", root / name, "-o", root / f"{name}-fp32", "--to", "fp32")
        found = llm_weights.read_safetensors(root / f"{name}-fp32")
        for key, floats in wanted.items():
            score.check(np.array_equal(found.get(key), floats), f"{name}: {key} means other floats")
        # Quantized again on the way, into another layout.
        baryon("quantize", root / name, "-o", root / f"{name}-int8", "--scheme", "int8_wo_32")
        score.check(any(key.endswith("weight_scale") for key in llm_weights.read_safetensors(root / f"{name}-int8")),
                    f"{name}: is not quantized again")


# --- Threads ---


def compare_threads(score, root, model):
    for scheme in ("uint4_wo_32", "int8", "nvfp4"):
        made = []
        for threads in (1, 3):
            out = root / f"{scheme}-{threads}"
            baryon("quantize", model, "-o", out, "--scheme", scheme, "--threads", threads, "--shard-size", "100kB")
            made.append(files(out))
        score.check(made[0] == made[1], f"{scheme}: other bytes with 3 threads")
        score.check("model.safetensors.index.json" in made[0], f"{scheme}: there are no shards")


def compare_slabs(score, root):
    """A weight of more rows than are read at a time: comparing codes is comparing what they mean."""
    (root / "model").mkdir()
    name = "model.layers.0.self_attn.q_proj.weight"
    values = np.random.default_rng(8).standard_normal((3000, 224)).astype("f4")
    save_file({name: values}, root / "model/model.safetensors")
    (root / "model/config.json").write_text('{"model_type": "llama", "architectures": ["LlamaForCausalLM"]}')
    for layout in ("quark", "awq", "gptq", "compressed-tensors"):
        baryon("quantize", root / "model", "-o", root / layout, "--scheme", "uint4_wo_32", "--layout", layout, "--linears", "*q_proj")
        baryon("dequantize", root / layout, "-o", root / f"{layout}-float", "--to", "fp32")
        got = load_file(root / f"{layout}-float/model.safetensors")[name]
        exact = 10 * np.log10(np.sum(values.astype("f8") ** 2) / np.sum((values.astype("f8") - got) ** 2))
        found = json.loads(baryon("compare", root / "model", root / layout, "--json"))["weights"][0]["sqnr"]
        score.check(exact > 15 and abs(found - exact) < 1e-3, f"{layout}: {found} dB, not {exact}")


def main():
    score = Score()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        root = pathlib.Path(folder)
        model = root / "model"
        llm_weights.write_model(model)
        for name, part in (("quark", lambda at: compare_quark(score, at, model)),
                           ("layouts", lambda at: compare_layouts(score, at, model)),
                           ("sources", lambda at: compare_sources(score, at)),
                           ("slabs", lambda at: compare_slabs(score, at)),
                           ("threads", lambda at: compare_threads(score, at, model))):  # fmt: skip
            (root / name).mkdir()
            part(root / name)
    return score.finish()


if __name__ == "__main__":
    sys.exit(main())
