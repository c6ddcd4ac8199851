"""Rotated decoders give the logits of those that are not, for each family; and quantize like any other.

R4, which rotates inputs of down while the model runs, is in the files of three layouts: as they say it, whoever runs the model
rotates, and whoever reads its weights takes the rotation back.
"""

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


def quantize(folder, family, *options, name=None):
    out = folder / (name or f"{family}-q{len(options)}")
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


def told(out, layout):
    """The size of the matrix and the layers, as the file says them; the tensors that hold it."""
    said = json.loads((out / "config.json").read_text())["quantization_config"]
    stored = [(name, value) for name, value in llm_weights.read_safetensors(out).items() if "rotation" in name or "R4_input" in name]
    if layout == "compressed-tensors":
        group = said["transform_config"]["config_groups"]["R4"]
        return group["head_dim"] or 96, group["apply"][0]["targets"], stored, group["type"]
    if layout == "quark":
        own = said["algo_config"][0]
        return own["rotation_size"] or 96, own["online_config"]["online_rotation_layers"], stored, ""
    return said["rotation"]["size"], said["rotation"]["layers"], stored, ""


def online(folder):
    """Weights of 16 bits, so that little but the rotation could differ; layouts without a place for them take int8."""
    plain = logits(folder / "llama")
    layers = [f"model.layers.{n}.mlp.down_proj" for n in range(3)]
    gaps = {}
    for scheme in ("fp16", "int8_wo_32"):
        same = quantize(folder, "llama", "--scheme", scheme, "--layout", "json-safetensors", name=f"plain-{scheme}")
        gaps[scheme] = np.abs(logits(same) - plain).max()
    for layout, scheme, size, kind, matrices in [("json-safetensors", "fp16", 0, "", 0), ("json-safetensors", "fp16", 8, "", 0),
                                                 ("compressed-tensors", "int8_wo_32", 0, "random-hadamard", 1),
                                                 ("compressed-tensors", "int8_wo_32", 32, "hadamard", 0),
                                                 ("quark", "int8_wo_32", 24, "", 3)]:
        what = f"{layout} {scheme} {size}"
        options = ["--scheme", scheme, "--layout", layout, "--rotate", "r1r2r4", "--rotate-size", str(size)]
        out = quantize(folder, "llama", *options, name=f"{layout}-{size}")
        if isinstance(out, str):
            yield f"{what}: {out}"
            continue
        width, names, stored, type_ = told(out, layout)
        if (width, names, type_, len(stored)) != (size or 96, layers, kind, matrices):
            yield f"{what}: the file says {width} {type_} of {names}, {len(stored)} matrices"
        for name, value in stored:
            signs = value.astype(np.int64)
            if not np.array_equal(signs @ signs.T, width * np.eye(width, dtype=np.int64)):
                yield f"{what}: {name} is no Hadamard matrix"
        back = folder / f"{layout}-{size}-back"
        subprocess.run([BUILD / "baryon", "llm", "dequantize", out, "-o", back, "--to", "fp32", "-q"], check=True)
        close = 2 * gaps[scheme]
        for path in (out, back):
            got = logits(path)
            if isinstance(got, str) or not np.abs(got - plain).max() < close:
                yield f"{what}: {path.name}: {got if isinstance(got, str) else np.abs(got - plain).max()}"
        if not isinstance(got, str) and not np.abs(logits(out) - got).max() < CLOSE * np.abs(plain).max():
            yield f"{what}: taken back it computes something else"
    yield from rounded_online(folder, plain)


def rounded_online(folder, plain):
    """Texts see the rotated inputs: solved weights are nearer than the nearest ones, inputs rounded too."""
    texts = ["--text", folder / "ids.npy", "--length", str(LENGTH), "--windows", "4"]
    np.save(folder / "ids.npy", ids().astype(np.uint16))
    gaps = []
    for method in ("rtn", "descent"):
        out = quantize(folder, "llama", "--scheme", "fp8", "--rotate", "r4", "--rotate-size", "32", "--method", method, *texts, name=f"fp8-{method}")
        got = out if isinstance(out, str) else logits(out, "--simulate")
        if isinstance(got, str):
            yield f"fp8 {method}: {got}"
            return
        gaps.append(np.sqrt(np.mean((got - plain) ** 2)) / plain.std())
    options = ["--scheme", "fp8", "--rotate", "r4", "--rotate-size", "32", "--method", "descent", *texts, "--threads", "1", "--max-memory", "80MB"]
    again = quantize(folder, "llama", *options, name="fp8-limited")
    if isinstance(again, str) or (again / "model.safetensors").read_bytes() != (out / "model.safetensors").read_bytes():
        yield f"fp8: one thread and little memory change the bytes: {again}"
    if not gaps[1] < gaps[0]:
        yield f"fp8: {gaps[0]:.4f} with nearest levels, {gaps[1]:.4f} with solved ones"


def broken_files(folder):
    """What the file says and nobody knows here is refused, since weights mean nothing without it."""
    out = quantize(folder, "llama", "--scheme", "int8_wo_32", "--layout", "compressed-tensors", "--rotate", "r4", "--rotate-size", "32", name="broken")
    if isinstance(out, str):
        yield out
        return
    config = json.loads((out / "config.json").read_text())
    group = config["quantization_config"]["transform_config"]["config_groups"]["R4"]
    for change, message in [({"type": "random-matrix"}, "the type 'random-matrix'"), ({"randomize": True}, "randomize 'true'"),
                            ({"head_dim": 64}, "blocks of 64, which 96 columns are no multiple of"),
                            ({"type": "random-hadamard"}, "the matrix R4_input.weight is missing"),
                            ({"apply": [group["apply"][0] | {"location": "k_cache"}]}, "the location 'k_cache'"),
                            ({"apply": [group["apply"][0] | {"targets": ["Linear"]}]}, "the target 'Linear'"),
                            ({"apply": [group["apply"][0]] * 2}, "inputs are rotated twice"),
                            ({"apply": [group["apply"][0] | {"targets": ["re:.*o_proj"]}]}, "are known of down_proj alone")]:
        config["quantization_config"]["transform_config"]["config_groups"]["R4"] = group | change
        (out / "config.json").write_text(json.dumps(config))
        if message not in str(got := logits(out)):
            yield f"{change}: '{message}' was expected, there is '{got}'"


def refusals(folder):
    r4 = ["--scheme", "int8_wo_32", "--rotate", "r4"]
    for family, options, message in [
        ("llama", [*r4, "--layout", "awq", "--scheme", "int4_wo_32"], "layout awq has no place for rotations while the model runs"),
        ("llama", r4, "is not the one here for 96 columns, no power of two; --rotate-size 32 rotates blocks"),
        ("llama", [*r4, "--rotate-size", "64"], "--rotate-size 64 does not divide the 96 inputs of model.layers.0.mlp.down_proj"),
        ("llama", [*r4, "--rotate-size", "6"], "no Hadamard matrix of order 6 is known"),
        ("llama", ["--scheme", "int8_wo_32", "--rotate-size", "32"], "--rotate-size requires --rotate r4"),
        ("mixtral", [*r4, "--rotate-size", "16"], "layer 0 has experts"),
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
        for what, wrong in [*checks, ("files", rotated_files(folder)), ("online", online(folder)), ("broken", broken_files(folder)), ("refusals", refusals(folder))]:
            wrong = list(wrong)
            count += 1
            failed += bool(wrong)
            for line in wrong:
                print(f"{what}: {line}")
    print(f"{count - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
