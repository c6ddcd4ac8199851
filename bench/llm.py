"""Language models rounded on texts, beside Quark: divergence from the float model, perplexity, processor seconds, memory.

    bench/llm.py [--work FOLDER] [--peer build/peers/bin/python] [ROW ...]      (with the Python of build/venv)

The model is SmolLM2-135M off the grid of its file (bench/llm_base.py). It is rounded on windows of one of Debian's
documents and judged on others. Each row is a process of its own; where the peer is not installed its rows are left out.
Quark sees the same windows, token for token. Processor seconds are those of our whole process, and of Quark's quantizing
alone, without its imports and the model's loading. Quark's rows have float inputs: what is judged are its weights.
"""

import argparse
import pathlib
import shutil

import llm_base
import measure

HERE = pathlib.Path(__file__).resolve().parent
LENGTH, WINDOWS = 512, 8
# name: scheme, options; those with a method see texts. Types of GGUF are files.
RTN, GPTQ, DESCENT = ("--method", "rtn"), ("--method", "gptq"), ("--method", "descent")
OURS = {
    "int4 nearest": ("int4_wo_64", ()), "int4 gptq": ("int4_wo_64", GPTQ), "int4 gptaq": ("int4_wo_64", ("--method", "gptaq")),
    "int4 descent": ("int4_wo_64", DESCENT), "int4 awq": ("int4_wo_64", (*RTN, "--awq")),
    "int4 awq descent": ("int4_wo_64", (*DESCENT, "--awq")), "uint4 nearest": ("uint4_wo_64", ()),
    "uint4 descent": ("uint4_wo_64", DESCENT), "int3 descent": ("int3_wo_64", DESCENT),
    "int2 descent": ("int2_wo_32", DESCENT), "int8 nearest": ("int8", ()),
    "int8 minmax": ("int8", ("--search", "minmax")), "int8 smooth": ("int8", (*RTN, "--smooth", "auto")), "fp8 nearest": ("fp8", ()),
    "fp8 minmax": ("fp8", ("--search", "minmax")), "fp8 outputs nearest": ("fp8_wo_per_channel", ()),
    "fp8 outputs descent": ("fp8_wo_per_channel", DESCENT), "mxfp4 nearest": ("mxfp4_weight_only", ()),
    "mxfp4 descent": ("mxfp4_weight_only", DESCENT), "q4_0 nearest": ("q4_0", ()), "q4_0 descent": ("q4_0", DESCENT),
    "iq4_nl importance": ("iq4_nl", ("--method", "importance")), "iq4_nl descent": ("iq4_nl", DESCENT),
}  # fmt: skip
PEER = {"int4 nearest": ("int4_wo_64", "rtn"), "int4 gptq": ("int4_wo_64", "gptq"), "uint4 nearest": ("uint4_wo_64", "rtn"),
        "uint4 gptq": ("uint4_wo_64", "gptq"), "mxfp4 nearest": ("mxfp4_weight_only", "rtn")}


def run(command):
    return measure.run(list(map(str, command)))


def judge(baryon, model, base, work):
    found = run([baryon, "llm", "eval", model, "--against", base, "--text", work / "judge.txt", "--length", LENGTH,
                 "--windows", WINDOWS, "--json", "-q"])
    return found["kl"], found["kl_error"], found["perplexity"], found["same_top"]


def remove(path):
    shutil.rmtree(path, ignore_errors=True)
    path.unlink(missing_ok=True)


def ours(baryon, base, work, scheme, options):
    is_file = scheme.startswith(("q", "iq"))
    out = work / ("out.gguf" if is_file else "out")
    remove(out)
    command = [baryon, "llm", "quantize", base, "-o", out, "--scheme", scheme, "-q"]
    command += ["--layout", "gguf"] if is_file else []
    command += options
    if "--method" in options:
        command += ["--text", work / "debian-handbook.txt", "--length", LENGTH, "--windows", WINDOWS]
    done = run(command)
    return done["cpu"], done["peak"], out


def peer(python, base, work, scheme, method):
    out = work / "peer"
    remove(out)
    done = run([python, HERE / "llm_peer.py", base, out, scheme, method, work / "windows.npy"])
    return done["seconds"], done["peak"], out


def write_windows(base, work):
    """The windows that our program takes, as ids, by the tokenizers package of the peer's environment."""
    code = ("import sys, numpy as np, tokenizers; t = tokenizers.Tokenizer.from_file(sys.argv[1]); "
            "ids = np.array(t.encode(open(sys.argv[2]).read()).ids); n, w = int(sys.argv[4]), int(sys.argv[5]); "
            "at = [(len(ids) - n) * (2 * i + 1) // (2 * w) for i in range(w)]; "
            "np.save(sys.argv[3], np.stack([ids[a : a + n] for a in at]))")
    return ["-c", code, f"{base}/tokenizer.json", work / "debian-handbook.txt", work / "windows.npy", LENGTH, WINDOWS]


def write_judge(work):
    """From the middle of two documents that were not rounded on."""
    texts = [(work / f"{name}.txt").read_text() for name in ("developers-reference", "debian-reference-en")]
    (work / "judge.txt").write_text("\n\n".join(text[len(text) // 3 :][:9500] for text in texts))


def tell(who, name, seconds, peak, found):
    kl, error, perplexity, top = found
    print(f"| {who} | {name} | {kl:.4f} ± {error:.4f} | {perplexity:.2f} | {100 * top:.1f} | {seconds:.0f} | {peak:.0f} |",
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", help="names of rows; all")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("build/bench/llm"))
    parser.add_argument("--peer", type=pathlib.Path, default=pathlib.Path("build/peers/bin/python"))
    parser.add_argument("--baryon", type=pathlib.Path, default=pathlib.Path("build/baryon"))
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    llm_base.fetch_texts(given.work)
    base = pathlib.Path(llm_base.make_base(given.baryon, given.work))
    write_judge(given.work)
    print("| | row | KL, nats a token | perplexity | same top, % | processor s | peak MiB |\n|---|---|---|---|---|---|---|")
    for name, (scheme, options) in OURS.items():
        if not given.rows or name in given.rows:
            seconds, peak, out = ours(given.baryon, base, given.work, scheme, options)
            tell("ours", name, seconds, peak, judge(given.baryon, out, base, given.work))
    if not measure.version(given.peer, "amd-quark") or not measure.version(given.peer, "transformers"):
        print(f"no peer: Quark or transformers is not installed for {given.peer} (make peers)")
        return
    run([given.peer, *write_windows(base, given.work)])
    for name, (scheme, method) in PEER.items():
        if not given.rows or name in given.rows:
            seconds, peak, out = peer(given.peer, base, given.work, scheme, method)
            tell("Quark", name, seconds, peak, judge(given.baryon, out, base, given.work))


if __name__ == "__main__":
    main()
