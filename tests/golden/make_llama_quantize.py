#!/usr/bin/env python3
"""Records what llama-quantize makes of tests/lib/llm_mixture_models.py: tests/golden/llm/mixtures.json.

usage: make_llama_quantize.py LLAMA_QUANTIZE (built from llama.cpp without -march: GGML_NATIVE=OFF and no vector
options, so that its arithmetic is that of the reference). For each model and mixture: the type of each tensor,
and a digest of all bytes.
"""

import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from lib import gguf_file, llm_mixture_models  # noqa: E402


def described(path):
    tensors = gguf_file.Reader(path).tensors
    digest = hashlib.sha256()
    types = {}
    for name in sorted(tensors):
        kind, _, content = tensors[name]
        digest.update(content)
        types.setdefault(kind, []).append(name)
    return {"types": types, "sha256": digest.hexdigest()}


def main():
    program, found = sys.argv[1], {}
    for name in llm_mixture_models.MODELS:
        with tempfile.TemporaryDirectory() as folder:
            llm_mixture_models.write(name, f"{folder}/model")
            subprocess.run(["build/baryon", "llm", "convert", f"{folder}/model", "-o", f"{folder}/in.gguf", "--no-tokenizer",
                            "--quiet"], check=True)  # fmt: skip
            found[name] = {}
            for mixture in llm_mixture_models.MIXTURES + llm_mixture_models.SEARCHED:
                done = subprocess.run([program, f"{folder}/in.gguf", f"{folder}/out.gguf", mixture.upper(), "2"],
                                      capture_output=True, text=True)  # fmt: skip
                if done.returncode:
                    sys.exit(f"{name} {mixture}: {done.stdout[-500:]}{done.stderr[-500:]}")
                found[name][mixture] = described(f"{folder}/out.gguf")
    (HERE / "llm/mixtures.json").write_text(json.dumps(found, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
