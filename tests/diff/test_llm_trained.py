#!/usr/bin/env python3
"""Bytes of baryon llm quantize --compat quark-0.13 on a layer of a trained decoder, beside those that Quark 0.13 wrote.

bench/llm_exports.py trained the decoder, and recorded its last layer and the hashes of Quark's tensors.
"""

import hashlib
import json
import lzma
import pathlib
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np
from dump import BUILD, Score
from safetensors.numpy import save_file

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import llm_weights  # noqa: E402

GOLDEN = HERE.parent / "golden/llm_trained"


def weights(shapes):
    """High bytes and low bytes of each tensor, one after the other."""
    raw = lzma.decompress(GOLDEN.with_suffix(".xz").read_bytes())
    found, at = {}, 0
    for name, shape in sorted(shapes.items()):
        count = int(np.prod(shape))
        high, low = (np.frombuffer(raw, np.uint8, count, at + k * count).astype(np.uint16) for k in (0, 1))
        found[name] = (high << 8 | low).view(ml_dtypes.bfloat16).reshape(shape)
        at += 2 * count
    return found


def write_model(folder, answer):
    config = dict(answer["config"], architectures=["LlamaForCausalLM"], model_type="llama", torch_dtype="bfloat16")
    tensors = weights(answer["shapes"])
    head = np.zeros((config["vocab_size"], config["hidden_size"]), ml_dtypes.bfloat16)
    tensors.update({"model.embed_tokens.weight": head, "lm_head.weight": head,
                    "model.norm.weight": np.ones(config["hidden_size"], ml_dtypes.bfloat16)})  # fmt: skip
    folder.mkdir()
    save_file(tensors, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(config))


def main():
    score = Score()
    answer = json.loads(GOLDEN.with_suffix(".json").read_text())
    with tempfile.TemporaryDirectory() as root:
        root = pathlib.Path(root)
        write_model(root / "model", answer)
        for scheme, wanted in answer["schemes"].items():
            out = root / scheme
            done = subprocess.run([BUILD / "baryon", "llm", "quantize", root / "model", "-o", out, "--scheme", scheme, "--compat",
                                   "quark-0.13", "--quiet"], capture_output=True, text=True)  # fmt: skip
            if not score.check(done.returncode == 0, f"{scheme}: {done.stderr.strip()}"):
                continue
            found = llm_weights.read_safetensors(out)
            for name, tensor in wanted.items():
                own = found.get(name)
                if not score.check(own is not None, f"{scheme} {name} is missing"):
                    continue
                described = {"type": str(own.dtype), "shape": list(own.shape),
                             "sha256": hashlib.sha256(own.tobytes()).hexdigest()}  # fmt: skip
                score.check(described == tensor, f"{scheme} {name}: {described} is not {tensor}")
    return score.finish()


if __name__ == "__main__":
    sys.exit(main())
