"""Activations of quantized language models beside those of Quark.

tests/golden/llm_activations.json has Quark's scales and logits for tests/lib/llm_weights.py, written
by tests/golden/make_llm_activations.py.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

sys.path[:0] = ["tests", "tests/lib"]
import llm_weights  # noqa: E402

BUILD = pathlib.Path(os.environ.get("BUILD", "build"))
GOLDEN = json.loads(pathlib.Path("tests/golden/llm_activations.json").read_text())
# Of the spread of logits. A value next to the middle of two levels may fall to either side, since
# sums before it are added in another order, and a random model does not forget it: transformers'
# own logits move as much. Scales that are powers of two have hardly any such places.
CLOSE = {"mxfp4": 1e-4, "mxfp6_e3m2": 1e-4, "mxfp6_e2m3": 1e-4, "mxfp4_mxfp6_e2m3": 1e-4, "amdfp4": 1e-4, "amdfp4_g32": 1e-4,
         "int4_wa_64": 1.0, "nvfp4": 0.3}  # fmt: skip
UNPLACED = ("mx6", "mx9", "bfp16")  # in layout quark
USUAL = 0.1
STATIC = ("fp8", "int8", "mxfp4_fp8", "nvfp4")


def baryon(*command):
    return subprocess.run([BUILD / "baryon", "llm", *command, "-q"], capture_output=True, text=True)


def logits(folder, *options):
    """All logits, or what was wrong."""
    ids = llm_weights.evaluation_ids()
    command = [BUILD / "tests/tools/llm_logits", *options, folder, str(ids.shape[1]), *map(str, ids.ravel())]
    done = subprocess.run(command, capture_output=True)
    if done.returncode:
        return done.stderr.decode().strip()
    return np.frombuffer(done.stdout, np.float32).reshape(*ids.shape, llm_weights.VOCAB)


def compare(got, want, scheme):
    if isinstance(got, str):
        yield got
        return
    want = np.array(want)
    far = np.abs(llm_weights.kept_logits(got).ravel() - want)
    share = np.sqrt(np.mean(far**2)) / want.std()
    if not share < CLOSE.get(scheme, USUAL):
        yield f"logits differ by {share:.4f} of their spread, at most {CLOSE.get(scheme, USUAL)} was expected"


def compare_scales(folder, want, words):
    found = llm_weights.read_safetensors(folder)
    got = {name: value for name, value in found.items() if name.rpartition(".")[2].startswith(words)}
    if set(got) != set(want):
        yield f"scales {sorted(set(got) ^ set(want))[:4]} of one alone"
        return
    for name, value in want.items():
        if got[name].shape != () or not np.isclose(float(got[name]), value, rtol=2e-5):
            yield f"{name} is {got[name]}, must be {value}"


def texts(folder):
    ids = llm_weights.calibration_ids()
    return ["--text", folder / "ids.npy", "--length", str(ids.shape[1]), "--windows", "0", "--method", "rtn"]


def simulate(folder, scheme):
    """Inputs rounded as Quark's fake quantization rounds them, by its scales where these are static."""
    out, want = folder / scheme, GOLDEN["schemes"][scheme]
    options = texts(folder) if scheme in STATIC else []
    options += ["--layout", "json-safetensors"] if scheme in UNPLACED else []
    done = baryon("quantize", folder / "float", "-o", out, "--scheme", scheme, "--compat", "quark-0.13", *options)
    if done.returncode:
        yield done.stderr.strip()
        return
    yield from compare_scales(out, want["scales"], "input_")
    yield from compare(logits(out, "--simulate"), want["logits"], scheme)


def members(whole, part):
    """Keys of part whose values whole does not have; null of a key that Quark leaves open is any."""
    if isinstance(part, dict):
        return {key: members(whole.get(key, {}), value) for key, value in part.items() if members(whole.get(key, {}), value)}
    return [] if part is None or part == whole else [whole, part]


def cache(folder, scheme):
    """Keys and values in fp8, by their names in the file and in config.json."""
    out, want = folder / f"cache-{scheme}", GOLDEN["caches"][scheme]
    done = baryon("quantize", folder / "float", "-o", out, "--scheme", scheme, "--compat", "quark-0.13", "--kv-cache", "fp8",
                  *texts(folder))  # fmt: skip
    if done.returncode:
        yield done.stderr.strip()
        return
    yield from compare_scales(out, want["scales"], "output_")
    config = json.loads((out / "config.json").read_text())["quantization_config"]
    if wrong := members(config, want["config"]):
        yield f"config.json: {wrong}"
    yield from compare(logits(out, "--simulate"), want["logits"], scheme)
    float_kept = np.abs(logits(out) - logits(out, "--simulate")).max()
    if not 0.001 < float_kept < 2:
        yield f"an fp8 cache changes logits by {float_kept}"


# Scheme and layout with samples: the scales beside a layer, and of the cache.
LAYOUTS = [
    ("fp8", "compressed-tensors", "fp8", "input_scale", "self_attn.v_scale"),
    ("int8", "compressed-tensors", "int8", "input_scale", "self_attn.k_scale"),
    ("nvfp4", "compressed-tensors", "fp8", "input_global_scale", "self_attn.k_scale"),
    ("fp8", "fp8", "fp8", "input_scale", "self_attn.v_scale"),
    ("nvfp4", "json-safetensors", "none", "input_scale_2", None),
    ("int8", "json-safetensors", "none", "input_scale", None),
    ("int8", "quark", "int8", "input_scale", "self_attn.k_proj.output_scale"),
]


def layouts(folder):
    """Other layouts give the same activations as Quark's."""
    for scheme, layout, kept, scale, cached in LAYOUTS:
        out = folder / f"{layout}-{scheme}"
        options = ["--scheme", scheme, "--layout", layout, "--kv-cache", kept, *texts(folder)]
        done = baryon("quantize", folder / "float", "-o", out, *options)
        if done.returncode:
            yield f"{layout}, {scheme}: {done.stderr.strip()}"
            continue
        found = llm_weights.read_safetensors(out)
        names = [f"model.layers.1.mlp.down_proj.{scale}"] + ([f"model.layers.1.{cached}"] if cached else [])
        if missing := [name for name in names if name not in found]:
            yield f"{layout}, {scheme}: no tensor {missing}"
        yield from (f"{layout}, {scheme}: {line}" for line in compare(logits(out, "--simulate"), GOLDEN["schemes"][scheme]["logits"], "int4_wa_64"))
        own = float(np.float64(found[names[0]].reshape(-1)[0]))
        want = GOLDEN["schemes"][scheme]["scales"][f"model.layers.1.mlp.down_proj.input_scale{'_2' if scheme == 'nvfp4' else ''}"]
        if not np.isclose(1 / own if "global" in scale else own, want, rtol=2e-5):
            yield f"{layout}, {scheme}: {own}, must be {want}"


# Scales of a token are found while the model runs: layouts have nothing but their types.
OF_TOKENS = {"ptpc_int8": "int-quantized", "int4_int8_64": "int-quantized", "int4_int8_per_channel": "int-quantized",
             "int4_fp8_128": "pack-quantized"}  # fmt: skip


def tokens(folder):
    """compressed-tensors and our own layout say the same as Quark's; others refuse."""
    for scheme, form in OF_TOKENS.items():
        found = {}
        for layout in ("quark", "compressed-tensors", "json-safetensors"):
            out = folder / f"{layout}-{scheme}"
            done = baryon("quantize", folder / "float", "-o", out, "--layout", layout, "--scheme", scheme)
            if done.returncode:
                yield f"{layout}, {scheme}: {done.stderr.strip()}"
                continue
            found[layout] = logits(out)
            if np.abs(found[layout] - found["quark"]).max() > 1e-5:
                yield f"{layout}, {scheme}: other weights than in layout quark"
            rounded, own = logits(out, "--simulate"), GOLDEN["schemes"][scheme]["logits"]
            if not 0.01 < np.sqrt(np.mean((rounded - found["quark"]) ** 2)) / np.std(own) < 0.5:
                yield f"{layout}, {scheme}: inputs are not rounded as those of tokens are"
        config = json.loads((folder / f"compressed-tensors-{scheme}/config.json").read_text())["quantization_config"]
        group = config["config_groups"]["group_0"]
        inputs = {key: group["input_activations"][key] for key in ("num_bits", "type", "strategy", "dynamic")}
        want = {"num_bits": 8, "type": "float" if "fp8" in scheme else "int", "strategy": "token", "dynamic": True}
        if config["format"] != form or group["format"] != form or inputs != want:
            yield f"{scheme}: {config['format']}, {group['format']}, {inputs}"
        for layout in ("awq", "gptq", "fp8"):
            done = baryon("quantize", folder / "float", "-o", folder / "refused", "--layout", layout, "--scheme", scheme)
            if f"layout {layout} has no place for scheme {scheme}" not in done.stderr:
                yield f"{layout} takes {scheme}: {done.stderr.strip()}"


FP8 = ["--scheme", "fp8"]
INT4 = ["--scheme", "int4_wo_64"]
REFUSED = [
    ([*INT4, "--kv-cache", "fp8"], "--kv-cache requires --text: files or folders of texts"),
    ([*INT4, "--kv-cache", "fp8", "--layout", "awq", "TEXT"], "layout awq has no place for scales of keys and values, must be quark, compressed-tensors or fp8"),
    ([*INT4, "TEXT"], "--text is not valid here: method rtn and scheme int4_wo_64 ask nothing of texts"),
    ([*FP8, "--layer", "lm_head=fp8", "TEXT"], "'lm_head': texts give no scale of its inputs, which scheme fp8 needs"),
    ([*FP8, "--text", "float.npy", "--method", "rtn"], "float.npy: ids are float32, must be uint16, uint32, int32 or int64"),
    ([*FP8, "--text", "three.npy", "--method", "rtn"], "three.npy: ids have 3 dimensions, must have 1, or 2 [windows, length]"),
    ([*FP8, "--text", "beyond.npy", "--method", "rtn"], "beyond.npy: id 64 at 2, must be 0 to 63, the ids that the model has"),
    ([*FP8, "--text", "negative.npy", "--method", "rtn"], "negative.npy: id -1 at 1, must be 0 to 63"),
    ([*FP8, "--text", "ids.npy", "--method", "rtn"], "ids.npy: windows have 24 ids, must have at least 512"),
    ([*FP8, "--text", "ids.npy,some.txt", "--method", "rtn", "--length", "8"], "some.txt: a text beside ids of .npy files, must be either"),
    ([*FP8, "--text", "few.npy", "--method", "rtn"], "the texts have 3 tokens, must have at least 512"),
    ([*FP8, "--text", "some.txt", "--method", "rtn"], "there is no tokenizer.json and no tokenizer.model, one is required for texts"),
]  # fmt: skip


def refusals(folder):
    arrays = {
        "float": np.ones(4, np.float32), "three": np.ones((1, 2, 3), np.int32), "beyond": np.array([1, 2, 64], np.uint16),
        "negative": np.array([1, -1, 2], np.int64), "few": np.array([1, 2, 3], np.uint32),
    }  # fmt: skip
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    (folder / "some.txt").write_text("a text\n")
    for options, message in REFUSED:
        given = [str(word) for option in options for word in (texts(folder) if option == "TEXT" else [option])]
        given = [",".join(str(folder / part) for part in word.split(",")) if word.endswith((".npy", ".txt")) else word for word in given]
        done = baryon("quantize", folder / "float", "-o", folder / "refused", *given)
        if not done.returncode or message not in done.stderr:
            yield f"{options}: '{message}' was expected, there is {done.stderr.strip()}"


def same_ids(folder):
    """Ids of one dimension and of two, and of all types, give the same."""
    ids = llm_weights.calibration_ids()
    answers = set()
    for number, array in enumerate([ids.astype(np.uint16), ids.astype(np.int32).ravel(), ids.astype(np.uint32), ids]):
        np.save(folder / f"ids{number}.npy", array)
        done = baryon("eval", folder / "fp8", "--text", folder / f"ids{number}.npy", "--length", "24", "--json")
        answers.add(done.stdout or done.stderr)
    if len(answers) != 1 or '"rounded_inputs": 14' not in answers.pop():
        yield f"{answers}"
    done = baryon("eval", folder / "fp8", "--text", folder / "ids.npy", "--length", "24", "--json", "--activations", "float")
    if '"rounded_inputs": 0' not in done.stdout:
        yield done.stdout + done.stderr


def main():
    failed = count = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        llm_weights.write_model(folder / "float", llm_weights.tensors())
        np.save(folder / "ids.npy", llm_weights.calibration_ids())
        checks = [(scheme, simulate(folder, scheme)) for scheme in GOLDEN["schemes"]]
        checks += [(f"cache, {scheme}", cache(folder, scheme)) for scheme in GOLDEN["caches"]]
        checks += [("layouts", layouts(folder)), ("tokens", tokens(folder)), ("refusals", refusals(folder)), ("ids", same_ids(folder))]
        for what, wrong in checks:
            wrong = list(wrong)
            count += 1
            failed += bool(wrong)
            for line in wrong:
                print(f"{what}: {line}")
    print(f"{count - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
