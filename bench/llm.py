"""Language models rounded on texts, beside Quark: divergence from the float model, perplexity, processor seconds, memory.

    bench/llm.py [--work FOLDER] [--model FOLDER] [--layers COUNT] [--peer build/peers/bin/python] [ROW ...]

Run it with the Python of build/venv. The model is SmolLM2-135M off the grid of its file (bench/llm_base.py), another folder
with --model, or its first layers alone. It is rounded on windows of one of Debian's documents and judged on others. A folder
without a tokenizer is taken to have bytes as tokens, as what `bench/llm_exports.py train` makes.
Each row is a process of its own; where the peer is not installed its rows are left out. ROW is the name of a row or of its
group. Quark sees the same windows, token for token. Processor seconds are those of our whole process, and of Quark's
quantizing alone, without its imports and the model's loading. Inputs that a scheme rounds are rounded when it is judged too.
"""

import argparse
import json
import pathlib
import shutil

import llm_base
import measure

HERE = pathlib.Path(__file__).resolve().parent
RTN, GPTQ, GPTAQ, QRONOS, DESCENT = (("--method", name) for name in ("rtn", "gptq", "gptaq", "qronos", "descent"))
NEAREST = (*DESCENT, "--start", "nearest")
# Groups are compared by size: what is ours, what is Quark's. Rows with a method see texts.
GROUPS = {
    "int4": ("int4_wo_64", {"nearest": (), "gptq": GPTQ, "gptaq": GPTAQ, "qronos": QRONOS, "descent": DESCENT, "descent from nearest": NEAREST, "awq": (*RTN, "--awq"),
                            "awq+descent": (*DESCENT, "--awq"), "smooth+descent": (*DESCENT, "--smooth", "auto")},
             {"nearest": "rtn", "gptq": "gptq", "awq": "awq"}),
    "uint4": ("uint4_wo_64", {"nearest": (), "gptq": GPTQ, "descent": DESCENT, "awq": (*RTN, "--awq")},
              {"nearest": "rtn", "gptq": "gptq", "awq": "awq"}),
    "int3": ("int3_wo_64", {"nearest": (), "gptq": GPTQ, "descent": DESCENT}, {"nearest": "rtn", "gptq": "gptq"}),
    "int2": ("int2_wo_32", {"nearest": (), "gptq": GPTQ, "descent": DESCENT}, {"nearest": "rtn", "gptq": "gptq"}),
    "int8": ("int8", {"nearest": RTN, "minmax": (*RTN, "--search", "minmax"), "smooth": (*RTN, "--smooth", "auto"),
                      "descent": DESCENT, "smooth+descent": (*DESCENT, "--smooth", "auto")},
             {"nearest": "rtn", "smooth": "smoothquant", "smooth, half": "smoothquant-0.5"}),
    "fp8": ("fp8", {"nearest": RTN, "descent": DESCENT}, {"nearest": "rtn"}),
    "mxfp4": ("mxfp4", {"nearest": (), "descent": DESCENT}, {"nearest": "rtn"}),
    "mxfp4 weights": ("mxfp4_weight_only", {"nearest": (), "descent": DESCENT}, {"nearest": "rtn", "gptq": "gptq"}),
    "nvfp4": ("nvfp4", {"nearest": RTN, "descent": DESCENT}, {"nearest": "rtn"}),
    "mxfp6": ("mxfp6_e2m3", {"nearest": (), "descent": DESCENT}, {"nearest": "rtn"}),
    "amdfp4": ("amdfp4", {"nearest": (), "descent": DESCENT}, {"nearest": "rtn"}),
    "ptpc_fp8": ("ptpc_fp8", {"nearest": (), "descent": DESCENT}, {"nearest": "rtn"}),
}  # fmt: skip


def run(command, timeout=None):
    return measure.run(list(map(str, command)), timeout)


def remove(path):
    shutil.rmtree(path, ignore_errors=True)


def ours(given, base, scheme, options):
    out = given.work / "out"
    remove(out)
    command = [given.baryon, "llm", "quantize", base, "-o", out, "--scheme", scheme, "-q", *options]
    if "--method" in options:
        command += ["--text", given.learn, "--length", given.length, "--windows", given.windows]
    return run(command), out


def peer(given, base, scheme, method):
    out = given.work / "peer"
    remove(out)
    done = run([given.peer, HERE / "llm_peer.py", base, out, scheme, method, given.work / "windows.npy"], given.patience)
    return {"cpu": done.get("seconds"), **{key: done[key] for key in ("peak", "failed") if key in done}}, out


def judge(given, model, base):
    return run([given.baryon, "llm", "eval", model, "--against", base, "--text", given.judge, "--length", given.length,
                "--windows", given.windows, "--json", "-q"])


def tell(given, who, name, done, out, base):
    if "failed" in done:
        print(f"| {who} | {name} | {done['failed']} | | | | |", flush=True)
        return
    found = judge(given, out, base)
    kl = [f"{found[key]:.4f}" if found["kl"] >= 0.01 else f"{found[key]:.2g}" for key in ("kl", "kl_error")]
    print(f"| {who} | {name} | {' ± '.join(kl)} | {found['perplexity']:.2f} | "
          f"{100 * found['same_top']:.1f} | {done['cpu']:.1f} | {done['peak']:.0f} |", flush=True)


def write_bytes(given, names, out):
    """Windows of bytes, evenly spread over the texts, which are the ids of models without a tokenizer."""
    import numpy

    texts = [(given.work / f"{name}.txt").read_bytes() for name in names]
    share = given.windows // len(texts)
    at = [(text, (len(text) - given.length) * (2 * i + 1) // (2 * share)) for text in texts for i in range(share)]
    numpy.save(out, numpy.array([list(text[begin : begin + given.length]) for text, begin in at], numpy.uint16))


def write_texts(given, base):
    """What is learned from, and what judges."""
    if (base / "tokenizer.json").exists():
        given.learn, given.judge = given.work / "debian-handbook.txt", given.work / "judge.txt"
        write_judge(given.work)
        return
    given.learn, given.judge = given.work / "windows.npy", given.work / "judge.npy"
    write_bytes(given, ["debian-handbook"], given.learn)
    write_bytes(given, ["developers-reference", "debian-reference-en"], given.judge)


def write_windows(given, base):
    """The windows that our program takes, as ids, by the tokenizers package of the peer's environment."""
    code = ("import sys, numpy as np, tokenizers; t = tokenizers.Tokenizer.from_file(sys.argv[1]); "
            "ids = np.array(t.encode(open(sys.argv[2]).read()).ids); n, w = int(sys.argv[4]), int(sys.argv[5]); "
            "at = [(len(ids) - n) * (2 * i + 1) // (2 * w) for i in range(w)]; "
            "np.save(sys.argv[3], np.stack([ids[a : a + n] for a in at]))")
    run([given.peer, "-c", code, base / "tokenizer.json", given.learn, given.work / "windows.npy", given.length, given.windows])


def write_judge(work, windows=8):
    """From the middle of two documents that were not rounded on; characters for windows of 512 tokens."""
    texts = [(work / f"{name}.txt").read_text() for name in ("developers-reference", "debian-reference-en")]
    (work / "judge.txt").write_text("\n\n".join(text[len(text) // 3 :][: 9500 * windows // 8] for text in texts))


def cut(base, layers):
    """The first layers, with the head behind them."""
    out = base.with_name(f"{base.name}-{layers}")
    if (out / "config.json").exists():
        return out
    out.mkdir(exist_ok=True)
    tensors = llm_base.read_safetensors(base / "model.safetensors")
    llm_base.write_safetensors(out / "model.safetensors", {
        name: values for name, values in tensors.items()
        if not name.startswith("model.layers.") or int(name.split(".")[2]) < layers})
    for file in base.glob("tokenizer*.json"):
        shutil.copy(file, out)
    config = json.loads((base / "config.json").read_text())
    (out / "config.json").write_text(json.dumps({**config, "num_hidden_layers": layers}))
    return out


def chosen(given):
    """Group, scheme, whose, row and how, group by group."""
    for group, (scheme, own, quark) in GROUPS.items():
        for who, rows in (("ours", own), ("Quark", quark)):
            for row, how in rows.items():
                if not given.rows or group in given.rows or f"{group} {row}" in given.rows:
                    yield who, f"{group} {row}", scheme, how


def has_peer(given):
    if measure.version(given.peer, "amd-quark") and measure.version(given.peer, "transformers"):
        return True
    print(f"no peer: Quark or transformers is not installed for {given.peer} (make peers)")
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", help="names of rows or groups; all")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("build/bench/llm"))
    parser.add_argument("--model", type=pathlib.Path, help="a folder in place of SmolLM2")
    parser.add_argument("--layers", type=int, help="only the first so many")
    parser.add_argument("--length", type=int, default=512, help="tokens of a window")
    parser.add_argument("--windows", type=int, default=8)
    parser.add_argument("--who", choices=("ours", "Quark"), help="the rows of one alone")
    parser.add_argument("--patience", type=int, default=3600, help="seconds after which a row of Quark's is given up")
    parser.add_argument("--peer", type=pathlib.Path, default=pathlib.Path("build/peers/bin/python"))
    parser.add_argument("--baryon", type=pathlib.Path, default=pathlib.Path("build/baryon"))
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    llm_base.fetch_texts(given.work)
    base = given.model or pathlib.Path(measure.apart(llm_base.make_base, given.baryon, given.work))
    base = measure.apart(cut, base, given.layers) if given.layers else base
    write_texts(given, base)
    both = given.who != "ours" and has_peer(given)
    if both and (base / "tokenizer.json").exists():
        write_windows(given, base)
    print("| | row | KL, nats a token | perplexity | same top, % | processor s | peak MiB |\n|---|---|---|---|---|---|---|")
    for who, name, scheme, how in chosen(given):
        if who == "ours" and given.who != "Quark":
            tell(given, who, name, *ours(given, base, scheme, how), base)
        elif who == "Quark" and both:
            tell(given, who, name, *peer(given, base, scheme, how), base)


if __name__ == "__main__":
    main()
