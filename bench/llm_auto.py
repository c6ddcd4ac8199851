"""Bits for each layer beside one type for all, at the same size: divergence from the float model.

    bench/llm_auto.py [--work FOLDER] [--baryon PROGRAM] [--model FOLDER] [ROW ...]

Run it with the Python of build/venv. The model is that of bench/llm.py in bf16, for GGUF with rows filled up as in
bench/llm_gguf.py, or a folder of bf16 with --model. Everything is rounded on 8 windows of one of Debian's documents, chosen on
others of it, and judged on two other documents.
Single types are those of at most the same size; a row's name is its budget's, such as `quark 4.5`. Bits are those of the files:
linears with all that belongs to them.
"""

import argparse
import pathlib
import shutil

import llm
import llm_base
import llm_gguf
import measure

COMMON = ["--text", "debian-handbook.txt", "--length", "512", "--windows", "8"]
# Layout, bits, single types of at most that size.
ROWS = {
    "quark 4.3125": ("quark", 4.3125, ("uint4_wo_64",)),
    "quark 4.5": ("quark", 4.5, ("nvfp4_weight_only", "uint4_wo_64")),
    "quark 4.625": ("quark", 4.625, ("uint4_wo_32",)),
    "gguf 3.4375": ("gguf", 3.4375, ("q3_K", "iq3_s")),
    "gguf 4.25": ("gguf", 4.25, ("iq4_xs",)),
    "gguf 4.5": ("gguf", 4.5, ("q4_K", "iq4_nl")),
    "gguf 5.5": ("gguf", 5.5, ("q5_K", "q5_0")),
}  # fmt: skip


def remove(path):
    shutil.rmtree(path, ignore_errors=True)
    path.unlink(missing_ok=True)


def run(given, *arguments):
    command = [given.baryon, *map(str, arguments), "-q"]
    return measure.run(list(map(str, command)), folder=given.work)


def judge(given, base, model):
    return run(given, "llm", "eval", model, "--against", base, "--text", "judge.txt", "--length", 512, "--windows",
               given.judged, "--json")


def bits_of(given, out, weights):
    """Bits a weight of all but embeddings, norms and the head."""
    kinds = run(given, "llm", "inspect", out, "--json")["kinds"]
    return 8 * sum(kind["bytes"] for kind in kinds if not kind["name"].endswith(("embedding", "norm", "head"))) / weights


def tell(name, bits, found, done):
    print(f"| {name} | {bits:.3f} | {found['kl']:.4f} ± {found['kl_error']:.4f} | {found['perplexity']:.2f} | "
          f"{100 * found['same_top']:.1f} | {done['cpu']:.0f} | {done['peak']:.0f} |", flush=True)


def single(given, base, layout, name, weights):
    """One type for all linears, as llm quantize makes it."""
    out = given.work / ("single.gguf" if layout == "gguf" else "single")
    remove(out)
    how = ["--scheme", "q6_k", "--layer", f"*_proj={name}"] if layout == "gguf" else ["--scheme", name]
    exclude = ["--exclude", "*embed_tokens"] if layout == "gguf" else []
    done = run(given, "llm", "quantize", base, "-o", out, "--layout", layout, *how, *exclude, *COMMON)
    found, bits = judge(given, base, out), bits_of(given, out, weights)
    remove(out)
    return found, done, bits


def chosen(given, base, layout, bits, weights):
    out = given.work / ("auto.gguf" if layout == "gguf" else "auto")
    remove(out)
    exclude = ["--exclude", "*embed_tokens"] if layout == "gguf" else []
    done = run(given, "llm", "auto", base, "-o", out, "--layout", layout, "--bits", bits, "--no-uniform", *exclude, *COMMON,
               *given.more)
    found, own = judge(given, base, out), bits_of(given, out, weights)
    remove(out)
    return found, done, own


def weights_of(given, base):
    kinds = run(given, "llm", "inspect", base, "--json")["kinds"]
    return sum(kind["values"] for kind in kinds if not kind["name"].endswith(("embedding", "norm", "head")))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", help="budgets; all")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("build/bench/llm"))
    parser.add_argument("--model", type=pathlib.Path, help="a folder of bf16 whose rows are whole blocks")
    parser.add_argument("--judged", type=int, default=8, help="windows that judge")
    parser.add_argument("--baryon", type=pathlib.Path, default=pathlib.Path("build/baryon"))
    given, given.more = parser.parse_known_args()
    given.work, given.baryon = given.work.resolve(), given.baryon.resolve()
    given.work.mkdir(parents=True, exist_ok=True)
    llm_base.fetch_texts(given.work)
    if given.model:
        base = filled = given.model.resolve()
    else:
        floats = measure.apart(llm_base.make_base, given.baryon, given.work)
        base = pathlib.Path(measure.apart(llm_base.in_bf16, floats, given.work / "base16"))
        padded = measure.apart(llm_gguf.padded, floats, given.work / "padded")
        filled = pathlib.Path(measure.apart(llm_base.in_bf16, padded, given.work / "padded16"))
    llm.write_judge(given.work, given.judged)
    print("| row | bits a weight | KL, nats a token | perplexity | same top, % | processor s | peak MiB |\n"
          "|---|---|---|---|---|---|---|")
    for name in given.rows or ROWS:
        layout, bits, singles = ROWS[name]
        source = filled if layout == "gguf" else base
        weights = weights_of(given, source)
        for kind in singles:
            found, done, own = single(given, source, layout, kind, weights)
            tell(f"{name}: {kind}", own, found, done)
        found, done, own = chosen(given, source, layout, bits, weights)
        tell(f"{name}: auto", own, found, done)


if __name__ == "__main__":
    main()
