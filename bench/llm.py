"""Language models rounded on texts, beside Quark: divergence from the float model, perplexity, processor seconds, memory.

    bench/llm.py [--work FOLDER] [--peer build/peers/bin/python] [ROW ...]

The model is SmolLM2-135M off the grid of its file (bench/llm_base.py). It is rounded on windows of one of Debian's
documents and judged on others. Each row is a process of its own; where the peer is not installed its rows are left out.
Quark sees the same windows, token for token.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess

import llm_base
import measure

HERE = pathlib.Path(__file__).resolve().parent
LENGTH, WINDOWS = 512, 8
# name: scheme, method; None: without texts. Types of GGUF are files.
OURS = {
    "int4 nearest": ("int4_wo_64", None), "int4 gptq": ("int4_wo_64", "gptq"), "int4 gptaq": ("int4_wo_64", "gptaq"),
    "int4 descent": ("int4_wo_64", "descent"), "uint4 nearest": ("uint4_wo_64", None),
    "uint4 descent": ("uint4_wo_64", "descent"), "int3 descent": ("int3_wo_64", "descent"),
    "fp8 nearest": ("fp8_wo_per_channel", None), "fp8 descent": ("fp8_wo_per_channel", "descent"),
    "mxfp4 nearest": ("mxfp4_weight_only", None), "mxfp4 descent": ("mxfp4_weight_only", "descent"),
    "q4_0 nearest": ("q4_0", None), "q4_0 descent": ("q4_0", "descent"),
    "iq4_nl importance": ("iq4_nl", "importance"), "iq4_nl descent": ("iq4_nl", "descent"),
}  # fmt: skip
PEER = {"int4 nearest": ("int4_wo_64", "rtn"), "int4 gptq": ("int4_wo_64", "gptq"), "uint4 nearest": ("uint4_wo_64", "rtn"),
        "uint4 gptq": ("uint4_wo_64", "gptq"), "mxfp4 nearest": ("mxfp4_weight_only", "rtn")}


def run(command):
    """Processor seconds, peak MiB, and what was printed, of a process."""
    child = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE)
    output = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}: exit status {child.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, output.decode()


def judge(baryon, model, base, work):
    _, _, told = run([baryon, "llm", "eval", model, "--against", base, "--text", work / "judge.txt", "--length", LENGTH,
                      "--windows", WINDOWS, "--json", "-q"])
    found = json.loads(told)
    return found["kl"], found["kl_error"], found["perplexity"], found["same_top"]


def remove(path):
    shutil.rmtree(path, ignore_errors=True)
    path.unlink(missing_ok=True)


def ours(baryon, base, work, scheme, method):
    is_file = scheme.startswith(("q", "iq"))
    out = work / ("out.gguf" if is_file else "out")
    remove(out)
    command = [baryon, "llm", "quantize", base, "-o", out, "--scheme", scheme, "-q"]
    command += ["--layout", "gguf"] if is_file else []
    if method:
        command += ["--method", method, "--text", work / "debian-handbook.txt", "--length", LENGTH, "--windows", WINDOWS]
    seconds, peak, _ = run(command)
    return seconds, peak, out


def peer(python, base, work, scheme, method):
    out = work / "peer"
    remove(out)
    _, peak, told = run([python, HERE / "llm_peer.py", base, out, scheme, method, work / "windows.npy"])
    return json.loads(told.splitlines()[-1])["seconds"], peak, out


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
    for name, (scheme, method) in OURS.items():
        if not given.rows or name in given.rows:
            seconds, peak, out = ours(given.baryon, base, given.work, scheme, method)
            tell("ours", name, seconds, peak, judge(given.baryon, out, base, given.work))
    if not measure.version(given.peer, "amd-quark") or not measure.version(given.peer, "tokenizers"):
        print(f"no peer: Quark is not installed for {given.peer} (make peers)")
        return
    run([given.peer, *write_windows(base, given.work)])
    for name, (scheme, method) in PEER.items():
        if not given.rows or name in given.rows:
            seconds, peak, out = peer(given.peer, base, given.work, scheme, method)
            tell("Quark", name, seconds, peak, judge(given.baryon, out, base, given.work))


if __name__ == "__main__":
    main()
