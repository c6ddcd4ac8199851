#!/usr/bin/env python3
"""Records what llama-quantize --imatrix makes of tests/lib/llm_mixture_models.py with the importance matrices of
tests/lib/llm_importance.py: tests/golden/llm/importance.json.

usage: make_llama_importance.py LLAMA_QUANTIZE (built as make_llama_quantize.py says)
"""

import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE))
from lib import gguf_file, llm_importance, llm_mixture_models  # noqa: E402
from make_llama_quantize import described  # noqa: E402

MODELS = ("wide", "narrow", "experts")
MIXTURES = [*llm_mixture_models.MIXTURES, "q2_k_s"]


def record(program, name, folder):
    found = {"gguf": {}, "dat": {}}
    llm_mixture_models.write(name, f"{folder}/model")
    llm_importance.write(name, folder)
    subprocess.run(["build/baryon", "llm", "convert", f"{folder}/model", "-o", f"{folder}/in.gguf", "--no-tokenizer",
                    "--quiet"], check=True)  # fmt: skip
    for form in found:
        for mixture in MIXTURES:
            done = subprocess.run([program, "--imatrix", f"importance.{form}", f"{folder}/in.gguf", f"{folder}/out.gguf",
                                   mixture.upper(), "2"], capture_output=True, text=True, cwd=folder)  # fmt: skip
            if done.returncode:
                sys.exit(f"{name} {mixture}: {done.stdout[-500:]}{done.stderr[-500:]}")
            made = found[form][mixture] = described(f"{folder}/out.gguf")
            metadata = gguf_file.Reader(f"{folder}/out.gguf").metadata
            if form == "dat":
                del made["types"]  # the same
            made["notes"] = {key: value for key, value in metadata.items() if key.startswith("quantize.")}
    return found


def main():
    found = {}
    for name in MODELS:
        with tempfile.TemporaryDirectory() as folder:
            found[name] = record(pathlib.Path(sys.argv[1]).resolve(), name, folder)
    (HERE / "llm/importance.json").write_text(json.dumps(found, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
