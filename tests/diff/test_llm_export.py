"""`baryon llm export` in ONNX Runtime beside src/llm/decoder and transformers, for tiny decoders.

Float models against the logits of tests/golden/llm_logits.json, at once and token after token with
the cache; quantized ones of several layouts against our own forward pass.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime

sys.path[:0] = ["tests", "tests/golden", "tests/diff"]
from make_llm_logits import LENGTH, ids, kept  # noqa: E402
from test_llm_decoder import BUILD, CLOSE, GOLDEN, logits, write  # noqa: E402

DENSE = [name for name in GOLDEN if GOLDEN[name]["config"]["model_type"] not in ("mixtral", "qwen2_moe", "qwen3_moe")]
FIRST = 30  # tokens of the first run, where there are more
# Models, schemes, layouts; how many of their layers are integers.
QUANTIZED = [
    ("llama", "int4_wo_32", "quark", True),
    ("llama", "uint4_wo_32", "quark", True),
    ("llama-biases", "uint4_wo_32", "compressed-tensors", True),
    ("phi3", "uint4_wo_32", "awq", True),
    ("qwen3", "int4_wo_32", "gptq", True),
    ("gemma2", "int8_wo_per_channel", "quark", True),
    ("mistral", "uint2_wo_32", "json-safetensors", True),
    ("qwen2", "int4_wo_per_channel", "quark", True),
    ("llama", "mxfp4_weight_only", "quark", False),
    ("llama", "fp8", "quark", False),
]


def baryon(*args):
    return subprocess.run([BUILD / "baryon", "llm", *args], capture_output=True, text=True)


def open_session(folder):
    onnx.checker.check_model(str(folder / "model.onnx"))
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(str(folder / "model.onnx"), options)


def run(session, tokens, past=None):
    """Logits of tokens, and keys and values of all so far."""
    feeds = {"input_ids": tokens.astype(np.int64)}
    seen = 0
    for value in session.get_inputs():
        if value.name.startswith("past"):
            shape = [len(tokens), value.shape[1], 0, value.shape[3]]
            feeds[value.name] = np.zeros(shape, np.float32) if past is None else past[value.name]
            seen = feeds[value.name].shape[2]
    feeds["attention_mask"] = np.ones((len(tokens), seen + tokens.shape[1]), np.int64)
    names = [value.name for value in session.get_outputs()]
    got = dict(zip(names, session.run(names, feeds)))
    made = got.pop("logits")
    return made, {name.replace("present", "past_key_values"): value for name, value in got.items()}


def step_by_step(session, tokens):
    """The first tokens at once, then one after the other."""
    made, past = run(session, tokens[:, :FIRST])
    all_logits = [made]
    for place in range(FIRST, LENGTH):
        made, past = run(session, tokens[:, place : place + 1], past)
        all_logits.append(made)
    return np.concatenate(all_logits, 1)


def compare_floats(folder, name):
    write(folder / name, name)
    done = baryon("export", folder / name, "-o", folder / f"{name}-onnx")
    if done.returncode:
        yield done.stderr.strip()
        return
    session = open_session(folder / f"{name}-onnx")
    want = np.array(GOLDEN[name]["logits"])
    at_once = run(session, ids())[0]
    far = np.abs(kept(at_once).ravel() - want).max()
    if far > CLOSE:
        yield f"logits differ by {far:.2e}, at most {CLOSE} was expected"
    far = np.abs(step_by_step(session, ids()) - at_once).max()
    if far > CLOSE:
        yield f"with the cache they differ by {far:.2e}, at most {CLOSE} was expected"


def compare_quantized(folder, name, scheme, layout, packed):
    label = f"{name}-{scheme}-{layout}"
    quantized, exported = folder / label, folder / f"{label}-onnx"
    done = baryon("quantize", folder / name, "-o", quantized, "--scheme", scheme, "--layout", layout)
    if not done.returncode:
        done = baryon("export", quantized, "-o", exported, "--json")
    if done.returncode:
        yield done.stderr.strip()
        return
    said = json.loads(done.stdout)
    linear = sum(len(s) == 2 for n, s in GOLDEN[name]["shapes"].items() if "proj" in n)
    head = 0 if GOLDEN[name]["config"].get("tie_word_embeddings") else 1
    expected = (linear, head) if packed else (0, linear + head)
    if (said["packed"], said["floats"]) != expected:
        yield f"{said['packed']} layers of integers and {said['floats']} of floats, expected {expected}"
    nodes = [node.op_type for node in onnx.load(exported / "model.onnx", load_external_data=False).graph.node]
    if nodes.count("MatMulNBits") != expected[0]:
        yield f"{nodes.count('MatMulNBits')} nodes MatMulNBits, expected {expected[0]}"
    got, want = run(open_session(exported), ids())[0], logits(quantized, ids())
    far = np.abs(got - want).max()
    if far > CLOSE:
        yield f"logits differ by {far:.2e} from our own, at most {CLOSE} was expected"


def check_genai(folder):
    """What onnxruntime-genai reads."""
    said = json.loads((folder / "llama-onnx/genai_config.json").read_text())["model"]
    config = GOLDEN["llama"]["config"]
    want = {
        "head_size": config["hidden_size"] // config["num_attention_heads"],
        "hidden_size": config["hidden_size"],
        "num_attention_heads": config["num_attention_heads"],
        "num_hidden_layers": config["num_hidden_layers"],
        "num_key_value_heads": config["num_key_value_heads"],
    }
    for key, value in want.items():
        if said["decoder"][key] != value:
            yield f"{key} is {said['decoder'][key]}, must be {value}"
    if (said["type"], said["context_length"], said["vocab_size"]) != ("llama", 256, config["vocab_size"]):
        yield f"type, context_length, vocab_size: {said}"


def refused(folder):
    """Arguments and what is to be said."""
    write(folder / "mixtral", "mixtral")
    write(folder / "heads", "llama", config={"num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 4})
    (folder / "full").mkdir()
    (folder / "full/file").write_text("x")
    yield ["llama"], "--out FOLDER is required"
    yield ["mixtral", "-o", "m"], "the model has 4 experts, models with experts cannot be exported"
    yield ["heads", "-o", "h"], "heads have 4 values, GroupQueryAttention requires a multiple of 8"
    yield ["llama", "-o", "full"], "is there and not an empty folder, must be new or empty"
    yield ["nothing", "-o", "n"], "nothing"


def check_refused(folder):
    for args, message in refused(folder):
        args = [folder / a if not a.startswith("-") else a for a in args]
        done = baryon("export", *args)
        if done.returncode == 0 or message not in done.stderr:
            yield f"{message!r} is not in {done.stderr.strip()!r}"
        for name in ("m", "h", "n"):
            if (folder / name).exists() or (folder / f"{name}.part").exists():
                yield f"{name} was written"


def same_for_threads(folder):
    files = []
    for threads in ("1", "3"):
        out = folder / f"threads-{threads}"
        baryon("export", folder / "llama-uint4_wo_32-quark", "-o", out, "-j", threads)
        files.append([(out / name).read_bytes() for name in ("model.onnx", "model.onnx.data")])
    if files[0] != files[1]:
        yield "one and three threads write different files"


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        parts = [(name, compare_floats(folder, name)) for name in DENSE]
        parts += [(" ".join(row[:3]), compare_quantized(folder, *row)) for row in QUANTIZED]
        parts += [("genai_config.json", check_genai(folder)), ("refused", check_refused(folder)), ("threads", same_for_threads(folder))]
        for label, wrong in parts:
            wrong = list(wrong)
            failed += bool(wrong)
            for line in wrong:
                print(f"{label}: {line}")
    print(f"{len(parts) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
