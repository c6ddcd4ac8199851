"""Bytes of our exports beside those of Quark, and a small trained decoder for that.

`train FOLDER TEXTS` trains a Llama of 8 layers on bytes of Debian's documents (those of bench/llm_base.py, in folder TEXTS),
a few minutes on two cores. `compare MODEL...` quantizes each folder by Quark in memory and by `baryon llm quantize --compat
quark-0.13`, and compares every tensor byte for byte, and config.json. `record MODEL` writes tests/golden/llm_trained.* from
the last layer of that decoder. All need a Python with amd-quark, torch and transformers: `make peers`.
"""

import argparse
import hashlib
import json
import lzma
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE.parent / "tests/golden/llm_trained"
SCHEMES = """fp8 ptpc_fp8 int8 int4_wo_32 int4_wo_64 int4_wo_128 int4_wo_per_channel uint4_wo_32 uint4_wo_64 uint4_wo_128
uint4_wo_per_channel mxfp4 mxfp6_e3m2 mxfp6_e2m3 mxfp4_mxfp6_e2m3 mxfp4_fp8 nvfp4 amdfp4 amdfp4_g32 int4_fp8""".split()
CONFIG = {"vocab_size": 256, "hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 8, "num_attention_heads": 4,
          "num_key_value_heads": 2, "head_dim": 32, "max_position_embeddings": 512, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
          "bos_token_id": 0, "eos_token_id": 0, "tie_word_embeddings": False}  # fmt: skip
WINDOW, BATCH, RATE = 128, 8, 3e-3
LAST = CONFIG["num_hidden_layers"] - 1


# --- The decoder ---


def text_of(folder):
    sys.path.insert(0, str(HERE))
    import llm_base
    os.makedirs(folder, exist_ok=True)
    llm_base.fetch_texts(folder)
    return b"\n".join(pathlib.Path(folder, f"{name}.txt").read_bytes() for name in sorted(llm_base.TEXTS))


def train(folder, texts, steps):
    import torch
    import transformers
    torch.manual_seed(26)
    torch.set_num_threads(1)  # little work in each step
    data = torch.frombuffer(bytearray(text_of(texts)), dtype=torch.uint8)
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**CONFIG))
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps, pct_start=0.1)
    mean = 0
    for step in range(steps):
        starts = torch.randint(len(data) - WINDOW, (BATCH,))
        ids = torch.stack([data[s:s + WINDOW] for s in starts]).long()
        loss = model(ids, labels=ids).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1)
        optimizer.step()
        schedule.step()
        mean = loss.item() if step == 0 else 0.95 * mean + 0.05 * loss.item()
        if step % 25 == 24:
            print(f"step {step + 1}: {mean:.3f} nats a byte", flush=True)
    model.to(torch.bfloat16).save_pretrained(folder)


# --- Both exports ---


def tensors_of(folder):
    import safetensors
    found = {}
    for path in sorted(pathlib.Path(folder).glob("*.safetensors")):
        with safetensors.safe_open(path, "pt") as file:
            found.update({name: file.get_tensor(name) for name in file.keys()})
    return found


def described(tensor):
    import torch
    raw = tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
    return {"type": str(tensor.dtype).removeprefix("torch."), "shape": list(tensor.shape), "sha256": hashlib.sha256(raw).hexdigest()}


def by_quark(source, scheme, out):
    import torch
    from quark.torch import LLMTemplate, ModelQuantizer, export_safetensors
    from transformers import AutoModelForCausalLM
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_pretrained(source, dtype=torch.bfloat16).eval()
    quantizer = ModelQuantizer(LLMTemplate.get(model.config.model_type).get_config(scheme=scheme))
    samples = torch.utils.data.DataLoader([{"input_ids": torch.arange(16)}])
    with torch.no_grad():
        export_safetensors(model=quantizer.freeze(quantizer.quantize_model(model, samples)), output_dir=out)


def differences(ours, theirs, place=""):
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted(set(ours) | set(theirs)):
            yield from differences(ours.get(key, "missing"), theirs.get(key, "missing"), f"{place}.{key}")
    elif ours != theirs:
        yield place


def is_of_samples(name):
    """Scales of inputs, which Quark finds with samples."""
    return name.rpartition(".")[2].startswith(("input_", "output_"))


def compare(program, source, scheme, work):
    ours, theirs = f"{work}/ours", f"{work}/theirs"
    try:
        by_quark(source, scheme, theirs)
    except Exception as error:  # whatever Quark says
        return f"Quark stops: {str(error).strip().splitlines()[0][:90]}"
    done = subprocess.run([program, "llm", "quantize", source, "-o", ours, "--scheme", scheme, "--compat", "quark-0.13", "--quiet"],
                          capture_output=True, text=True)
    if done.returncode:
        return f"not written: {done.stderr.strip().splitlines()[-1][:110]}"
    have, want = tensors_of(ours), {n: t for n, t in tensors_of(theirs).items() if not is_of_samples(n)}
    same = sum(n in have and described(have[n]) == described(t) for n, t in want.items())
    more = len(set(have) - set(want))
    configs = [json.loads(pathlib.Path(folder, "config.json").read_text())["quantization_config"] for folder in (ours, theirs)]
    places = [p for p in differences(*configs) if "input_tensors" not in p]
    return f"{same} of {len(want)} | {more} | {', '.join(places) or 'equal'}"


def compare_all(program, sources, schemes):
    out = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Quark prints what it does
    print("| model | scheme | tensors with the same bytes | ours alone | quantization_config |\n|---|---|---|---|---|", file=out, flush=True)
    for source in sources:
        for scheme in schemes:
            with tempfile.TemporaryDirectory() as work:
                said = compare(program, source, scheme, work)
            print(f"| {pathlib.Path(source).name} | {scheme} | {said} |", file=out, flush=True)


# --- For the tests ---


def of_last_layer(tensors):
    """Those of the last layer, as layer 0."""
    begin = f"model.layers.{LAST}."
    return {name.replace(begin, "model.layers.0."): t for name, t in tensors.items() if name.startswith(begin)}


def record(source, schemes):
    import torch
    layer = of_last_layer(tensors_of(source))
    raw = {name: t.view(torch.int16).numpy().tobytes() for name, t in sorted(layer.items())}
    answer = {"config": dict(CONFIG, num_hidden_layers=1), "shapes": {name: list(layer[name].shape) for name in raw}, "schemes": {}}
    # High and low bytes apart: exponents repeat, mantissas do not.
    pieces = b"".join(part for bytes_ in raw.values() for part in (bytes_[1::2], bytes_[::2]))
    GOLDEN.with_suffix(".xz").write_bytes(lzma.compress(pieces, preset=9 | lzma.PRESET_EXTREME))
    for scheme in schemes:
        with tempfile.TemporaryDirectory() as work:
            by_quark(source, scheme, work + "/out")
            found = of_last_layer(tensors_of(work + "/out"))
        answer["schemes"][scheme] = {name: described(t) for name, t in sorted(found.items())
                                     if not is_of_samples(name) and "norm" not in name}
        text = json.dumps(answer, separators=(",", ":"), sort_keys=True)
        GOLDEN.with_suffix(".json").write_text(text.replace('"model.', '\n"model.') + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=os.environ.get("BARYON", "build/baryon"))
    parser.add_argument("--schemes", default=",".join(SCHEMES))
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("what", choices=("train", "compare", "record"))
    parser.add_argument("folders", nargs="+")
    args = parser.parse_args()
    if args.what == "train":
        train(args.folders[0], args.folders[1], args.steps)
    elif args.what == "record":
        record(args.folders[0], args.schemes.split(","))
    else:
        compare_all(args.program, args.folders, args.schemes.split(","))
    return 0


if __name__ == "__main__":
    sys.exit(main())
