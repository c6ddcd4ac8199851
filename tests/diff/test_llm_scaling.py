"""SmoothQuant's and AWQ's scales of channels change no output, for each family, and lower the error.

Scales are taken out of the files that are written: what norms, values and up were divided by is what
columns of the linears behind them were multiplied with.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

sys.path[:0] = ["tests", "tests/golden", "tests/lib", "tests/diff"]
import llm_weights  # noqa: E402
from make_llm_logits import LENGTH, VOCAB, ids, weights_of  # noqa: E402
from test_llm_decoder import GOLDEN, write  # noqa: E402

BUILD = pathlib.Path(os.environ.get("BUILD", "build"))
EXPERTS = ("mixtral", "qwen2-moe", "qwen3-moe")


def logits(model, tokens, *options):
    """All logits, or what was wrong."""
    command = [BUILD / "tests/tools/llm_logits", *options, model, str(LENGTH), *map(str, tokens.ravel())]
    done = subprocess.run(command, capture_output=True)
    if done.returncode:
        return done.stderr.decode().strip()
    return np.frombuffer(done.stdout, np.float32).reshape(*tokens.shape, VOCAB)


def quantize(folder, out, *options):
    """What was said, or None."""
    command = [BUILD / "baryon", "llm", "quantize", folder, "-o", out, *map(str, options)]
    done = subprocess.run(command, capture_output=True, text=True)
    return (done.stderr.strip(), done.returncode)


def peaked(family):
    """Weights whose norms have a few large channels, as those of large models."""
    tensors = {key: weights_of(key, shape, "gemma" in family) for key, shape in GOLDEN[family]["shapes"].items()}
    for key, value in tensors.items():
        if key.endswith(("input_layernorm.weight", "post_attention_layernorm.weight", "pre_feedforward_layernorm.weight")):
            value[[3, 17]] = 12
    return tensors


def rms(a):
    return float(np.sqrt(np.mean(np.square(a, dtype=np.float64))))


def fits(got, want, steps):
    """Elements of `got` are those of `want`, rounded to 8 bits of each row."""
    return np.abs(got - want).max(1) <= steps * np.abs(want).max(1) / 127 + 1e-6


def giver_scales(got, want):
    """What rows were divided by, from rows that were rounded."""
    return (want * want).sum(1) / (got * want).sum(1)


def check_layer(family, prefix, before, after):
    """Linears have the columns that what is before them lacks."""
    centre = 1.0 if "gemma" in family else 0.0
    heads, kv_heads = (GOLDEN[family]["config"][key] for key in ("num_attention_heads", "num_key_value_heads"))
    dim = before[f"{prefix}self_attn.o_proj.weight"].shape[1] // heads
    middle = "pre_feedforward_layernorm" if f"{prefix}pre_feedforward_layernorm.weight" in before else "post_attention_layernorm"
    columns = {}
    for norm, readers in (("input_layernorm", "self_attn.q_proj self_attn.k_proj self_attn.v_proj self_attn.qkv_proj"),
                          (middle, "mlp.gate_proj mlp.up_proj mlp.gate_up_proj")):  # fmt: skip
        scales = (before[f"{prefix}{norm}.weight"] + centre) / (after[f"{prefix}{norm}.weight"] + centre)
        columns |= {reader: scales for reader in readers.split()}
    scales = {}
    for name, rows, reader in (("self_attn.v_proj", slice(None), "o"), ("self_attn.qkv_proj", slice(-kv_heads * dim, None), "o"),
                               ("mlp.up_proj", slice(None), "down"), ("mlp.gate_up_proj", "half", "down")):  # fmt: skip
        key = f"{prefix}{name}.weight"
        if key in before:
            rows = slice(len(before[key]) // 2, None) if rows == "half" else rows
            scales[reader] = giver_scales(after[key][rows], (before[key] * columns[name])[rows])
            bias = f"{prefix}{name}.bias"
            if bias in before and not np.allclose(after[bias][rows] * scales[reader], before[bias][rows], rtol=0.02, atol=1e-4):
                yield f"{bias} is not divided"
    for name, factors in columns.items():
        key = f"{prefix}{name}.weight"
        if key not in before:
            continue
        want, steps = before[key] * factors, 1.5  # scales of rows are known but by rounded values
        if name in ("self_attn.v_proj", "mlp.up_proj"):
            want = want / scales["o" if "v_proj" in name else "down"][:, None]
        elif name in ("self_attn.qkv_proj", "mlp.gate_up_proj"):
            own = scales["o" if "qkv" in name else "down"]
            want = np.vstack([want[: -len(own)], want[-len(own) :] / own[:, None]])
        else:
            steps = 0.51
        if not fits(after[key], want, steps).all():
            yield f"{key}: columns do not fit the norm"
    repeated = np.repeat(scales["o"].reshape(kv_heads, 1, dim), heads // kv_heads, 1).ravel()
    for name, factors in (("self_attn.o_proj", repeated), ("mlp.down_proj", scales.get("down"))):
        key = f"{prefix}{name}.weight"
        if key in before and not np.abs(after[key] - before[key] * factors).max() < 0.03 * np.abs(before[key] * factors).max():
            yield f"{key}: columns do not fit what comes before"
    if all(np.allclose(factors, 1) for factors in [*columns.values(), *scales.values()]):
        yield f"{prefix} is as it was"


def compare(folder, family):
    model = folder / family
    write(model, family, peaked(family))
    np.save(folder / "ids.npy", np.random.default_rng(7).integers(0, VOCAB, (8, LENGTH)))
    texts = ["--text", folder / "ids.npy", "--length", LENGTH, "--windows", "0", "--method", "rtn"]
    before = llm_weights.read_safetensors(model)
    for options in (["--smooth", "0.5"], ["--smooth", "auto"], ["--awq"]):
        out = folder / f"{family}{options[-1]}"
        said, code = quantize(model, out, "--scheme", "int8_wo_per_channel", "--search", "minmax", *options, *texts)
        if code or "inputs are scaled" not in said:
            yield f"{options}: {said}"
            return
        done = subprocess.run([BUILD / "baryon", "llm", "dequantize", out, "-o", f"{out}-floats", "--to", "f32", "-q"], capture_output=True)
        after = llm_weights.read_safetensors(f"{out}-floats") if not done.returncode else {}
        if options == ["--smooth", "0.5"]:
            for layer in range(GOLDEN[family]["config"]["num_hidden_layers"]):
                yield from check_layer(family, f"model.layers.{layer}.", before, after)


def gains(folder):
    """Less error than without, in the logits of a model with a few large channels."""
    model = folder / "llama"
    texts = ["--text", folder / "ids.npy", "--length", LENGTH, "--windows", "0", "--method", "rtn"]
    plain = logits(model, ids())
    for scheme, option in (("int8", ["--smooth", "auto"]), ("int4_wo_32", ["--awq"]), ("int4_wo_per_channel", ["--awq"])):
        errors = []
        for number, more in enumerate(([], option)):
            out = folder / f"gain-{scheme}-{number}"
            given = texts if more or scheme == "int8" else []
            said, code = quantize(model, out, "--scheme", scheme, *more, *given)
            errors.append(np.inf if code else rms(logits(out, ids(), "--simulate") - plain))
        if not errors[1] < 0.9 * errors[0]:
            yield f"{scheme}: error {errors[1]:.4f} with {option}, {errors[0]:.4f} without"


def threads(folder):
    texts = ["--text", folder / "ids.npy", "--length", LENGTH, "--windows", "0", "--method", "rtn"]
    files = []
    for count in (1, 3):
        out = folder / f"threads-{count}"
        quantize(folder / "llama", out, "--scheme", "int4_wo_32", "--awq", "--threads", count, *texts)
        files.append((out / "model.safetensors").read_bytes())
    if files[0] != files[1]:
        yield "the bytes depend on the threads"


def refusals(folder):
    for options, message in [
        (["--awq"], "--awq requires --text: files or folders of texts"),
        (["--smooth", "auto"], "--smooth requires --text: files or folders of texts"),
        (["--smooth", "0.5", "--awq", "--text", "x"], "--awq is not valid with --smooth"),
        (["--smooth", "1.5"], "--smooth"),
    ]:
        said, code = quantize(folder / "llama", folder / "refused", "--scheme", "int4_wo_32", *options)
        if not code or message not in said:
            yield f"'{message}' was expected, there is '{said}'"


def main():
    failed = count = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        checks = [(family, compare(folder, family)) for family in GOLDEN]
        for what, wrong in [*checks, ("gains", gains(folder)), ("threads", threads(folder)), ("refusals", refusals(folder))]:
            wrong = list(wrong)
            count += 1
            failed += bool(wrong)
            for line in wrong:
                print(f"{what}: {line}")
    print(f"{count - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
