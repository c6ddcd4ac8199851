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
from tokenizers import Tokenizer, models, normalizers, processors, trainers

sys.path[:0] = ["tests", "tests/golden", "tests/lib"]
from llm_files import byte_tokenizer  # noqa: E402
from llm_tokenizer import sentencepiece  # noqa: E402
from make_llm_logits import LENGTH, LLAMA3, LONG, VOCAB, ids, kept, kept_long, long_ids, weights_of  # noqa: E402

BUILD = pathlib.Path(os.environ.get("BUILD", "build")).resolve()
GOLDEN = json.loads(pathlib.Path("tests/golden/llm_logits.json").read_text())
# Attention scores are sums of some hundred products; transformers' own kernels differ as much.
CLOSE = 5e-4
# A file has no key for Mistral's window, nor for a scale of attention other than the usual one.
IN_GGUF = ("llama", "qwen2", "qwen3", "gemma", "gemma3", "mixtral", "phi3")


def weights(name):
    return {key: weights_of(key, shape, "gemma" in name) for key, shape in GOLDEN[name]["shapes"].items()}


def write(folder, name, tensors=None, config=()):
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(GOLDEN[name]["config"] | dict(config)))
    save_file(tensors or weights(name), folder / "model.safetensors")


def logits(model, tokens):
    """All logits, or what was wrong."""
    done = subprocess.run(
        [BUILD / "tests/tools/llm_logits", model, str(tokens.shape[1]), *map(str, tokens.ravel())], capture_output=True
    )
    if done.returncode:
        return done.stderr.decode().strip()
    return np.frombuffer(done.stdout, np.float32).reshape(*tokens.shape, VOCAB)


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
    if "long" in GOLDEN[name]:
        got = logits(folder / name, long_ids())
        far = np.inf if isinstance(got, str) else np.abs(kept_long(got).ravel() - np.array(GOLDEN[name]["long"])).max()
        if far > CLOSE:
            yield f"logits of {LONG} tokens: {got if isinstance(got, str) else far}"
        got = logits(folder / name, ids())
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


def log_softmax(x):
    x = x.astype(np.float64)
    x = x - x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def evaluate(folder):
    """`llm eval` beside numpy: loss, divergence, agreement, and their errors over windows."""
    text = np.random.default_rng(5).integers(32, 127, 5 * LENGTH + 7).astype(np.uint8)
    (folder / "text").write_bytes(text.tobytes())
    (folder / "llama/tokenizer.json").write_text(json.dumps(byte_tokenizer()))
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
        each = [window.get(key) for window in said["by_window"]]
        if key in ("kl", "same_top") and not np.allclose(each, by_window, rtol=1e-6, atol=1e-9):
            yield f"{key} by window: {each}, must be {by_window}"
    if not 0.001 < said["kl"] < 5 or not np.isclose(said["perplexity"], np.exp(said["loss"])):
        yield f"the divergence of int4 is {said['kl']}, the perplexity {said['perplexity']}"


def pieces(folder):
    """A folder with tokenizer.model alone beside one with the tokenizer.json of the same pieces."""
    text = (" ".join(pathlib.Path(__file__).read_text().split()) + " Ünïcödé") * 2
    tok = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    tok.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    specials = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
    # Fewer letters than the text has: the others become bytes.
    tok.train_from_iterator([text], trainers.BpeTrainer(vocab_size=VOCAB, special_tokens=specials, limit_alphabet=24, show_progress=False))
    tok.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    vocab = sorted(tok.get_vocab(), key=tok.get_vocab().get)
    kinds = [2, 3, 3] + 256 * [6] + (VOCAB - 259) * [1]
    for name in ("json", "model"):
        write(folder / name, "llama")
    # Of the file only the model counts: special tokens are those of the template.
    whole = json.loads(tok.to_str())
    whole["added_tokens"] = whole["added_tokens"][:3]
    (folder / "json/tokenizer.json").write_text(json.dumps(whole))
    scores = [0.0] * 259 + [-float(rank) for rank in range(VOCAB - 259)]
    (folder / "model/tokenizer.model").write_bytes(sentencepiece(list(zip(vocab, scores, kinds))))
    (folder / "model/tokenizer_config.json").write_text(json.dumps({"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "add_bos_token": True}))
    (folder / "text").write_text(text)
    answers = []
    for name in ("json", "model"):
        command = ["eval", ".", "--text", folder / "text", "--length", "64", "--windows", "4", "--json", "-q"]
        done = subprocess.run([BUILD / "baryon", "llm", *command], cwd=folder / name, capture_output=True, text=True)
        answers.append(done.stdout or done.stderr)
    if answers[0] != answers[1] or json.loads(answers[0])["tokens"] != len(tok.encode(text).ids):
        yield f"{answers}, {len(tok.encode(text).ids)} tokens"


# Changes of a good folder that are refused.
REFUSED = [
    ({"rope_scaling": {"rope_type": "ntk"}, "rope_parameters": None}, "rope_type is 'ntk', must be default"),
    ({"hidden_act": "relu2"}, "hidden_act is 'relu2', must be silu"),
    ({"embedding_multiplier": 12.0}, "embedding_multiplier changes what the model computes"),
    ({"num_hidden_layers": None}, "config.json has no num_hidden_layers"),
    ({"num_hidden_layers": 9}, "is missing, must be there"),
    ({"hidden_size": 128}, "config.json says"),
    ({"num_key_value_heads": 3}, "heads must be a multiple of those of keys"),
    ({"num_attention_heads": 0}, "config.json: num_attention_heads is 0, must be 1 to 1073741824"),
    ({"hidden_size": -64}, "config.json: hidden_size is -64, must be 1 to"),
    ({"head_dim": 15}, "4 heads, 2 of keys, of 15 values"),
    ({"num_hidden_layers": 1 << 29}, "config.json: 536870912 layers, the checkpoint has only 30 weights"),
    ({"num_experts": 6148914691236517206, "num_experts_per_tok": 2}, "config.json: 6148914691236517206 experts, the checkpoint"),
    ({"rope_scaling": LLAMA3, "rope_parameters": None, "partial_rotary_factor": 0.5}, "llama3 with 8 of 16 values of a head"),
]
# The same of weights: a tensor of a family's folder with another shape.
LAYER = "model.layers.1."
MISFITS = [
    ("llama", LAYER + "mlp.gate_proj.weight", [0, 64], "0 rows and 64 columns, both must be 1 to"),
    ("llama", LAYER + "mlp.up_proj.weight", [97, 64], "97 rows and 64 columns, config.json says 96 and 64"),
    ("llama", LAYER + "mlp.down_proj.weight", [64, 95], "64 rows and 95 columns, config.json says 64 and 96"),
    ("llama", LAYER + "input_layernorm.weight", [63], "1 rows and 63 columns, config.json says 1 and 64"),
    ("llama", LAYER + "input_layernorm.bias", [64], "norms with a bias are LayerNorm"),
    ("llama", "model.norm.bias", [64], "norms with a bias are LayerNorm"),
    ("llama", "lm_head.bias", [320], "models with a bias of the head cannot be run"),
    ("llama", "lm_head.weight", [319, 64], "319 rows and 64 columns, config.json says 320 and 64"),
    ("llama-biases", LAYER + "mlp.up_proj.bias", [95], "mlp.up_proj.bias has 95 values, must be 96"),
    ("phi3", LAYER + "mlp.gate_up_proj.weight", [1, 64], "1 rows and 64 columns, config.json says 2 and 64"),
    ("qwen3", LAYER + "self_attn.k_norm.weight", [16], "1 rows and 16 columns, config.json says 1 and 32"),
    ("gemma2", LAYER + "pre_feedforward_layernorm.weight", [8], "1 rows and 8 columns, config.json says 1 and 64"),
    ("gemma2", LAYER + "post_feedforward_layernorm.weight", [8], "1 rows and 8 columns, config.json says 1 and 64"),
    ("qwen2-moe", LAYER + "mlp.shared_expert_gate.weight", [900, 64], "900 rows and 64 columns, config.json says 1 and 64"),
    ("mixtral", LAYER + "block_sparse_moe.gate.weight", [5, 64], "5 rows and 64 columns, config.json says 4 and 64"),
    ("mixtral", LAYER + "block_sparse_moe.experts.3.w3.weight", [97, 64], "97 rows and 64 columns, config.json says 96"),
]


def refusals(folder):
    config = GOLDEN["llama"]["config"]
    for change, message in REFUSED:
        (folder / "llama/config.json").write_text(json.dumps(config | change))
        got = logits(folder / "llama", ids())
        if not isinstance(got, str) or message not in got:
            yield f"{change}: '{message}' was expected, there is {got if isinstance(got, str) else 'none'}"
    (folder / "llama/config.json").write_text(json.dumps(config))
    for family, name, shape, message in MISFITS:
        write(folder / "misfit", family, weights(family) | {name: np.ones(shape, np.float32)})
        got = logits(folder / "misfit", ids())
        if not isinstance(got, str) or message not in got:
            yield f"{family}, {name}: '{message}' was expected, there is {got if isinstance(got, str) else 'none'}"
    outside = ids()
    outside[1, 3] = VOCAB
    if "has the id 320, the model has 320" not in str(logits(folder / "llama", outside)):
        yield "an id that the model has not was taken"


def uneven(folder):
    """An expert with more rows than the first one, which add nothing; more experts for each token than there are."""
    name = f"{LAYER}block_sparse_moe.experts.2."
    tensors = weights("mixtral")
    more = np.ones((400, 64), np.float32)
    wider = {"w1": np.vstack([tensors[name + "w1.weight"], more]), "w3": np.vstack([tensors[name + "w3.weight"], more])}
    wider["w2"] = np.hstack([tensors[name + "w2.weight"], 0 * more.T])
    write(folder / "uneven", "mixtral", tensors | {f"{name}{key}.weight": value for key, value in wider.items()})
    got, want = logits(folder / "uneven", ids()), logits(folder / "mixtral", ids())
    if isinstance(got, str) or np.abs(got - want).max() > CLOSE:
        yield f"a wider expert: {got if isinstance(got, str) else np.abs(got - want).max()}"
    write(folder / "all", "mixtral", config={"num_experts_per_tok": 9})
    every = logits(folder / "all", ids())
    write(folder / "all", "mixtral", config={"num_experts_per_tok": 4})
    if isinstance(every, str) or not np.array_equal(every, logits(folder / "all", ids())):
        yield f"nine of four experts: {every if isinstance(every, str) else 'other logits than with four'}"


def main():
    failed = count = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for family in GOLDEN:
            write(folder / family, family)
        checks = [(family, compare(folder, family)) for family in GOLDEN]
        for what, wrong in [*checks, ("eval", evaluate(folder)), ("experts", uneven(folder)), ("pieces", pieces(folder)), ("refusals", refusals(folder))]:
            wrong = list(wrong)
            count += 1
            failed += bool(wrong)
            for line in wrong:
                print(f"{what}: {line}")
    print(f"{count - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
