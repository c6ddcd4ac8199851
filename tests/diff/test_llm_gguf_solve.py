"""`baryon llm quantize --layout gguf --text` on tiny decoders.

Solved blocks come nearer to the float model than weighted ones, and these than nearest ones, in files of the same types;
numpy finds the output error of the first layer's query lower; bytes do not depend on threads; what makes no sense is refused.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from safetensors.numpy import load_file, save_file

sys.path[:0] = ["tests", "tests/golden"]
from llm_files import byte_tokenizer  # noqa: E402
from make_llm_logits import weights_of  # noqa: E402

BARYON = pathlib.Path(os.environ.get("BUILD", "build")).resolve() / "baryon"
GOLDEN = json.loads(pathlib.Path("tests/golden/llm_logits.json").read_text())
FAMILIES = ("llama-biases", "gemma3", "mixtral")
SENTENCES = ("Pack my box with five dozen jugs. ", "The quick brown fox jumps over the lazy dog. ", "How vexingly quick! ")
TEXT = ("--text", "learn", "--length", "64", "--windows", "8")


def make(folder, name):
    model = folder / name
    model.mkdir()
    shapes = GOLDEN[name]["shapes"]
    save_file({key: weights_of(key, shape, "gemma" in name) for key, shape in shapes.items()}, model / "model.safetensors")
    (model / "config.json").write_text(json.dumps(GOLDEN[name]["config"]))
    (model / "tokenizer.json").write_text(json.dumps(byte_tokenizer()))


def run(folder, *arguments):
    return subprocess.run([BARYON, *map(str, arguments)], cwd=folder, capture_output=True, text=True)


def quantize(folder, name, out, scheme, *more):
    done = run(folder, "llm", "quantize", name, "-o", out, "--layout", "gguf", "--scheme", scheme, "--exclude", "*embed_tokens", *more)
    if done.returncode:
        raise SystemExit(f"{name}, {scheme}, {more}: {done.stderr}")


def divergence(folder, name, out):
    done = run(folder, "llm", "eval", out, "--against", name, "--text", "judge", "--length", "64", "--json")
    return json.loads(done.stdout)["kl"]


def check_nearer(folder):
    for name, scheme in (("llama-biases", "q4_1"), ("gemma3", "iq4_nl"), ("mixtral", "q4_0")):
        found, sizes = [], set()
        for method in ((), ("--method", "importance", *TEXT), TEXT):
            quantize(folder, name, "out.gguf", scheme, *method)
            found.append(divergence(folder, name, "out.gguf"))
            sizes.add((folder / "out.gguf").stat().st_size)
            (folder / "out.gguf").unlink()
        if not found[2] < 0.75 * min(found[:2]):
            yield f"{name}, {scheme}: divergences {found}"
        if len(sizes) > 1:
            yield f"{name}, {scheme}: files of {sizes} bytes"


def check_output(folder):
    """What q of the first layer reads does not depend on the method. By numpy: importance lowers the error of the weights, each
    weighted with the mean square of its input; descent lowers that of the output."""
    name, layer = "llama-biases", "model.layers.0.self_attn.q_proj.weight"
    config, tensors = GOLDEN[name]["config"], load_file(folder / name / "model.safetensors")
    ids = np.frombuffer((folder / "learn").read_bytes(), np.uint8)
    state = tensors["model.embed_tokens.weight"][ids].astype(np.float64)
    state *= 1 / np.sqrt((state**2).mean(-1, keepdims=True) + config["rms_norm_eps"])
    x = state * tensors["model.layers.0.input_layernorm.weight"]
    found, weighted = [], []
    for method in ((), ("--method", "importance", *TEXT), ("--method", "descent", *TEXT)):
        quantize(folder, name, "one.gguf", "q4_0", *method)
        run(folder, "llm", "dequantize", "one.gguf", "-o", "one", "--to", "f32")
        gap = load_file(folder / "one" / "model.safetensors")[layer].astype(np.float64) - tensors[layer]
        found.append(((x @ gap.T) ** 2).sum())
        weighted.append((gap**2 * (x**2).mean(0)).sum())
        for path in sorted((folder / "one").iterdir()):
            path.unlink()
        (folder / "one").rmdir()
        (folder / "one.gguf").unlink()
    if not weighted[1] < 0.98 * min(weighted[0], weighted[2]):
        yield f"weighted errors of the weights {weighted}"
    if not found[2] < 0.7 * min(found[:2]):
        yield f"errors of the output {found}"


def check_threads(folder):
    for method in ("gptq", "descent"):
        bytes_of = []
        for threads in (1, 3):
            quantize(folder, "llama-biases", f"t{threads}.gguf", "q4_1", *TEXT, "--threads", threads, "--method", method)
            bytes_of.append((folder / f"t{threads}.gguf").read_bytes())
        if bytes_of[0] != bytes_of[1]:
            yield f"{method}: other bytes with three threads"


def check_killed(folder):
    """Killed when a layer is recorded, or later: the next run goes on, to the same bytes."""
    command = ("llm", "quantize", "llama-biases", "-o", "again.gguf", "--layout", "gguf", "--scheme", "q4_1", "--exclude",
               "*embed_tokens", *TEXT)  # fmt: skip
    part = folder / "again.gguf.part"
    for records in (0, 1000):
        (folder / "again.gguf").unlink(missing_ok=True)
        running = subprocess.Popen([BARYON, *command], cwd=folder, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        while running.poll() is None:
            journal = part / ".baryon-layers"
            if journal.exists() and journal.stat().st_size > records:
                running.kill()
                running.wait()
        if running.returncode == 0:
            yield "was not killed"
        if (folder / "again.gguf").exists():
            yield "a killed run has a result"
        done = run(folder, *command)
        if done.returncode or (folder / "again.gguf").read_bytes() != (folder / "t1.gguf").read_bytes():
            yield f"other bytes after a kill: {done.stderr}"
        if part.exists():
            yield f"{part} is left"


def check_refused(folder):
    for more, message in (
        (("--scheme", "int4_wo_32", "--method", "importance", *TEXT), "--method importance requires --layout gguf"),
        (("--layout", "gguf", "--scheme", "q4_0", "--method", "importance"), "--method importance requires --text"),
        (("--layout", "gguf", "--scheme", "q4_0", "--text", "short", "--length", "64"), "must have at least 64"),
    ):
        done = run(folder, "llm", "quantize", "llama-biases", "-o", "no.gguf", *more)
        if not done.returncode or message not in done.stderr:
            yield f"{more}: {done.returncode}, {done.stderr}"
        if (folder / "no.gguf").exists():
            yield f"{more}: wrote a file"


def main():
    passed, failed = 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        rng = np.random.default_rng(7)
        for text, count in (("learn", 60), ("judge", 24)):
            (folder / text).write_text("".join(SENTENCES[i] for i in rng.integers(0, len(SENTENCES), count)))
        (folder / "short").write_text("Too short. ")
        for family in FAMILIES:
            make(folder, family)
        for check in (check_nearer, check_output, check_threads, check_killed, check_refused):
            wrong = list(check(folder))
            for line in wrong:
                print(f"{check.__name__[6:]}: {line}")
            failed += len(wrong)
            passed += not wrong
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
