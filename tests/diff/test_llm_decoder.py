"""Logits of src/llm/decoder beside those of transformers, for tiny decoders of each family.

tests/golden/llm_logits.json has config.json, shapes and some logits of each, written by
tests/golden/make_llm_logits.py; weights are made here as they were there. Then the same models as
GGUF files, and what `baryon llm eval` says of them beside numpy.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from safetensors.numpy import save_file

sys.path.insert(0, "tests/golden")
from make_llm_logits import LENGTH, VOCAB, WINDOWS, ids, kept, weights_of  # noqa: E402

BUILD = pathlib.Path(os.environ.get("BUILD", "build"))
GOLDEN = json.loads(pathlib.Path("tests/golden/llm_logits.json").read_text())
# Attention scores are sums of some hundred products; transformers' own kernels differ as much.
CLOSE = 5e-4
# A file has no key for Mistral's window, nor for a scale of attention other than the usual one.
IN_GGUF = ("llama", "qwen2", "qwen3", "gemma", "gemma3", "mixtral", "phi3")


def write(folder, name):
    made = GOLDEN[name]
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(made["config"]))
    weights = {key: weights_of(key, shape, "gemma" in name) for key, shape in made["shapes"].items()}
    save_file(weights, folder / "model.safetensors")


def logits(model, tokens):
    """All logits, or what was wrong."""
    done = subprocess.run(
        [BUILD / "tests/tools/llm_logits", model, str(LENGTH), *map(str, tokens.ravel())], capture_output=True
    )
    if done.returncode:
        return done.stderr.decode().strip()
    return np.frombuffer(done.stdout, np.float32).reshape(len(tokens), LENGTH, VOCAB)


def compare(folder, name):
    """One line for each thing that is wrong."""
    want = np.array(GOLDEN[name]["logits"])
    got = logits(folder / name, ids())
    if isinstance(got, str):
        yield got
        return
    far = np.abs(kept(got).ravel() - want).max()
    if far > CLOSE:
        yield f"logits differ by {far:.2e}, at most {CLOSE} was expected"
    if name not in IN_GGUF:
        return
    gguf = folder / f"{name}.gguf"
    done = subprocess.run(
        [BUILD / "baryon", "llm", "convert", folder / name, "-o", gguf, "--type", "f32", "--no-tokenizer", "-q"], capture_output=True, text=True
    )
    if done.returncode:
        yield f"convert: {done.stderr.strip()}"
        return
    again = logits(gguf, ids())
    if isinstance(again, str) or np.abs(again - got).max() > CLOSE:
        yield f"the GGUF file: {again if isinstance(again, str) else np.abs(again - got).max()}"


def tokenizer():
    """Ids of a text are its bytes."""
    signs = [chr(b) for b in range(0x21, 0x7F)] + [chr(b) for b in range(0xA1, 0xAD)] + [chr(b) for b in range(0xAE, 0x100)]
    bytes_of = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    for byte in range(256):
        if byte not in bytes_of:
            signs.append(chr(0x100 + len(signs) - 188))
            bytes_of.append(byte)
    return {
        "model": {"type": "BPE", "vocab": dict(zip(signs, bytes_of)), "merges": []}, "added_tokens": [],
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True},
    }  # fmt: skip


def log_softmax(x):
    x = x.astype(np.float64)
    x = x - x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def evaluate(folder):
    """`llm eval` beside numpy: loss, divergence, agreement, and their errors over windows."""
    text = np.random.default_rng(5).integers(32, 127, 5 * LENGTH + 7).astype(np.uint8)
    (folder / "text").write_bytes(text.tobytes())
    (folder / "llama/tokenizer.json").write_text(json.dumps(tokenizer()))
    quantized = folder / "llama-q"
    for command in (
        ["quantize", folder / "llama", "-o", quantized, "--scheme", "int4_wo_32"],
        ["eval", quantized, "--against", folder / "llama", "--text", folder / "text", "--length", str(LENGTH), "--json"],
    ):
        done = subprocess.run([BUILD / "baryon", "llm", *command, "-q"], capture_output=True, text=True)
        if done.returncode:
            yield f"{command[0]}: {done.stderr.strip()}"
            return
    said = json.loads(done.stdout)
    tokens = text[: 5 * LENGTH].reshape(5, LENGTH)
    own, other = (log_softmax(logits(path, tokens)[:, :-1]) for path in (quantized, folder / "llama"))
    after = tokens[:, 1:, None].astype(int)
    parts = {
        "loss": -np.take_along_axis(own, after, 2)[..., 0], "reference_loss": -np.take_along_axis(other, after, 2)[..., 0],
        "kl": (np.exp(other) * (other - own)).sum(-1), "same_top": own.argmax(-1) == other.argmax(-1),
    }  # fmt: skip
    if said["windows"] != 5 or said["tokens"] != len(text):
        yield f"{said['windows']} windows of {said['tokens']} tokens"
    for key, values in parts.items():
        by_window = values.mean(1)
        want = by_window.mean(), by_window.std(ddof=1) / np.sqrt(5)
        got = said[key], said[f"{key}_error"]
        if not np.allclose(got, want, rtol=1e-6, atol=1e-9):
            yield f"{key} {got}, must be {want}"
    if not 0.001 < said["kl"] < 5 or not np.isclose(said["perplexity"], np.exp(said["loss"])):
        yield f"the divergence of int4 is {said['kl']}, the perplexity {said['perplexity']}"


# Changes of a good folder that are refused.
REFUSED = [
    ({"rope_scaling": {"rope_type": "ntk"}, "rope_parameters": None}, "rope_type is 'ntk', must be default"),
    ({"hidden_act": "relu2"}, "hidden_act is 'relu2', must be silu"),
    ({"embedding_multiplier": 12.0}, "embedding_multiplier changes what the model computes"),
    ({"num_hidden_layers": None}, "config.json has no num_hidden_layers"),
    ({"num_hidden_layers": 9}, "is missing, must be there"),
    ({"hidden_size": 128}, "config.json says"),
    ({"num_key_value_heads": 3}, "heads must be a multiple of those of keys"),
]


def refusals(folder):
    config = GOLDEN["llama"]["config"]
    for change, message in REFUSED:
        (folder / "llama/config.json").write_text(json.dumps(config | change))
        got = logits(folder / "llama", ids())
        if not isinstance(got, str) or message not in got:
            yield f"{change}: '{message}' was expected, there is {got if isinstance(got, str) else 'none'}"
    (folder / "llama/config.json").write_text(json.dumps(config))
    outside = ids()
    outside[1, 3] = VOCAB
    if "has the id 320, the model has 320" not in str(logits(folder / "llama", outside)):
        yield "an id that the model has not was taken"


def main():
    failed = count = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for family in GOLDEN:
            write(folder / family, family)
        checks = [(family, compare(folder, family)) for family in GOLDEN]
        for what, wrong in [*checks, ("eval", evaluate(folder)), ("refusals", refusals(folder))]:
            wrong = list(wrong)
            count += 1
            failed += bool(wrong)
            for line in wrong:
                print(f"{what}: {line}")
    print(f"{count - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
