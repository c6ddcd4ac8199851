#!/usr/bin/env python3
"""`baryon llm quantize --layout gguf --importance`: bytes, types and notes beside what llama-quantize --imatrix made of the same
models and files (tests/golden/make_llama_importance.py), in both forms; damaged files and files of other models are refused."""

import hashlib
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

import numpy as np
from dump import some

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib import gguf_file, llm_importance, llm_mixture_models, llm_tokenizer  # noqa: E402

BARYON = pathlib.Path("build/baryon").resolve()
GOLDEN = json.loads((pathlib.Path(__file__).resolve().parent.parent / "golden/llm/importance.json").read_text())
passed = failed = 0


def check(what, good):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print("FAILED", what)


def quantize(folder, importance, out="out.gguf", mixture="q4_k_s", *more):
    return subprocess.run([BARYON, "llm", "quantize", "model", "-o", out, "--layout", "gguf", "--scheme", mixture, "--importance",
                           importance, "-q", *more], capture_output=True, text=True, cwd=folder)  # fmt: skip


def compare(what, path, wanted):
    made = gguf_file.Reader(path)
    digest = hashlib.sha256()
    for name in sorted(made.tensors):
        digest.update(made.tensors[name][2])
    types = {name: kind for kind, names in wanted.get("types", {}).items() for name in names}
    odd = {name: (made.tensors[name][0], kind) for name, kind in types.items() if made.tensors[name][0] != kind}
    check(f"{what}: types {odd}", not odd)
    check(f"{what}: bytes", digest.hexdigest() == wanted["sha256"])
    notes = {key: value for key, value in made.metadata.items() if key.startswith("quantize.")}
    check(f"{what}: notes {notes}", notes == wanted["notes"])


def check_golden(name, folder):
    llm_mixture_models.write(name, folder / "model")
    llm_tokenizer.write_tokenizer(folder / "model")
    llm_importance.write(name, folder)
    for at, (form, mixtures) in enumerate(GOLDEN[name].items()):
        for mixture, wanted in some(list(mixtures.items())[at:]):
            done = quantize(folder, f"importance.{form}", "out.gguf", mixture)
            check(f"{name} {form} {mixture}: {done.stderr}", done.returncode == 0)
            if done.returncode == 0:
                compare(f"{name} {form} {mixture}", folder / "out.gguf", wanted)


def check_notices(folder):
    done = subprocess.run([BARYON, "llm", "quantize", "model", "-o", "out.gguf", "--layout", "gguf", "--scheme", "q4_k_s",
                           "--importance", "importance.dat", "--report", "report.json"], capture_output=True, text=True, cwd=folder)  # fmt: skip
    check(f"tensors without: {done.stderr}",
          "3 tensors without an entry in the importance matrix, rounded without weights" in done.stderr)  # fmt: skip
    report = json.loads((folder / "report.json").read_text())
    without = {w["tensor"] for w in report["weights"] if w["scheme"] and not w["importance"]}
    check(f"tensors without in the report: {without}", without == {llm_importance.LEFT, "output.weight", "token_embd.weight"})


def check_report(folder):
    """Its errors are those that llm compare finds, of experts one by one, whatever the threads."""
    reports = []
    for threads in (1, 3):
        quantize(folder, "importance.gguf", "out.gguf", "q4_k_s", "--report", "report.json", "--threads", str(threads))
        report = json.loads((folder / "report.json").read_text())["weights"]
        reports.append([{key: value for key, value in weight.items() if key != "seconds"} for weight in report])
    check("reports of one thread and three", reports[0] == reports[1])
    done = subprocess.run([BARYON, "llm", "compare", "model", "out.gguf", "--json"], capture_output=True, text=True, cwd=folder)
    found = {weight["name"]: weight["sqnr"] for weight in json.loads(done.stdout)["weights"]}
    odd = [(w["name"], w["sqnr_db"], found[w["name"]]) for w in reports[0] if w["scheme"] and abs(w["sqnr_db"] - found[w["name"]]) > 1e-6]
    check(f"errors in the report: {odd}", not odd and sum(bool(w["scheme"]) for w in reports[0]) > 80)


def changed(found, name=llm_importance.LEFT.replace("blk.1", "blk.0"), sums=None, counts=None, key=None):
    found = dict(found)
    old = found.pop(name)
    found[key or name] = (old[0] if sums is None else sums, old[1] if counts is None else counts)
    return found


def check_refused(folder):
    found = llm_importance.entries("wide")
    name = llm_importance.LEFT.replace("blk.1", "blk.0")
    values = found[name][0]
    bad = {}
    for number, word in ((np.nan, "nan"), (np.inf, "inf"), (-1, "-")):
        odd = values.copy()
        odd[0, 7] = number
        for form in (llm_importance.dat, llm_importance.gguf):
            bad[form(changed(found, sums=odd))] = f"'{name}': value 7 is {word}"
    for form in (llm_importance.dat, llm_importance.gguf):
        wide = np.ones((1, values.shape[1] + 1), np.float32)
        bad[form(changed(found, sums=wide))] = f"'{name}' has 257 values, must have 256"
        bad[form({"blk.99.other.weight": found[name], "x": found[name]})] = "none of which the model has"
        whole = form(found)
        for size in (5, len(whole) // 2):
            bad[whole[:size]] = ""
    whole = llm_importance.dat(found)
    bad[b""] = ""
    bad[struct.pack("<i", 0)] = "0 entries"
    bad[struct.pack("<i", -3) + whole[4:]] = "-3 entries"
    bad[struct.pack("<ii", 1, 1 << 30) + bytes(60)] = "must have 0 to 4096"
    bad[struct.pack("<i", 2) + 2 * llm_importance.dat({"a": found[name]})[4 : -8 - len(llm_importance.TEXTS)]] = "two entries"
    bad[llm_importance.gguf(found, notes=False)] = "no metadata imatrix.datasets"
    bad[llm_importance.gguf(changed(found, counts=np.ones(3, np.float32)))] = "must have as many sums for each count"
    bad[llm_importance.gguf(changed(found, counts=np.array([np.nan], np.float32)))] = "count 0 is nan"
    for content, message in bad.items():
        (folder / "bad").write_bytes(content)
        done = quantize(folder, "bad", "no.gguf")
        check(f"{message}: {done.returncode} {done.stderr}",
              done.returncode == 3 and message in done.stderr and done.stderr.startswith("baryon: bad"))  # fmt: skip
        check(f"{message}: wrote a file", not any(folder.glob("no*")))
    for more, message in ((("--layout", "quark", "--scheme", "int4_wo_32"), "--importance requires --layout gguf"),
                          (("--text", "importance.dat"), "--importance is not valid with --text")):  # fmt: skip
        done = quantize(folder, "importance.dat", "no.gguf", "q4_0", *more)
        check(f"{more}: {done.stderr}", done.returncode == 2 and message in done.stderr)


def main():
    for name in GOLDEN:
        with tempfile.TemporaryDirectory() as folder:
            check_golden(name, pathlib.Path(folder))
            if name == "experts":
                check_report(pathlib.Path(folder))
            if name == "wide":
                check_notices(pathlib.Path(folder))
                check_refused(pathlib.Path(folder))
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
