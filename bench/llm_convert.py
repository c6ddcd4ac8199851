"""`baryon llm convert` beside llama.cpp's convert_hf_to_gguf.py: metadata and tensors of GGUF files.

    bench/llm_convert.py LLAMA_CPP [FOLDER...]

LLAMA_CPP is a folder of llama.cpp's sources (the sdist of llama-cpp-python has them under
vendor/llama.cpp); the Python that runs this needs torch, transformers and sentencepiece. Without
folders, tiny random models of each family are compared. Tokenizers that the converter does not know
by their hash get the kind that Baryon finds.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/lib")]
PROGRAM = pathlib.Path(os.environ.get("BUILD", ROOT / "build")).resolve() / "baryon"
ARCHITECTURES = {
    "llama": "Llama", "mistral": "Mistral", "mixtral": "Mixtral", "qwen2": "Qwen2", "qwen3": "Qwen3", "qwen2_moe": "Qwen2Moe",
    "qwen3_moe": "Qwen3Moe", "phi3": "Phi3", "gemma": "Gemma", "gemma2": "Gemma2", "gemma3_text": "Gemma3",
}  # fmt: skip


VOCAB = 384
TYPES = os.environ.get("TYPES", "f32 bf16").split()


def texts():
    return [page.read_text() for page in sorted((ROOT / "docs").glob("*.md"))[:8]]


def write_bytes_tokenizer(folder, settings):
    """A byte-level BPE of our own pages, as Llama 3 and Qwen have it."""
    import tokenizers

    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    special = ["<|begin|>", "<|end|>", "<|user|>"]
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=VOCAB - 4, special_tokens=special, initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    made.train_from_iterator(texts(), trainer)
    made.add_tokens(["<tool>"])
    made.save(str(folder / "tokenizer.json"))
    settings |= {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<|begin|>", "eos_token": "<|end|>"}


def write_pieces_tokenizer(folder, settings):
    """A SentencePiece BPE with bytes, as Llama 2, Mistral and Gemma have it."""
    import sentencepiece

    pathlib.Path("text").write_text("\n".join(texts()))
    sentencepiece.SentencePieceTrainer.train(
        input="text", model_prefix=str(folder / "tokenizer"), vocab_size=VOCAB - 8, model_type="bpe", byte_fallback=True,
        minloglevel=2, user_defined_symbols=["<own>"], add_dummy_prefix="gemma" not in folder.name, character_coverage=0.99,
    )  # fmt: skip
    (folder / "tokenizer.vocab").unlink()
    settings |= {"tokenizer_class": "LlamaTokenizer", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}


def write_tiny(kind):
    """A folder with random weights; its config.json names the class that the converter looks for."""
    from lib import llm_families
    from ml_dtypes import bfloat16
    from safetensors.numpy import save_file

    llm_families.VOCAB = llm_families.COMMON["vocab_size"] = VOCAB
    random = np.random.default_rng(26)
    folder = pathlib.Path(kind)
    shapes = llm_families.write_family(kind)
    for path in folder.glob("tokenizer*"):
        path.unlink()
    tensors = {name: random.standard_normal(shape, np.float32).astype(bfloat16) for name, shape in shapes.items()}
    save_file(tensors, folder / "model.safetensors")
    config = llm_families.config_of(kind) | {"architectures": [ARCHITECTURES[kind] + "ForCausalLM"], "torch_dtype": "bfloat16"}
    config |= {"bos_token_id": 1, "eos_token_id": 2} if llm_families.FAMILIES[kind][2] else {"bos_token_id": 0, "eos_token_id": 1}
    (folder / "config.json").write_text(json.dumps(config))
    settings = {"add_bos_token": True, "chat_template": "{{ messages }}"}
    (write_pieces_tokenizer if llm_families.FAMILIES[kind][2] else write_bytes_tokenizer)(folder, settings)
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))


def read(path):
    import gguf

    reader = gguf.GGUFReader(path)
    fields = {name: field for name, field in reader.fields.items() if not name.startswith("GGUF.")}
    metadata = {name: ([kind.name for kind in field.types], field.contents()) for name, field in fields.items()}
    tensors = {tensor.name: (tensor.tensor_type.name, tuple(map(int, tensor.shape)), np.asarray(tensor.data).tobytes()) for tensor in reader.tensors}
    return metadata, tensors


def convert_theirs(sources, folder, out, kind, outtype):
    """In a process of its own, whose tokenizers are not looked up by their hash."""
    program = f"""
import runpy, sys
sys.path[:0] = [{str(sources)!r}]
import conversion.base as base
known = base.TextModel.get_vocab_base_pre
def kind_of(self, tokenizer):
    try:
        return known(self, tokenizer)
    except NotImplementedError:
        return {kind!r}
base.TextModel.get_vocab_base_pre = kind_of
sys.argv = ["convert_hf_to_gguf.py", {str(folder)!r}, "--outfile", {str(out)!r}, "--outtype", {outtype!r}]
runpy.run_path({str(sources / "convert_hf_to_gguf.py")!r}, run_name="__main__")
"""
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)


def shortened(value):
    text = str(value)
    return text if len(text) < 90 else f"{text[:87]}..."


def differences(theirs, ours):
    for name in sorted(set(theirs[0]) | set(ours[0])):
        a, b = theirs[0].get(name), ours[0].get(name)
        if a != b:
            yield f"{name}: {shortened(a)} there, {shortened(b)} here"
    for name in sorted(set(theirs[1]) | set(ours[1])):
        a, b = theirs[1].get(name), ours[1].get(name)
        if a != b:
            yield f"tensor {name}: {a and a[:2]} there, {b and b[:2]} here" + (", other bytes" if a and b and a[:2] == b[:2] else "")


def compare(sources, folder, outtype):
    ours, theirs = pathlib.Path(f"ours-{outtype}.gguf"), pathlib.Path(f"theirs-{outtype}.gguf")
    for path in (ours, theirs):
        path.unlink(missing_ok=True)
    done = subprocess.run([PROGRAM, "llm", "convert", folder, "-o", ours, "--type", outtype], capture_output=True, text=True)
    if done.returncode:
        return [f"baryon: {done.stderr.strip()}"]
    mine = read(ours)
    kind = mine[0].get("tokenizer.ggml.pre", (None, "default"))[1]
    done = convert_theirs(sources, folder, theirs, kind, outtype)
    if done.returncode:
        return [f"convert_hf_to_gguf.py: {done.stderr.strip().splitlines()[-1]}"]
    return list(differences(read(theirs), mine))


def main():
    if len(sys.argv) < 2 or not (pathlib.Path(sys.argv[1]) / "convert_hf_to_gguf.py").exists():
        print(__doc__)
        return 2
    sources = pathlib.Path(sys.argv[1]).resolve()
    sys.path.insert(0, str(sources / "gguf-py"))
    folders = [pathlib.Path(folder).resolve() for folder in sys.argv[2:]]
    found = 0
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        if not folders:
            for kind in ARCHITECTURES:
                write_tiny(kind)
            folders = list(map(pathlib.Path, ARCHITECTURES))
        for folder in folders:
            for outtype in TYPES:
                wrong = compare(sources, folder, outtype)
                found += len(wrong)
                print(f"{folder.name} {outtype}: {len(wrong)} differences", flush=True)
                for line in wrong:
                    print(f"  {line}", flush=True)
        os.chdir("/")
    return found > 0


if __name__ == "__main__":
    sys.exit(main())
