#!/usr/bin/env python3
"""`baryon llm auto`: what it predicts of a layer in the type that it probes, beside the divergence of models in which that layer
alone, or one of its linears alone, was rounded by `baryon llm quantize`, on the windows of the probe; and what it chooses,
beside the best single type of the size, on windows that took no part.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np
from safetensors.numpy import load_file, save_file

sys.path.insert(0, "tests")
from llm_files import byte_tokenizer  # noqa: E402

BARYON = pathlib.Path(os.environ.get("BUILD", "build")).resolve() / "baryon"
HIDDEN, INNER, LAYERS, LENGTH = 64, 128, 3, 128
CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 256, "hidden_size": HIDDEN,
          "intermediate_size": INNER, "num_hidden_layers": LAYERS, "num_attention_heads": 4, "num_key_value_heads": 2,
          "head_dim": 16, "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "max_position_embeddings": 512, "hidden_act": "silu",
          "tie_word_embeddings": False, "torch_dtype": "float32"}  # fmt: skip
SHAPES = {"self_attn.q_proj": (HIDDEN, HIDDEN), "self_attn.k_proj": (32, HIDDEN), "self_attn.v_proj": (32, HIDDEN),
          "self_attn.o_proj": (HIDDEN, HIDDEN), "mlp.gate_proj": (INNER, HIDDEN), "mlp.up_proj": (INNER, HIDDEN),
          "mlp.down_proj": (HIDDEN, INNER)}  # fmt: skip
TYPE = "int4_wo_64"
# Of 20 windows in rows these round, and of those between these choose: see src/llm/auto/windows.c.
ROWS, SOLVE, CHOOSE = 20, 4, (3, 13)
# Budgets in bits a weight, the types to choose from, and the single type of that size.
BUDGETS = (("json-safetensors", 4.5, "int2_wo_32,int3_wo_64,int4_wo_64,int8_wo_64", "int4_wo_64"),
           ("gguf", 5, "iq4_nl,q4_1,q5_1,q8_0", "q4_1"), ("gguf", 5.5, "iq4_nl,q4_1,q5_0,q8_0", "q5_0"))  # fmt: skip
TEXTS = ("--text", "all.npy", "--length", LENGTH, "--windows", SOLVE, "--layout", "json-safetensors")


def make(folder, spread):
    """A random model whose kinds count differently, the more, the greater the spread."""
    rng = np.random.default_rng(27)
    tensors = {"model.embed_tokens.weight": rng.standard_normal((256, HIDDEN), np.float32),
               "lm_head.weight": rng.standard_normal((256, HIDDEN), np.float32) / np.float32(HIDDEN**0.5),
               "model.norm.weight": np.ones(HIDDEN, np.float32)}  # fmt: skip
    for layer in range(LAYERS):
        for name, shape in SHAPES.items():
            size = np.float32(np.exp(rng.normal(0, spread)) / shape[1] ** 0.5)
            tensors[f"model.layers.{layer}.{name}.weight"] = size * rng.standard_normal(shape, np.float32)
        for norm in ("input_layernorm", "post_attention_layernorm"):
            tensors[f"model.layers.{layer}.{norm}.weight"] = np.ones(HIDDEN, np.float32)
    (folder / "model").mkdir(parents=True)
    save_file(tensors, folder / "model/model.safetensors")
    (folder / "model/config.json").write_text(json.dumps(CONFIG))
    (folder / "model/tokenizer.json").write_text(json.dumps(byte_tokenizer()))
    ids = rng.integers(0, 256, (ROWS, LENGTH)).astype(np.uint16)
    np.save(folder / "all.npy", ids)
    np.save(folder / "choose.npy", ids[list(CHOOSE)])
    np.save(folder / "unseen.npy", rng.integers(0, 256, (8, LENGTH)).astype(np.uint16))


def run(folder, *arguments):
    done = subprocess.run([BARYON, "llm", *map(str, arguments), "-q"], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{arguments}: {done.stderr}")
    return done.stdout


def predict(folder):
    """Divergence by linear, with the type that is probed."""
    run(folder, "auto", "model", "-o", "auto", "--bits", 4.6, "--types", f"{TYPE},int8_wo_64", "--judge-windows", 2,
        "--no-uniform", "--corrections", 0, "--report", "report.json", *TEXTS)  # fmt: skip
    found = json.loads((folder / "report.json").read_text())
    return {linear["layer"]: linear["kl_by_choice"][found["candidates"].index(TYPE)] for linear in found["linears"]}


def measure(folder, names):
    """Divergence with these linears alone, learned from the float model's inputs."""
    others = [option for layer in range(LAYERS) for name in SHAPES if f"model.layers.{layer}.{name}" not in names
              for option in ("--exclude", f"model.layers.{layer}.{name}")]  # fmt: skip
    shutil.rmtree(folder / "one", ignore_errors=True)
    run(folder, "quantize", "model", "-o", "one", "--scheme", TYPE, "--cross", 0, *others, *TEXTS)
    return json.loads(run(folder, "eval", "one", "--against", "model", "--text", "choose.npy", "--length", LENGTH, "--json"))["kl"]


def check_kinds(folder):
    """What is measured of a kind of linear in the first choice: the float model with what became of these weights in it, and the
    other way round."""
    given = ("auto", "model", "--bits", 4.6, "--types", f"{TYPE},int8_wo_64", "--judge-windows", 2, "--no-uniform", *TEXTS)
    done = subprocess.run([BARYON, "llm", *map(str, given), "-o", "corrected", "-v"], cwd=folder, capture_output=True, text=True)
    line = re.compile(r"all (\w+) alone: kl (\S+) \(of all: (\S+), without: (\S+)\)")
    told = {found[1]: [float(found[k]) for k in (2, 3, 4)] for found in line.finditer(done.stderr)}
    run(folder, *given, "-o", "first", "--corrections", 0)
    yield check_rule(folder, done.stderr)
    run(folder, "dequantize", "first", "-o", "floats", "--to", "f32")
    own, other = (load_file(folder / name / "model.safetensors") for name in ("model", "floats"))
    for name in SHAPES:
        for at, what, is_other in ((0, "alone", lambda key: name in key), (1, "of all", lambda key: True),
                                   (2, "without", lambda key: name not in key)):  # fmt: skip
            shutil.rmtree(folder / "mixed", ignore_errors=True)
            shutil.copytree(folder / "model", folder / "mixed")
            save_file({key: (other if is_other(key) else own)[key] for key in own}, folder / "mixed/model.safetensors")
            kl = json.loads(run(folder, "eval", "mixed", "--against", "model", "--text", "choose.npy", "--length", LENGTH, "--json"))["kl"]
            found = told.get(name.split(".")[1], [0, 0, 0])[at]
            # The last token of a window counts here, where nothing follows it that eval could judge.
            yield None if abs(found - kl) < 1e-2 * kl else f"all {name}, {what}: {found}, in a model of its own {kl}"


def check_rule(folder, told):
    """The corrected choice is the result unless it is worse by more than the error of the mean difference of windows."""
    found = re.search(r"the corrected choice is (\w+): kl (\S+), before (\S+), difference (\S+), error (\S+)", told)
    if not found:
        return "nothing is told of the corrected choice"
    own, before, worse, error = map(float, found.groups()[1:])
    first, last = ((folder / f"{name}.yaml").read_text() for name in ("first", "corrected"))
    kept = worse <= error
    if abs(own - before - worse) > 1e-4 * own or found[1] != ("kept" if kept else "left") or (not kept and first != last):
        return f"{found[0]}, the recipe is {'that of the first' if first == last else 'another'}"
    kl = json.loads(run(folder, "eval", "corrected", "--against", "model", "--text", "choose.npy", "--length", LENGTH, "--json"))["kl"]
    return None if abs(kl - (own if kept else before)) < 1e-2 * kl else f"{found[0]}, but the result has {kl}"


def size_of(folder, name):
    """Bits a weight of the linears, as the file has them."""
    kinds = json.loads(run(folder, "inspect", name, "--json"))["kinds"]
    bits = 8 * sum(kind["bytes"] for kind in kinds if not kind["name"].endswith(("embedding", "norm", "head")))
    return bits / (LAYERS * sum(rows * columns for rows, columns in SHAPES.values()))


def check_choice(folder, layout, bits, types, single):
    """Within the budget, of the same bytes with any number of threads, and at least a tenth better than one type."""
    end = ".gguf" if layout == "gguf" else ""
    texts = ("--text", "all.npy", "--length", LENGTH, "--windows", SOLVE, "--layout", layout)
    floats = ("--exclude", "*embed_tokens", "--exclude", "lm_head") if end else ()
    for threads in (1, 3):
        run(folder, "auto", "model", "-o", f"chosen{threads}{end}", "--bits", bits, "--types", types, "--judge-windows", 2,
            "--no-uniform", "--threads", threads, *floats, *texts)  # fmt: skip
    how = ("--scheme", "q6_k", "--layer", f"*_proj={single}") if end else ("--scheme", single)
    run(folder, "quantize", "model", "-o", f"single{end}", *how, *floats, *texts)
    models = (f"chosen1{end}", f"chosen3{end}", f"single{end}")
    files = [folder / model if end else folder / model / "model.safetensors" for model in models]
    sizes = [size_of(folder, model) for model in models]
    kl = [json.loads(run(folder, "eval", model, "--against", "model", "--text", "unseen.npy", "--length", LENGTH, "--json"))["kl"]
          for model in models[1:]]  # fmt: skip
    name = f"{layout}, {bits} bits"
    yield None if files[0].read_bytes() == files[1].read_bytes() else f"{name}: threads change the bytes"
    yield None if bits - 0.1 < sizes[0] <= bits + 1e-9 else f"{name}: {sizes[0]:.4f} bits"
    yield None if sizes[0] <= sizes[2] + 1e-9 and kl[0] < 0.9 * kl[1] else f"{name}: {sizes}, kl {kl}"
    for path in (*(folder / model for model in models), *folder.glob("chosen*.yaml")):
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink()


def main():
    wrong, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        make(folder, 0.5)
        predicted = predict(folder)
        for layer in range(LAYERS):
            names = [f"model.layers.{layer}.{name}" for name in SHAPES]
            # What reads the same is measured together, linears of it have their parts.
            together = (names[:3], names[3:4], names[4:6], names[6:])
            for which, least, most in ((names, 0.85, 1.15), *((group, 0.97, 1.03) for group in together),
                                       *(([name], 0.7, 1.3) for name in names)):  # fmt: skip
                ratio = sum(predicted[name] for name in which) / measure(folder, which)
                count += 1
                if not least < ratio < most:
                    wrong.append(f"{', '.join(which)}: predicted {ratio:.3f} of what is measured")
        make(folder / "spread", 1)
        chosen = (line for budget in BUDGETS for line in check_choice(folder / "spread", *budget))
        for line in (*check_kinds(folder), *chosen):
            count += 1
            wrong += [line] if line else []
    for line in wrong:
        print("FAILED", line)
    print(f"{count - len(wrong)} passed, {len(wrong)} failed")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
