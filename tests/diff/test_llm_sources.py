"""Sources of baryon llm quantize and dequantize that are no folders of single weights: GGUF files,
experts that are stacked in one tensor, MXFP4 as gpt-oss has it, blocks of fp8. Beside numpy's
formulas, and the same model in single weights.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np
from dump import BUILD, Score

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from lib import llm_experts, llm_tokenizer, llm_weights  # noqa: E402

PROGRAM = (BUILD / "baryon").resolve()
BF16 = ml_dtypes.bfloat16
EXPERTS, HIDDEN, INNER = llm_experts.EXPERTS, llm_experts.HIDDEN, llm_experts.INNER


def baryon(*words):
    done = subprocess.run([PROGRAM, "llm", *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        raise ValueError(f"{words}: {done.stderr.strip()}")
    return done.stdout


def same(score, what, found, wanted):
    if score.check(set(found) == set(wanted), f"{what}: names {sorted(set(found) ^ set(wanted))[:4]}"):
        for name, array in wanted.items():
            score.check(found[name].dtype == array.dtype and found[name].tobytes() == array.tobytes()
                        and found[name].shape == array.shape, f"{what}: {name}")  # fmt: skip


# --- GGUF files ---


def compare_gguf(score):
    """A GGUF file is quantized as the folder of its exact floats is."""
    llm_weights.write_model("model")
    llm_tokenizer.write_tokenizer("model")
    for kind in ("f32", "q8_0", "q4_k_m", "q6_k", "iq4_nl"):
        baryon("convert", "model", "-o", f"{kind}.gguf", "--type", kind)
        baryon("convert", f"{kind}.gguf", "-o", f"{kind}-f32", "--type", "fp32")
        exact = llm_weights.read_safetensors(f"{kind}-f32")
        baryon("dequantize", f"{kind}.gguf", "-o", f"{kind}-back", "--to", "f32")
        same(score, f"{kind}: dequantize", llm_weights.read_safetensors(f"{kind}-back"), exact)
        for scheme in ("uint4_wo_64", "nvfp4"):
            both = []
            for source in (f"{kind}.gguf", f"{kind}-f32"):
                out = f"{source}-{scheme}"
                baryon("quantize", source, "-o", out, "--scheme", scheme, "--layout", "json-safetensors")
                both.append({name: value for name, value in llm_weights.read_safetensors(out).items()
                             if name.split(".weight")[0] in llm_weights.linears()})  # fmt: skip
            same(score, f"{kind} {scheme}", *both)
    out = pathlib.Path("q8_0.gguf-uint4_wo_64")
    config = json.loads((out / "config.json").read_text())
    score.check(config["model_type"] == "llama" and config["quantization_config"]["scheme"] == "uint4_wo_64", f"{config}")
    names = {path.name for path in out.iterdir()}
    score.check({"tokenizer.json", "tokenizer_config.json"} <= names, f"files {names}")
    told = json.loads(baryon("compare", "q8_0.gguf", "model", "--json"))
    score.check(told["compared"] == len(llm_weights.tensors()) and told["sqnr"] > 40, f"compare {told['compared']} {told['sqnr']}")


def compare_gguf_layout(score):
    baryon("convert", "model", "-o", "converted.gguf", "--type", "q5_k_m")
    baryon("quantize", "model", "-o", "quantized.gguf", "--layout", "gguf", "--scheme", "q5_k_m")
    score.check(pathlib.Path("converted.gguf").read_bytes() == pathlib.Path("quantized.gguf").read_bytes(), "llm convert")
    baryon("quantize", "model", "-o", "rules.gguf", "--layout", "gguf", "--scheme", "q4_0", "--layer", "*.v_proj=q8_0",
           "--layer", "lm_head=Q6_K", "--exclude", "*layers.1.mlp*")  # fmt: skip
    tensors = json.loads(baryon("inspect", "rules.gguf", "--tensors", "--json"))["tensors"]
    types = {tensor["name"]: tensor["type"] for tensor in tensors}
    wanted = {"blk.0.attn_v.weight": "Q8_0", "blk.1.ffn_up.weight": "BF16", "blk.0.ffn_up.weight": "Q4_0",
              "output.weight": "Q8_0", "blk.0.attn_norm.weight": "F32"}  # fmt: skip
    score.check({name: types[name] for name in wanted} == wanted, f"types {types}")


# --- Stacked experts ---


def compare_stacks(score):
    """[experts, outputs, inputs] as Qwen3 has it, and [experts, inputs, outputs] as Llama 4 has it."""
    single = llm_experts.rest("gate")
    both = {"straight": llm_experts.write_stacks("straight"), "turned": llm_experts.write_stacks("turned", turned=True)}
    for name, stack in both["straight"][0].items():
        place, leaf = name.rsplit(".", 1)
        for e in range(EXPERTS):
            parts = {"gate_proj": stack[e, :INNER], "up_proj": stack[e, INNER:]} if leaf == "gate_up_proj" else {leaf: stack[e]}
            single |= {f"{place}.{e}.{part}.weight": np.ascontiguousarray(value).astype(BF16) for part, value in parts.items()}
    llm_experts.write("single", single, "qwen3_moe")
    for what, (_, stacks) in both.items():
        for scheme, layout in (("uint4_wo_32", "quark"), ("int4_wo_32", "awq"), ("mxfp4", "quark"), ("fp8", "fp8")):
            for model in ("single", what):
                out = f"{what}-{model}-{scheme}-{layout}"
                baryon("quantize", model, "-o", out, "--scheme", scheme, "--layout", layout)
            same(score, f"{what} {scheme} {layout}", llm_weights.read_safetensors(out),
                 llm_weights.read_safetensors(f"{what}-single-{scheme}-{layout}"))  # fmt: skip
        baryon("quantize", what, "-o", f"{what}-kept", "--scheme", "int8_wo_32", "--stacks", "keep")
        kept = llm_weights.read_safetensors(f"{what}-kept")
        score.check(all(kept[name].tobytes() == stack.tobytes() for name, stack in stacks.items()), f"{what}: kept stacks")
        told = json.loads(baryon("compare", "single", what, "--json"))
        score.check(told["only_a"] == told["only_b"] == 0 and told["greatest_error"] == 0, f"{what}: compare {told['only_a']}")


def compare_mxfp4(score):
    """gpt-oss: blocks [experts, outputs, groups, 16], a matrix of the model is [inputs, outputs]."""
    wanted = llm_experts.write_gpt_oss("oss")
    baryon("dequantize", "oss", "-o", "oss-f32", "--to", "f32")
    found = llm_weights.read_safetensors("oss-f32")
    for name, values in wanted.items():
        score.check(np.array_equal(found.get(name), values.swapaxes(1, 2)), f"gpt-oss: {name} means other floats")
    score.check("quantization_config" not in json.loads(pathlib.Path("oss-f32/config.json").read_text()), "config.json")
    score.check(not any("_blocks" in name or "_scales" in name for name in found), "blocks are left")
    # Requantized, an expert each; the fused outputs alternate and stay together.
    baryon("quantize", "oss", "-o", "oss-mx", "--scheme", "mxfp4", "--layout", "json-safetensors")
    baryon("dequantize", "oss-mx", "-o", "oss-mx-f32", "--to", "f32")
    found = llm_weights.read_safetensors("oss-mx-f32")
    for name, values in wanted.items():
        place, leaf = name.rsplit(".", 1)
        for e in range(EXPERTS):
            got = found.get(f"{place}.{e}.{leaf}.weight")
            score.check(got is not None and np.array_equal(got, values[e]), f"gpt-oss in mxfp4: {name} {e}")
    told = json.loads(baryon("inspect", "oss", "--json"))
    count = sum(values.size for values in wanted.values())
    score.check(told["method"] == "mxfp4" and told["quantizable"]["values"] > count, f"inspect {told['quantizable']}")
    score.check(any(row["name"].startswith("a router") for row in told["left"]), f"inspect {told['left']}")


# --- DeepSeek's blocks of fp8 ---


def compare_blocks(score):
    """128 x 128, sizes that they do not divide; floats are exact, and so is what is made of them."""
    arrays = {name: value.astype(BF16) for name, value in llm_weights.tensors().items()}
    exact = dict(arrays)
    shapes = {"gate_proj": (300, HIDDEN), "up_proj": (300, HIDDEN), "down_proj": (HIDDEN, 300)}
    for layer in [layer for layer in llm_weights.linears() if ".mlp." in layer]:
        rows, columns = shapes[layer.rsplit(".", 1)[1]]
        weight = llm_weights.matrix(rows, columns, len(layer)).astype(ml_dtypes.float8_e4m3fn)
        scales = 1 / (3 + np.arange(-(-rows // 128) * -(-columns // 128), dtype=np.float32)).reshape(-(-rows // 128), -1)
        arrays |= {layer + ".weight": weight, layer + ".weight_scale_inv": scales}
        spread = np.repeat(np.repeat(scales, 128, 0), 128, 1)[:rows, :columns]
        exact[layer + ".weight"] = weight.astype(np.float32) * spread
    llm_weights.write_model("deepseek", arrays, {"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": [128, 128]})
    llm_weights.write_model("exact", exact)
    baryon("dequantize", "deepseek", "-o", "deepseek-f32", "--to", "f32")
    found = llm_weights.read_safetensors("deepseek-f32")
    for name, values in exact.items():
        score.check(np.array_equal(found[name], values.astype(np.float32)), f"fp8 blocks: {name} means other floats")
    both = []
    for model in ("deepseek", "exact"):
        baryon("quantize", model, "-o", f"{model}-int8", "--scheme", "int8_wo_per_channel", "--layout", "json-safetensors")
        both.append(llm_weights.read_safetensors(f"{model}-int8"))
    same(score, "fp8 blocks to int8", *both)


def main():
    score = Score()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        os.chdir(folder)
        for part in (compare_gguf, compare_gguf_layout, compare_stacks, compare_mxfp4, compare_blocks):
            part(score)
        os.chdir("/")
    return score.finish()


if __name__ == "__main__":
    sys.exit(main())
