#!/usr/bin/env python3
"""Types of tensors and their bytes beside what llama-quantize made of the same models
(tests/golden/make_llama_quantize.py), for every mixture."""

import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib import gguf_file, llm_mixture_models  # noqa: E402

BARYON = pathlib.Path("build/baryon").resolve()
GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden/llm/mixtures.json"
passed = failed = 0


def check(what, good):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print("FAILED", what)


def compare(what, path, wanted, same_bytes):
    tensors = gguf_file.Reader(path).tensors
    types = {name: kind for kind, names in wanted["types"].items() for name in names}
    odd = {name: (tensors[name][0] if name in tensors else None, kind) for name, kind in types.items()
           if name not in tensors or tensors[name][0] != kind}  # fmt: skip
    check(f"{what}: types {odd}", not odd and len(types) == len(tensors))
    if not same_bytes:
        return
    digest = hashlib.sha256()
    for name in sorted(tensors):
        digest.update(tensors[name][2])
    check(f"{what}: bytes", digest.hexdigest() == wanted["sha256"])


golden = json.loads(GOLDEN.read_text())
with tempfile.TemporaryDirectory() as folder:
    for name, mixtures in golden.items():
        llm_mixture_models.write(name, f"{folder}/{name}")
        for mixture, wanted in mixtures.items():
            out = f"{folder}/{name}.{mixture}.gguf"
            done = subprocess.run([BARYON, "llm", "convert", f"{folder}/{name}", "-o", out, "--type", mixture, "--no-tokenizer",
                                   "-q"], capture_output=True, text=True)  # fmt: skip
            check(f"{name} {mixture}: {done.stderr}", done.returncode == 0)
            if done.returncode == 0:
                compare(f"{name} {mixture}", out, wanted, mixture not in llm_mixture_models.SEARCHED)
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
