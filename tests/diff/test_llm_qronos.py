"""`--method qronos` and `--method gptaq` on a tiny decoder, beside the published algorithms in numpy, on samples.

The reference has no Gram matrix and no factor: inputs of both models are computed from the tokens, damping is further
samples, and after each column the weights still to come are a least-squares solution. Attention adds nothing in this model
(o_proj is 0), so that numpy needs no attention to know what layers read.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # small matrices: threads would take 40 times the processor time
import numpy as np  # noqa: E402
from safetensors.numpy import load_file, save_file  # noqa: E402

sys.path[:0] = ["tests", "tests/golden"]
from llm_files import byte_tokenizer  # noqa: E402
from make_llm_logits import weights_of  # noqa: E402

BARYON = pathlib.Path("build/baryon").resolve()
GOLDEN = json.loads(pathlib.Path("tests/golden/llm_logits.json").read_text())["llama-biases"]
EPSILON = GOLDEN["config"]["rms_norm_eps"]
LENGTH, WINDOWS, GROUP = 64, 8, 32
DAMPING = 0.01
MOST_OF_MEDIAN, MASSIVE = 8, 5  # a token whose squares are beyond that
LOW, HIGH = -2, 1


def make(folder):
    """Weights and ids of random tokens."""
    tensors = {key: weights_of(key, shape, False) for key, shape in GOLDEN["shapes"].items()}
    for key in tensors:
        if "o_proj.weight" in key:
            tensors[key] = np.zeros_like(tensors[key])
    tensors["model.embed_tokens.weight"][MASSIVE] = np.eye(64)[0]
    for norm_weight in ("model.layers.0.post_attention_layernorm.weight", "model.layers.1.input_layernorm.weight"):
        tensors[norm_weight][0] *= 16
    folder.mkdir()
    save_file(tensors, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(GOLDEN["config"]))
    (folder / "tokenizer.json").write_text(json.dumps(byte_tokenizer()))
    ids = np.random.default_rng(3).integers(0, len(tensors["model.embed_tokens.weight"]), (WINDOWS, LENGTH))
    np.save(folder.parent / "ids.npy", ids.astype(np.int32))
    return {key: value.astype(np.float64) for key, value in tensors.items()}, ids.ravel()


def baryon(*arguments):
    done = subprocess.run([BARYON, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, arguments))}: {done.stderr}")


def quantized(folder, method):
    """Dequantized tensors, and scales of each weight."""
    out, floats = folder / method, folder / f"{method}-floats"
    baryon("llm", "quantize", folder / "model", "-o", out, "--scheme", "int2_wo_32", "--method", method, "--damping", DAMPING,
           "--text", folder / "ids.npy", "--length", LENGTH, "--windows", WINDOWS, "--exclude", "*o_proj")  # fmt: skip
    baryon("llm", "dequantize", out, "-o", floats, "--to", "f32")
    return load_file(floats / "model.safetensors"), load_file(out / "model.safetensors")


# --- What layers read ---


def norm(state, weight):
    return state / np.sqrt((state**2).mean(-1, keepdims=True) + EPSILON) * weight


def inputs_of(tensors, ids):
    """Inputs of the first layer's down projection, and of the second layer's query."""

    def linear(x, name):
        return x @ tensors[f"model.layers.0.{name}.weight"].T + tensors[f"model.layers.0.{name}.bias"]

    state = tensors["model.embed_tokens.weight"][ids] + tensors["model.layers.0.self_attn.o_proj.bias"]
    x = norm(state, tensors["model.layers.0.post_attention_layernorm.weight"])
    gate = linear(x, "mlp.gate_proj")
    inner = gate / (1 + np.exp(-gate)) * linear(x, "mlp.up_proj")
    state = state + linear(inner, "mlp.down_proj")
    return {"model.layers.0.mlp.down_proj": inner,
            "model.layers.1.self_attn.q_proj": norm(state, tensors["model.layers.1.input_layernorm.weight"])}  # fmt: skip


def samples_of(x, f):
    squares = (x**2).sum(-1)
    limit = MOST_OF_MEDIAN * np.sort(squares)[len(x) // 2]
    counts = np.sqrt(np.minimum(1, limit / squares))[:, None]
    damping = np.sqrt(DAMPING * (x * counts).var(0, mean=0).mean() * len(x)) * np.eye(x.shape[1])
    return np.vstack([x * counts, damping]), np.vstack([f * counts, damping])


# --- The algorithms ---


def round_to(wanted, scales):
    return np.clip(np.rint(wanted / scales), LOW, HIGH)


def rounded(x, f, weights, scales, first_alone):
    """Integers of all rows. Columns with the largest inputs first. first_alone: Qronos; else the weights are what fits best
    before the first is rounded, GPTAQ."""
    order = np.argsort(-(x**2).sum(0), kind="stable")
    x, aim = x[:, order], f @ weights.T
    now, scales, integers = weights[:, order].T.copy(), scales[:, order].T, np.zeros(weights.shape).T
    if not first_alone:
        now = np.linalg.lstsq(x, aim, rcond=None)[0]
    for t in range(len(order)):
        rest = aim - x @ now + np.outer(x[:, t], now[t])
        wanted = x[:, t] @ rest / (x[:, t] @ x[:, t])
        integers[t] = round_to(wanted, scales[t])
        now[t] = integers[t] * scales[t]
        if t + 1 < len(order):
            now[t + 1 :] = np.linalg.lstsq(x[:, t + 1 :], aim - x[:, : t + 1] @ now[: t + 1], rcond=None)[0]
    back = np.empty_like(integers)
    back[order] = integers
    return back.T


def error_of(x, f, weights, values):
    return ((x @ values.T - f @ weights.T) ** 2).sum()


def check(folder, tensors, ids):
    floats = inputs_of(tensors, ids)
    for method in ("qronos", "gptaq"):
        values, stored = quantized(folder, method)
        reads = inputs_of({key: value.astype(np.float64) for key, value in values.items()}, ids)
        for layer, weights in ((layer, tensors[f"{layer}.weight"]) for layer in floats):
            x, f = samples_of(reads[layer], floats[layer])
            scales = stored[f"{layer}.weight_scale"].astype(np.float64)
            scales = np.repeat(scales if len(scales) == len(weights) else scales.T, GROUP, 1)
            ours = np.rint(values[f"{layer}.weight"] / scales)
            own = rounded(x, f, weights, scales, method == "qronos")
            other = rounded(x, f, weights, scales, method != "qronos")
            apart, from_other = int((ours != own).sum()), int((ours != other).sum())
            errors = [error_of(x, f, weights, q * scales) for q in (ours, own, round_to(weights, scales))]
            print(f"{method}, {layer}: {apart} of {own.size} integers differ, {from_other} from those of the other; "
                  f"error {errors[0]:.6g}, numpy's {errors[1]:.6g}, nearest {errors[2]:.6g}")
            if apart * 200 > own.size or apart * 4 >= from_other:
                yield f"{method}, {layer}: {apart} integers differ"
            if abs(errors[0] / errors[1] - 1) > 0.002 or errors[0] > 0.7 * errors[2]:
                yield f"{method}, {layer}: errors {errors}"


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        wrong = list(check(folder, *make(folder / "model")))
    for line in wrong:
        print(line)
    print(f"{not wrong:d} passed, {len(wrong)} failed")
    sys.exit(len(wrong) > 0)


main()
