#!/usr/bin/env python3
"""What loaders ask of quantized checkpoints, by the rules of vLLM's: names, types and shapes of the tensors of each
layer, and what quantization_config has to say. For a model with a head of its own, and one whose embedding is the head.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import llm_weights  # noqa: E402

BARYON = pathlib.Path("build/baryon").resolve()
GROUP = 32
FUSED = [("q_proj", "k_proj", "v_proj"), ("gate_proj", "up_proj")]
passed = failed = 0


def check(what, good):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print("FAILED", what)


def in_columns(out, inputs):
    """Eight outputs in a word, inputs first: AWQ's kernels, and Quark's integers."""
    return ("I32", [inputs, out // 8]), ("I32", [inputs // GROUP, out // 8]), [inputs // GROUP, out]


# layout, scheme -> tensors of a layer [out, inputs] as suffix: (type, shape)
def quark_int4(out, inputs):
    codes, zeros, scales = in_columns(out, inputs)
    return {"weight": codes, "weight_zero_point": zeros, "weight_scale": ("BF16", scales)}


def awq(out, inputs):
    codes, zeros, scales = in_columns(out, inputs)
    return {"qweight": codes, "qzeros": zeros, "scales": ("F16", scales)}


def gptq(out, inputs):
    return {"qweight": ("I32", [inputs // 8, out]), "qzeros": ("I32", [inputs // GROUP, out // 8]),
            "scales": ("F16", [inputs // GROUP, out]), "g_idx": ("I32", [inputs])}  # fmt: skip


def packed(out, inputs):
    return {"weight_packed": ("I32", [out, inputs // 8]), "weight_scale": ("BF16", [out, inputs // GROUP]),
            "weight_shape": ("I64", [2])}  # fmt: skip


def packed_unsigned(out, inputs):
    return {**packed(out, inputs), "weight_zero_point": ("I32", [out // 8, inputs // GROUP])}


def mx(bits):
    return lambda out, inputs: {"weight": ("U8", [out, inputs * bits // 8]), "weight_scale": ("U8", [out, inputs // 32])}


CASES = {
    ("quark", "int4_wo_32"): quark_int4,
    ("quark", "uint4_wo_32"): quark_int4,
    ("quark", "fp8"): lambda out, inputs: {"weight": ("F8_E4M3", [out, inputs]), "weight_scale": ("BF16", [])},
    ("quark", "ptpc_fp8"): lambda out, inputs: {"weight": ("F8_E4M3", [out, inputs]), "weight_scale": ("BF16", [out])},
    ("quark", "mxfp4"): mx(4),
    ("quark", "mxfp6_e2m3"): mx(6),
    ("quark", "mxfp6_e3m2"): mx(6),
    ("awq", "int4_wo_32"): awq,
    ("awq", "uint4_wo_32"): awq,
    ("gptq", "int4_wo_32"): gptq,
    ("gptq", "uint4_wo_32"): gptq,
    ("compressed-tensors", "int4_wo_32"): packed,
    ("compressed-tensors", "uint4_wo_32"): packed_unsigned,
    ("compressed-tensors", "fp8_wo_per_channel"): lambda out, inputs: {"weight": ("F8_E4M3", [out, inputs]),
                                                                       "weight_scale": ("BF16", [out, 1])},
    ("fp8", "fp8"): lambda out, inputs: {"weight": ("F8_E4M3", [out, inputs]), "weight_scale": ("F32", [])},
}  # fmt: skip
IGNORED = {"quark": "exclude", "awq": "modules_to_not_convert", "gptq": "modules_to_not_convert",
           "compressed-tensors": "ignore", "fp8": "ignored_layers"}  # fmt: skip


def headers(folder):
    found = {}
    for path in folder.glob("*.safetensors"):
        with open(path, "rb") as file:
            header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        found.update({n: (e["dtype"], e["shape"]) for n, e in header.items() if n != "__metadata__"})
    return found


def is_ignored(name, patterns):
    """As vLLM matches them: the exact name, or an expression from the start."""
    return any(name == p or (p.startswith("re:") and re.match(p[3:], name)) for p in patterns)


def check_tensors(what, tensors, expected, ignored):
    for layer, (out, inputs) in llm_weights.linears().items():
        if is_ignored(layer, ignored):
            check(f"{what}: {layer} stays", tensors.get(layer + ".weight", ("",))[0] == "BF16")
            continue
        own = {n.removeprefix(layer + "."): t for n, t in tensors.items() if n.startswith(layer + ".")}
        wanted = expected(out, inputs)
        check(f"{what}: {layer} has {own}, not {wanted}", own == wanted)


def check_fused(what, ignored):
    """Layers that are one in the loader are quantized alike."""
    for n in range(llm_weights.LAYERS):
        for parts in FUSED:
            names = [name for name in llm_weights.linears() if name.startswith(f"model.layers.{n}.") and name.endswith(parts)]
            check(f"{what}: {names} alike", len({is_ignored(name, ignored) for name in names}) == 1)


def check_config(what, layout, config):
    check(f"{what}: quant_method", config["quant_method"] == layout)
    if layout == "quark":
        check(f"{what}: export", {"kv_cache_group", "pack_method"} <= set(config["export"]))
        check(f"{what}: exclude is a list", isinstance(config["exclude"], list))
        spec = config["global_quant_config"]
        check(f"{what}: no output or bias", spec.get("output_tensors") is None and spec.get("bias") is None)
    if layout in ("awq", "gptq"):
        check(f"{what}: bits and groups", config["bits"] == 4 and config["group_size"] == GROUP)
    if layout == "awq":
        check(f"{what}: version and zero points", config["version"].lower() == "gemm" and config["zero_point"] is True)
    if layout == "gptq":
        check(f"{what}: order and zeros", config["desc_act"] is False and config["checkpoint_format"] == "gptq")
    if layout == "compressed-tensors":
        check(f"{what}: compressed", config["quantization_status"] == "compressed" and config["config_groups"])


def compare(folder, model, layout, scheme, *more):
    out = folder / f"{model}-{layout}-{scheme}-{len(more)}"
    what = f"{model} {layout} {scheme} {' '.join(more)}"
    done = subprocess.run([BARYON, "llm", "quantize", folder / model, "-o", out, "--scheme", scheme, "--layout", layout, "-q", *more],
                          capture_output=True, text=True)  # fmt: skip
    check(f"{what}: {done.stderr}", done.returncode == 0)
    if done.returncode:
        return
    config = json.loads((out / "config.json").read_text())["quantization_config"]
    ignored = config.get(IGNORED[layout]) or []
    check(f"{what}: the head is left alone by name", is_ignored("lm_head", ignored))
    check_tensors(what, headers(out), CASES[layout, scheme], ignored)
    check_fused(what, ignored)
    check_config(what, layout, config)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        llm_weights.write_model(folder / "own")
        arrays = llm_weights.read_safetensors(folder / "own")
        del arrays["lm_head.weight"]
        llm_weights.write_model(folder / "tied", arrays)
        path = folder / "tied/config.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"tie_word_embeddings": True}))
        for layout, scheme in CASES:
            for model in ("own", "tied"):
                compare(folder, model, layout, scheme)
            compare(folder, "own", layout, scheme, "--exclude", "*.layers.1.self_attn.*")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
