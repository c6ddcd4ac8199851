"""Bits for each layer beside one type for all, at the same size: divergence from the float model.

    bench/llm_auto.py [--work FOLDER] [--baryon PROGRAM] [--layers COUNT] [ROW ...]

Run it with the Python of build/venv. The model is that of bench/llm.py, for GGUF with rows filled up as in bench/llm_gguf.py.
Everything is rounded on 8 windows of one of Debian's documents, chosen on others of it, and judged on two other documents.
Single types are those of at most the same size; a row's name is its budget's, such as `linear 4.5`.
"""

import argparse
import json
import pathlib
import shutil

import llm
import llm_base
import llm_gguf
import measure

COMMON = ["--text", "debian-handbook.txt", "--length", "512", "--windows", "8"]
# Layout, unit, bits, single types of that size.
ROWS = {
    "linear 4.5": ("json-safetensors", "linear", 4.5, ("int4_wo_32", "uint4_wo_64", "int4_wo_64")),
    "fused 4.5": ("quark", "fused", 4.5, ("int4_wo_32", "uint4_wo_64", "int4_wo_64")),
    "gguf 4.5": ("gguf", "linear", 4.5, ("q4_K", "iq4_nl", "iq4_xs")),
    "gguf 4.25": ("gguf", "linear", 4.25, ("iq4_xs", "q3_K")),
    "gguf 3.4375": ("gguf", "linear", 3.4375, ("q3_K",)),
}  # fmt: skip


def remove(path):
    shutil.rmtree(path, ignore_errors=True)
    path.unlink(missing_ok=True)


def run(given, *arguments):
    command = [given.baryon, *map(str, arguments), "-q"]
    return measure.run(list(map(str, command)), folder=given.work)


def judge(given, base, model):
    return run(given, "llm", "eval", model, "--against", base, "--text", "judge.txt", "--length", 512, "--windows", 8, "--json")


def tell(name, bits, found, done):
    print(f"| {name} | {bits:.3f} | {found['kl']:.4f} ± {found['kl_error']:.4f} | {found['perplexity']:.2f} | "
          f"{100 * found['same_top']:.1f} | {done['cpu']:.0f} | {done['peak']:.0f} |", flush=True)


def single(given, base, layout, name, bits):
    """One type for all linears, as llm quantize makes it."""
    out = given.work / ("single.gguf" if layout == "gguf" else "single")
    remove(out)
    how = ["--scheme", "q6_k", "--layer", f"*_proj={name}"] if layout == "gguf" else ["--scheme", name]
    exclude = ["--exclude", "*embed_tokens"] if layout == "gguf" else []
    done = run(given, "llm", "quantize", base, "-o", out, "--layout", layout, *how, *exclude, *COMMON)
    found = judge(given, base, out)
    remove(out)
    return found, done, bits


def chosen(given, base, layout, unit, bits):
    out = given.work / ("auto.gguf" if layout == "gguf" else "auto")
    remove(out)
    exclude = ["--exclude", "*embed_tokens"] if layout == "gguf" else []
    done = run(given, "llm", "auto", base, "-o", out, "--layout", layout, "--unit", unit, "--bits", bits, "--no-uniform",
               "--report", given.work / "auto.json", *exclude, *COMMON, *given.more)
    report = json.loads((given.work / "auto.json").read_text())
    found = judge(given, base, out)
    remove(out)
    return found, done, report["chosen"]["bits_per_weight"]


BITS = {"int4_wo_32": 4.5, "uint4_wo_64": 4.3125, "int4_wo_64": 4.25, "q4_K": 4.5, "iq4_nl": 4.5, "iq4_xs": 4.25, "q3_K": 3.4375}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", help="budgets; all")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("build/bench/llm"))
    parser.add_argument("--layers", type=int, help="only the first so many")
    parser.add_argument("--baryon", type=pathlib.Path, default=pathlib.Path("build/baryon"))
    given, given.more = parser.parse_known_args()
    given.work, given.baryon = given.work.resolve(), given.baryon.resolve()
    given.work.mkdir(parents=True, exist_ok=True)
    llm_base.fetch_texts(given.work)
    base = pathlib.Path(llm_base.make_base(given.baryon, given.work))
    filled = pathlib.Path(llm_gguf.padded(base, given.work / "padded"))
    llm.write_judge(given.work)
    print("| row | bits a weight | KL, nats a token | perplexity | same top, % | processor s | peak MiB |\n"
          "|---|---|---|---|---|---|---|")
    for name in given.rows or ROWS:
        layout, unit, bits, singles = ROWS[name]
        source = filled if layout == "gguf" else base
        source = llm.cut(source, given.layers) if given.layers else source
        for kind in singles:
            found, done, own = single(given, source, layout, kind, BITS[kind])
            tell(f"{name}: {kind}", own, found, done)
        found, done, own = chosen(given, source, layout, unit, bits)
        tell(f"{name}: auto", own, found, done)


if __name__ == "__main__":
    main()
