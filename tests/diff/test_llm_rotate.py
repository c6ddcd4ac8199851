"""Rotated decoders give the logits of those that are not, for each family; and quantize like any other."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

sys.path[:0] = ["tests", "tests/golden", "tests/lib", "tests/diff"]
import llm_weights  # noqa: E402
from make_llm_logits import LENGTH, VOCAB, ids  # noqa: E402
from test_llm_decoder import GOLDEN, write  # noqa: E402

BUILD = pathlib.Path(os.environ.get("BUILD", "build"))
CLOSE = 1e-4  # of the greatest logit
R1, R2 = 1, 2
SANDWICH = ("gemma2", "gemma3")  # norms behind attention, in front of the sum


def logits(model, *options):
    """All logits, or what was wrong."""
    tokens = ids()
    command = [BUILD / "tests/tools/llm_logits", *map(str, options), model, str(LENGTH), *map(str, tokens.ravel())]
    done = subprocess.run(command, capture_output=True)
    if done.returncode:
        return done.stderr.decode().strip()
    return np.frombuffer(done.stdout, np.float32).reshape(*tokens.shape, VOCAB)


def compare(folder, family):
    plain = logits(folder / family)
    for which in (R1, R2, R1 | R2):
        got = logits(folder / family, "--rotate", which)
        if family in SANDWICH and which & R1:
            if "norms between attention and the hidden states cannot be folded" not in str(got):
                yield f"r1 was not refused: {got}"
        elif isinstance(got, str):
            yield got
        elif not np.abs(got - plain).max() < CLOSE * np.abs(plain).max():
            yield f"{which}: logits differ by {np.abs(got - plain).max():.2e}, the greatest is {np.abs(plain).max():.2f}"
        elif np.array_equal(got, plain):
            yield f"{which}: nothing was rotated"


def quantize(folder, family, *options):
    out = folder / f"{family}-q{len(options)}"
    done = subprocess.run([BUILD / "baryon", "llm", "quantize", folder / family, "-o", out, *options, "-q"], capture_output=True, text=True)
    return done.stderr.strip() or out


def rotated_files(folder):
    """A tied model in int8: a head of its own, folded norms, nearly the same logits."""
    out = quantize(folder, "llama-biases", "--scheme", "int8_wo_32", "--rotate", "r1r2")
    if isinstance(out, str):
        yield out
        return
    found = llm_weights.read_safetensors(out)
    config = json.loads((out / "config.json").read_text())
    if config["tie_word_embeddings"] is not False or "lm_head.weight" not in found:
        yield "the head has no weight of its own"
    if not np.array_equal(found["model.layers.0.input_layernorm.weight"], np.ones(64, np.float32)):
        yield "a norm is not folded"
    plain, got = logits(folder / "llama-biases"), logits(out)
    if isinstance(got, str) or not np.sqrt(np.mean((got - plain) ** 2)) < 0.05 * plain.std():
        yield f"int8 behind a rotation: {got if isinstance(got, str) else np.sqrt(np.mean((got - plain) ** 2)) / plain.std()}"
    again = quantize(folder, "llama-biases", "--scheme", "int8_wo_32", "--rotate", "r1r2", "--threads", "1")
    for name in ("model.safetensors", "config.json"):
        if (out / name).read_bytes() != (again / name).read_bytes():
            yield f"{name} depends on the threads"


def refusals(folder):
    for family, options, message in [
        ("gemma2", ["--scheme", "int8_wo_32", "--rotate", "r1"], "layer 0: norms between attention and the hidden states cannot be folded"),
        ("llama", ["--scheme", "q8_0", "--layout", "gguf", "--rotate", "r2"], "--rotate is not valid with --layout gguf"),
    ]:
        got = str(quantize(folder, family, *options))
        if message not in got:
            yield f"'{message}' was expected, there is '{got}'"


def main():
    failed = count = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for family in GOLDEN:
            write(folder / family, family)
        checks = [(family, compare(folder, family)) for family in GOLDEN]
        for what, wrong in [*checks, ("files", rotated_files(folder)), ("refusals", refusals(folder))]:
            wrong = list(wrong)
            count += 1
            failed += bool(wrong)
            for line in wrong:
                print(f"{what}: {line}")
    print(f"{count - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
