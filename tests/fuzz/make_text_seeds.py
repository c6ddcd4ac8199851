"""Writes the seeds of the fuzz targets regex and tokenize into tests/fuzz/corpus.

Expressions of known tokenizers, small ones that use each part, and a tokenizer.json of each kind.
The seeds are in the repository, so this is only needed when a reader learns something new.
"""

import json
import pathlib

CORPUS = pathlib.Path(__file__).resolve().parent / "corpus"
TEXT = "Don't  say été 日本 12345\r\n  \t</s> e\u0301\u0323 ▁a ab\n"
EXPRESSIONS = {
    "gpt2": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "llama3": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "gpt4": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$",
    "lazy": r"(?:a+?b??|[^\D]{2,3}?)+$",
    "groups": r"(?=a)(?>a*)b{,3}|^(?:x|)y|\x41\u00e9\x{65e5}|[\]a-c\-]",
    "classes": r"[\D\P{L}]|[^\S\d\w\p{^Lu}]|\p{Ll}.",
    "empty": r"a*",
}
LEVEL = {"type": "ByteLevel", "add_prefix_space": True, "use_regex": True}


def tokenizer(tokens, merges, **parts):
    vocab = {token: place for place, token in enumerate(tokens)}
    model = {"type": "BPE", "vocab": vocab, "merges": merges, **parts.pop("model", {})}
    return {"model": model, "added_tokens": [], **parts}


def split(expression, behavior):
    return {"type": "Split", "pattern": {"Regex": expression}, "behavior": behavior, "invert": False}


def tokenizers():
    letters = [*"aDonts", "ont", "nt", "Ġ", "Ġs"]
    merges = ["n t", ["o", "nt"], "Ġ s"]
    added = {"id": 40, "content": "</s>", "lstrip": True, "rstrip": True, "single_word": False}
    word = {"id": 41, "content": "été", "single_word": True, "normalized": True}
    yield "bytes", tokenizer(letters, merges, pre_tokenizer=LEVEL, added_tokens=[added, word], normalizer={"type": "NFC"})
    sequence = [split(EXPRESSIONS["llama3"], "Isolated"), {"type": "Digits", "individual_digits": True}]
    sequence.append(LEVEL | {"use_regex": False})
    around = {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "a"}}, {"Sequence": {"id": "A"}}]}
    around["special_tokens"] = {"a": {"ids": [0]}}
    yield "sequence", tokenizer(
        letters, merges, pre_tokenizer={"type": "Sequence", "pretokenizers": sequence},
        post_processor={"type": "Sequence", "processors": [around]}, model={"ignore_merges": True},
    )  # fmt: skip
    space = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": True}
    steps = [{"type": "Prepend", "prepend": "▁"}, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]
    steps += [{"type": "Replace", "pattern": {"Regex": "b+"}, "content": ""}, {"type": "Strip", "strip_left": True}]
    pieces = ["<unk>", *[f"<0x{byte:02X}>" for byte in (0xC3, 0xA9, 0x0A)], "▁", "a", "▁a"]
    own = {"byte_fallback": True, "fuse_unk": True, "unk_token": "<unk>"}
    yield "pieces", tokenizer(
        pieces, ["▁ a"], pre_tokenizer=space, normalizer={"type": "Sequence", "normalizers": steps}, model=own
    )
    for behavior in ("Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous"):
        yield behavior.lower(), tokenizer(letters, merges, pre_tokenizer=split("[a-n]", behavior), normalizer={"type": "NFD"})


def keep(target, name, head):
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(head.encode() + b"\0" + TEXT.encode() + b"\xff\xe6")


def main():
    for name, expression in EXPRESSIONS.items():
        keep("regex", name, expression)
    for name, made in tokenizers():
        keep("tokenize", name, json.dumps(made, ensure_ascii=False))


if __name__ == "__main__":
    main()
