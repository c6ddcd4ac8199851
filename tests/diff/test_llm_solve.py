"""`baryon llm quantize --text` on tiny decoders, beside numpy.

Integers of the first layer's query are at a minimum of the quadratic form that numpy makes of the same windows; every
family, with experts and without, comes nearer to the float model than nearest levels do; bytes do not depend on threads;
every layout says the same; a run that was killed goes on.
"""

import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np
from safetensors.numpy import load_file, save_file

sys.path[:0] = ["tests", "tests/golden"]
from llm_files import byte_tokenizer  # noqa: E402
from make_llm_logits import weights_of  # noqa: E402

BARYON = pathlib.Path(os.environ.get("BUILD", "build")).resolve() / "baryon"
GOLDEN = json.loads(pathlib.Path("tests/golden/llm_logits.json").read_text())
LENGTH, WINDOWS = 64, 8
DEAD, MASSIVE = 3, 5  # inputs of the first layer
KILLS = 12  # until one leaves a whole record
FAMILIES = ("llama-biases", "qwen3", "phi3", "gemma3", "mixtral", "qwen2-moe")
SENTENCES = ("Pack my box with five dozen jugs. ", "The quick brown fox jumps over the lazy dog. ", "How vexingly quick! ",
             "Sphinx of black quartz, judge my vow. ", "Waltz, bad nymph, for quick jigs vex. ")


def texts(folder):
    rng = np.random.default_rng(7)
    for name, count in (("learn", 60), ("judge", 24)):
        (folder / name).write_text("".join(SENTENCES[i] for i in rng.integers(0, len(SENTENCES), count)))


def make(folder, name):
    model = folder / name
    model.mkdir()
    shapes = GOLDEN[name]["shapes"]
    save_file({key: weights_of(key, shape, "gemma" in name) for key, shape in shapes.items()}, model / "model.safetensors")
    (model / "config.json").write_text(json.dumps(GOLDEN[name]["config"]))
    (model / "tokenizer.json").write_text(json.dumps(byte_tokenizer()))
    return model


def baryon(folder, *arguments):
    done = subprocess.run([BARYON, *map(str, arguments)], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, arguments))}: {done.stderr}")
    return done.stdout


def quantize(folder, model, out, *more, text="learn"):
    given = ("--text", text, "--length", LENGTH, "--windows", WINDOWS) if text else ()
    shutil.rmtree(folder / out, ignore_errors=True)
    return baryon(folder, "llm", "quantize", model, "-o", out, *given, *more)


def divergence(folder, model, against):
    told = baryon(folder, "llm", "eval", model, "--against", against, "--text", "judge", "--length", LENGTH, "--json")
    return json.loads(told)["kl"]


def digest(path):
    files = sorted(p for p in path.rglob("*") if p.is_file())
    return [hashlib.sha256(p.read_bytes()).hexdigest() for p in files]


# --- The quadratic form, by numpy ---


def windows_of(ids):
    """Spread evenly; every fourth is held out, which does not matter for the sums of all."""
    first = [(len(ids) - LENGTH) * (2 * i + 1) // (2 * WINDOWS) for i in range(WINDOWS)]
    return np.stack([ids[at : at + LENGTH] for at in first])


def first_input(folder, model, name):
    """What q, k and v of the first layer read."""
    config = GOLDEN[name]["config"]
    tensors = load_file(model / "model.safetensors")
    ids = windows_of(np.frombuffer((folder / "learn").read_bytes(), np.uint8))
    state = tensors["model.embed_tokens.weight"][ids].astype(np.float64)
    scale = 1 / np.sqrt((state**2).mean(-1, keepdims=True) + config["rms_norm_eps"])
    x = state * scale * tensors["model.layers.0.input_layernorm.weight"]
    return x.reshape(-1, x.shape[-1]), tensors


def levels_of(folder, out, layer, group):
    """Codes and scales of the layout json-safetensors-like 'quark': int4 in words of eight, AWQ's order off."""
    floats = folder / f"{out}-floats"
    shutil.rmtree(floats, ignore_errors=True)
    baryon(folder, "llm", "dequantize", out, "-o", floats, "--to", "f32")
    values = load_file(floats / "model.safetensors")[layer + ".weight"].astype(np.float64)
    scales = load_file(folder / out / "model.safetensors")[layer + ".weight_scale"].astype(np.float64)
    scales = scales if scales.shape[0] == len(values) else scales.T
    scales = np.repeat(scales, group, 1)
    return np.round(values / scales), scales, values


def check_minimum(folder):
    """No level of the query could go one up or down and lower the form; GPTQ and descent lower it below nearest, descent that
    goes on from GPTQ below both."""
    model, layer, shrink, damping = folder / "llama-biases", "model.layers.0.self_attn.q_proj", 0.2, 0.03
    x, tensors = first_input(folder, model, "llama-biases")
    gram = x.T @ x / len(x)
    mean = np.trace(gram) / len(gram)
    form = (1 - shrink) * gram / mean
    np.fill_diagonal(form, np.diag(gram) / mean + damping)
    weights = tensors[layer + ".weight"].astype(np.float64)
    error = {}
    more = ("--scheme", "int4_wo_32", "--shrink", shrink, "--damping", damping)
    long = (*more, "--sweeps", 50, "--cross", 0)
    for method, own in (("rtn", None), ("gptq", (*more, "--method", "gptq")), ("nearest-descent", (*long, "--start", "nearest")),
                        ("descent", long)):  # fmt: skip
        if own:
            quantize(folder, model, f"q-{method}", *own)
        else:
            quantize(folder, model, "q-rtn", "--scheme", "int4_wo_32", text=None)
        levels, scales, values = levels_of(folder, f"q-{method}", layer, 32)
        gap = values - weights
        error[method] = ((gap @ form) * gap).sum()
        if "descent" not in method:
            continue
        slope = gap @ form
        for step in (-1, 1):
            allowed = (levels + step >= -8) & (levels + step <= 7)
            gain = 2 * step * scales * slope + scales**2 * np.diag(form)
            worst = (gain / (scales**2 * np.diag(form)))[allowed].min()
            if worst < -0.02:
                yield f"a step of {step} would pay {-worst:.3f} of what it costs by itself"
    if not max(error["nearest-descent"], error["gptq"]) < 0.7 * error["rtn"] or error["descent"] > 0.99 * error["gptq"]:
        yield f"errors of the form: {error}"
    print("errors of the form: " + ", ".join(f"{method} {value:.4f}" for method, value in error.items()))


def hard_model(folder):
    """An input that is always 0, and one a thousand times the others."""
    model = folder / "hard"
    shutil.copytree(folder / "llama-biases", model)
    tensors = load_file(model / "model.safetensors")
    norm = tensors["model.layers.0.input_layernorm.weight"].copy()
    norm[DEAD], norm[MASSIVE] = 0, 1000 * norm[MASSIVE]
    save_file({**tensors, "model.layers.0.input_layernorm.weight": norm}, model / "model.safetensors")
    return model, tensors


def check_hard_moments(folder):
    """Dead channels become nearest, massive activations and fewer tokens than inputs without damping leave all finite."""
    model, tensors = hard_model(folder)
    layer = "model.layers.0.self_attn.q_proj"
    few = ("--length", 4, "--windows", 1, "--shrink", 0, "--damping", 0)
    for method in ("gptq", "gptaq", "qronos", "descent"):
        for kind, more in (("hard", ()), ("singular", few)):
            quantize(folder, model, "hard-out", "--scheme", "int4_wo_32", "--method", method, *more)
            levels, scales, values = levels_of(folder, "hard-out", layer, 32)
            if not np.isfinite(values).all() or not np.isfinite(divergence(folder, "hard-out", model)):
                yield f"{method}, {kind}: not finite"
            nearest = np.clip(np.round(tensors[layer + ".weight"] / scales), -8, 7)
            apart = int((np.abs(nearest - levels)[:, DEAD] > 0).sum())
            if kind == "hard" and apart:
                yield f"{method}: {apart} weights of a dead channel are not nearest"


# --- The whole way ---


def check_families(folder):
    for name in FAMILIES:
        model = folder / name
        scheme = ("--scheme", "int4_wo_32", "--group-size", 16)
        quantize(folder, model, "near", *scheme, text=None)
        told = json.loads(quantize(folder, model, "solved", *scheme, "--json"))
        near, solved = divergence(folder, "near", model), divergence(folder, "solved", model)
        if not solved < 0.8 * near:
            yield f"{name}: divergence {solved:.4f}, nearest {near:.4f}"
        if not told["output_error"] < told["nearest_output_error"]:
            yield f"{name}: {told}"


def check_schemes(folder):
    model = folder / "llama-biases"
    for scheme in ("uint4_wo_32", "int3_wo_32", "int8_wo_per_channel", "mxfp4_weight_only", "nvfp4_weight_only", "fp8",
                   "int4_fp8", "mxfp6_e2m3", "amdfp4"):
        size = ("--group-size", 32) if scheme == "int3_wo_32" else ()
        scheme = "int3_wo_64" if size else scheme
        quantize(folder, model, "near", "--scheme", scheme, *size, text=None)
        quantize(folder, model, "solved", "--scheme", scheme, *size)
        near, solved = divergence(folder, "near", model), divergence(folder, "solved", model)
        if not solved < near:
            yield f"{scheme}: divergence {solved:.5f}, nearest {near:.5f}"


def check_threads(folder):
    for model, scheme in (("llama-biases", "uint4_wo_32"), ("qwen2-moe", "nvfp4")):
        by_method = {}
        for method in ("descent", "gptaq", "qronos"):
            found = []
            for threads in (1, 3):
                report = folder / "report.json"
                quantize(folder, folder / model, "same", "--scheme", scheme, "--threads", threads, "--method", method,
                         "--report", report)
                entries = json.loads(report.read_text())["weights"]
                found.append((digest(folder / "same"), [entry.get("output_error") for entry in entries]))
            if found[0] != found[1]:
                yield f"{model}, {scheme}, {method}: other bytes with 3 threads"
            by_method[method] = found[0][0]
        if by_method["gptaq"] == by_method["qronos"]:
            yield f"{model}, {scheme}: qronos rounds the first column as gptaq does"


def check_layouts(folder):
    """Every layout that has the scheme; types of scales differ, and so do codes."""
    model, found = folder / "llama-biases", {}
    for layout in ("quark", "compressed-tensors", "awq", "gptq"):
        quantize(folder, model, "laid", "--scheme", "uint4_wo_32", "--layout", layout)
        found[layout] = divergence(folder, "laid", model)
        if found[layout] > 1.1 * found["quark"]:
            yield f"{layout}: divergence {found[layout]:.5f}, quark {found['quark']:.5f}"


def check_gguf(folder):
    """Blocks of files, whose rows of q and k have another order; experts lie in stacks there."""
    for name, kind in (("llama-biases", "q4_0"), ("mixtral", "q4_1"), ("qwen3", "iq4_nl"), ("phi3", "q8_0")):
        for out, text in (("near.gguf", None), ("solved.gguf", "learn")):
            (folder / out).unlink(missing_ok=True)
            quantize(folder, folder / name, out, "--scheme", kind, "--layout", "gguf", text=text)
        near, solved = (divergence(folder, out, folder / name) for out in ("near.gguf", "solved.gguf"))
        if not solved < near:
            yield f"{name}, {kind}: divergence {solved:.5f}, nearest {near:.5f}"
        if (folder / "solved.gguf.part").exists():
            yield f"{name}: the journal is still there"


def check_stream_type(folder):
    """States rounded to bf16 between layers: as good within their rounding, experts too, for any number of threads. Shrinkage
    and damping are given: the few tokens of an expert choose others for a change of the last bit of bf16."""
    given = ("--scheme", "int4_wo_32", "--group-size", 16, "--shrink", 0.2, "--damping", 0.03)
    for name in ("llama-biases", "gemma3", "qwen2-moe"):
        model, options, found = folder / name, given, {}
        quantize(folder, model, "wide", *options)
        for out, more in (("halved", ("--threads", 1)), ("again", ("--threads", 3, "--stream", "spill"))):
            quantize(folder, model, out, *options, "--stream-type", "bf16", *more)
        if digest(folder / "halved") != digest(folder / "again"):
            yield f"{name}: other bytes with threads and a file"
        if digest(folder / "halved") == digest(folder / "wide"):
            yield f"{name}: nothing was rounded"
        for out in ("wide", "halved"):
            found[out] = divergence(folder, out, model)
        if not abs(found["halved"] - found["wide"]) < 0.1 * found["wide"]:
            yield f"{name}: divergence {found}"
        told = [json.loads(baryon(folder, "llm", "eval", model, "--text", "judge", "--length", LENGTH, "--json", *more))
                for more in ((), ("--stream-type", "bf16"))]  # fmt: skip
        gap = abs(told[0]["loss"] - told[1]["loss"])
        if not 0 < gap < 2**-7 * told[0]["loss"]:
            yield f"{name}: losses {told[0]['loss']}, {told[1]['loss']} with bf16"


def kill_behind(folder, journal, size, arguments):
    """Killed once the journal has `size` bytes, which may be a record that is not whole."""
    running = subprocess.Popen([BARYON, *map(str, arguments)], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while running.poll() is None and not (journal.exists() and journal.stat().st_size > size):
        time.sleep(0.0002)
    running.send_signal(signal.SIGKILL)
    running.communicate()


def resumed_after_kill(folder, out, model, killed, options):
    """Whether a run takes layers of one that was killed."""
    for path in (out, f"{out}.part"):
        shutil.rmtree(folder / path, ignore_errors=True)
    report = folder / "resumed.json"
    kill_behind(folder, folder / f"{out}.part/.baryon-layers", 4000, ("llm", "quantize", model, "-o", out, *killed))
    shutil.rmtree(folder / out, ignore_errors=True)
    baryon(folder, "llm", "quantize", model, "-o", out, *options, "--report", report)
    return any(entry.get("resumed") for entry in json.loads(report.read_text())["weights"])


def check_resume(folder):
    """Killed once a layer is recorded, the rest gives the bytes of a run in one go. Hidden states of another type begin
    anew."""
    model, options = folder / "gemma3", ("--scheme", "int4_wo_32", "--text", "learn", "--length", LENGTH)
    for own, other in ((options, (*options, "--stream-type", "bf16")), ((*options, "--stream-type", "bf16"), options)):
        shutil.rmtree(folder / "whole", ignore_errors=True)
        baryon(folder, "llm", "quantize", model, "-o", "whole", *own)
        for _ in range(KILLS):
            resumed = resumed_after_kill(folder, "out", model, own, own)
            if digest(folder / "out") != digest(folder / "whole"):
                yield "other bytes than those of a run in one go"
            if (folder / "out.part").exists():
                yield "the unfinished folder is still there"
            if resumed:
                break
        if not resumed:
            yield "nothing was resumed"
        if resumed_after_kill(folder, "out", model, other, own) or digest(folder / "out") != digest(folder / "whole"):
            yield "layers of another run were taken"


def check_search(folder):
    """A search that was killed goes on behind the layers that it has looked at; with other types it does not."""
    model, part, said = folder / "gemma3", folder / "search.search.part", "an earlier search has looked at"
    given = ("llm", "auto", model, "--text", "learn", "--length", LENGTH, "--windows", WINDOWS,
             "--judge-windows", 2, "--no-uniform", "-o")  # fmt: skip
    baryon(folder, *given, "search-whole", "--bits", 9)

    def search_after_kill(*more):
        shutil.rmtree(folder / "search", ignore_errors=True)
        kill_behind(folder, part, 500, (*given, "search", "--bits", 9))
        shutil.rmtree(folder / "search", ignore_errors=True)
        arguments = [str(BARYON), *map(str, given), "search", *more]
        done = subprocess.run(arguments, cwd=folder, capture_output=True, text=True)
        return done.returncode == 0, said in done.stderr

    for _ in range(KILLS):
        done, resumed = search_after_kill("--bits", "9")
        if not done or digest(folder / "search") != digest(folder / "search-whole"):
            yield "other bytes than those of a search in one go"
        if part.exists():
            yield "the record of the search is still there"
        if resumed:
            break
    if not resumed:
        yield "no layer was taken from the search that was killed"
    if search_after_kill("--bits", "7", "--types", "int8_wo_per_channel,uint4_wo_per_channel") != (True, False):
        yield "a search among other types took layers"


def main():
    passed, failed = 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        texts(folder)
        for family in FAMILIES:
            make(folder, family)
        for check in (check_minimum, check_hard_moments, check_families, check_schemes, check_threads, check_layouts, check_gguf,
                      check_stream_type, check_resume, check_search):
            wrong = list(check(folder))
            for line in wrong:
                print(f"{check.__name__[6:]}: {line}")
            failed += len(wrong)
            passed += not wrong
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
