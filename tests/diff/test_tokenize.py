"""Ids of src/llm/text beside the package tokenizers, on tokenizers of every family's kind.

They are trained here on texts of Python's own library, so that no model is needed: byte-level BPE
with the expressions of GPT-2, Llama 3, Qwen 2, GPT-4 and GPT-4o, and SentencePiece's BPE with byte
fallback as Llama 2, Mistral and Gemma have it. Texts are code and prose, text in many scripts, and
random bytes.
"""

import itertools
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

DUMP = pathlib.Path(os.environ.get("BUILD", "build")) / "tests/tools/tokenize_dump"
LETTERS = r"[^\r\n\p{L}\p{N}]?\p{L}+|"
REST = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
SHORT = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
EXPRESSIONS = {
    "llama3": SHORT + "|" + LETTERS + r"\p{N}{1,3}" + REST,
    "qwen2": SHORT + "|" + LETTERS + r"\p{N}" + REST,
    "gpt4": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    "gpt4o": rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+{SHORT}?|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*{SHORT}?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
}
WORDS = """Hello wörld naïve é té 日本語テキスト 한국어 한글 मानक हिन्दी العربية
👩‍👩‍👧‍👦 🇩🇪🏳️‍🌈 ﬁ x²³½Ⅷ 's 'S 'ſ 'LL don't 123456789 १२३ $€¥ ... ?! _under_score </s> <|im_start|>
<|endoftext|> <s> Ǆ ǅ İ ß q̣̇ ͸ 𝔘𝔫𝔦 ﷺ ▁ ▁▁a a▁b été don""".split() + [
    "e\u0301te\u0301", "a\u0313\u0301", "\u1112\u1161\u11ab", "\u0307\u0323a", "\u00a0", "\u2003", "\u200b", "\t", "\r\n", "\n\n\n",
    "   ", "\ufeff", "\x00", "\x1b", "\u2028", "\u0085",
]  # fmt: skip
rng = random.Random(3)
LONG = os.environ.get("LONG", "") not in ("", "0")


def library():
    """Some of the sources of Python's own library."""
    folder = pathlib.Path(os.__file__).parent
    names = "argparse ast bisect calendar cmd codecs contextlib csv".split()
    return [(folder / f"{name}.py").read_text("utf-8") for name in names]


def mixed():
    return "".join(rng.choice(WORDS) + rng.choice(["", " ", "  ", "\n"]) for _ in range(8000 if LONG else 3000))


def bytes_of_bpe(name, texts):
    tok = Tokenizer(models.BPE(ignore_merges=name == "llama3"))
    if name == "gpt2":
        tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    elif name == "smollm":
        digits = pre_tokenizers.Digits(individual_digits=True)
        tok.pre_tokenizer = pre_tokenizers.Sequence([digits, pre_tokenizers.ByteLevel(add_prefix_space=False)])
    else:
        split = pre_tokenizers.Split(Regex(EXPRESSIONS[name]), "isolated")
        level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        tok.pre_tokenizer = pre_tokenizers.Sequence([split, level])
    if name == "qwen2":
        tok.normalizer = normalizers.NFC()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    special = ["<|endoftext|>", "<s>"]
    tok.train_from_iterator(
        texts, trainers.BpeTrainer(vocab_size=1200, initial_alphabet=alphabet, special_tokens=special, show_progress=False)
    )
    tok.add_tokens([
        AddedToken("<|im_start|>", lstrip=True, normalized=False, special=False),
        AddedToken("don", single_word=True), AddedToken("été", normalized=True),
    ])  # fmt: skip
    if name == "llama3":
        around = processors.TemplateProcessing(single="<s> $A", pair="<s> $A $B", special_tokens=[("<s>", 1)])
        tok.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), around])
    return json.loads(tok.to_str())


PIECES = {
    "llama2": (normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]), None),
    "gemma": (normalizers.Replace(" ", "▁"), pre_tokenizers.Split(" ", "merged_with_previous")),
    "mistral": (None, pre_tokenizers.Metaspace(prepend_scheme="first", split=False)),
    "always": (None, pre_tokenizers.Metaspace(prepend_scheme="always", split=True)),
}


def pieces(name, texts):
    normalizer, splits = PIECES[name]
    special = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
    tok = Tokenizer(models.BPE(byte_fallback=True, fuse_unk=True, unk_token="<unk>"))
    tok.pre_tokenizer = pre_tokenizers.Metaspace(split=True, prepend_scheme="never")
    tok.train_from_iterator(
        texts, trainers.BpeTrainer(vocab_size=1200, special_tokens=special, limit_alphabet=200, show_progress=False)
    )
    if splits:
        tok.pre_tokenizer = splits
    if normalizer:
        tok.normalizer = normalizer
    if name == "llama2":
        tok.post_processor = processors.TemplateProcessing(
            single="<s> $A </s>", pair="<s> $A $B", special_tokens=[("<s>", 1), ("</s>", 2)]
        )
    made = json.loads(tok.to_str())
    if not splits:
        made["pre_tokenizer"] = None
    made["added_tokens"] = made["added_tokens"][:3]
    if name == "llama2":
        made["added_tokens"].append({
            "id": len(made["model"]["vocab"]), "content": "<|im_start|>", "single_word": False, "lstrip": False,
            "rstrip": True, "normalized": True, "special": False,
        })  # fmt: skip
    return made


def ids(tokenizer, text, around):
    done = subprocess.run([DUMP, tokenizer, text, *["around"] * around], capture_output=True, text=True)
    return [int(line) for line in done.stdout.split()] if not done.returncode else done.stderr.strip()


def compare(folder, name, made, texts):
    failed = 0
    path = folder / f"{name}.json"
    path.write_text(json.dumps(made, ensure_ascii=False))
    tok = Tokenizer.from_file(str(path))
    for kind, text in texts.items():
        for around in (False, True):
            want = tok.encode(text.decode("utf-8", "replace"), add_special_tokens=around).ids
            got = ids(path, folder / kind, around)
            if got != want:
                failed += 1
                print(f"{name}, {kind}: {len(want)} ids of tokenizers, others here: {str(got)[:200]}")
    return failed


# Cuts show in the ids where all short texts are tokens: none of them goes over a cut.
SIGNS = "ab1 "
SHORT_TEXTS = ["".join(text) for length in (1, 2, 3) for text in itertools.product(SIGNS, repeat=length)]
CUTS = [r"[\D\P{L}]{2}", r"[\D\P{Nd}]b", r"a+?b", r"(?:ab??)+1|a{2}?b", r"[^\S\d]b*+", r"(?>a|ab)1", r"(?i:A)(?!b)|1{,2}b", r"b$|^a", "a*", "(?:a{2})?", "(?=b)"]
WAYS = ["isolated", "removed", "merged_with_previous", "merged_with_next", "contiguous"]


def cuts():
    """A tokenizer for each way of cutting, and for parts of expressions that known tokenizers do not have."""
    merges = [(text[:at], text[at:]) for text in SHORT_TEXTS for at in range(1, len(text))]
    splits = [(f"{way}-{invert}", Regex("b+"), way, invert) for way in WAYS for invert in (False, True)]
    splits += [(f"cut-{place}", Regex(expression), "isolated", False) for place, expression in enumerate(CUTS)]
    splits.append(("text", "ab", "merged_with_next", False))
    tok = Tokenizer(models.BPE(vocab={text: place for place, text in enumerate(SHORT_TEXTS)}, merges=merges))
    for name, pattern, way, invert in splits:
        tok.pre_tokenizer = pre_tokenizers.Split(pattern, way, invert)
        yield name, json.loads(tok.to_str())
    for place, expression in enumerate(CUTS):
        tok.normalizer = normalizers.Replace(Regex(expression), "1b")
        yield f"replace-{place}", json.loads(tok.to_str())


DOUBLE = {"type": "Replace", "pattern": {"String": "a"}, "content": "aa"}
# What is refused, and how.
REFUSED = [
    ({"model": {"type": "Unigram"}}, "model.type is 'Unigram', must be BPE"),
    ({"normalizer": {"type": "NFKC"}}, "the normalizer 'NFKC', must be NFC, NFD, Replace, Prepend or Strip"),
    ({"pre_tokenizer": {"type": "UnicodeScripts"}}, "the pre-tokenizer 'UnicodeScripts', must be"),
    ({"post_processor": {"type": "Other"}}, "the post-processor 'Other', must be TemplateProcessing or ByteLevel"),
    ({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["a b"]}}, "model.merges[0]: both parts, and what they"),
    ({"model": {"type": "BPE", "vocab": {"a": -1}, "merges": []}}, "model.vocab: 'a' has no id"),
    ({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [], "dropout": 0.1}}, "model.dropout, must be null"),
    ({"added_tokens": [{"content": "x"}]}, "added_tokens[0]: must have a content and an id"),
] + [
    ({"pre_tokenizer": {"type": "Split", "behavior": "Isolated", "pattern": {"Regex": text}}}, message)
    for text, message in [
        ("a(b", "a group without an end"), ("(?<=a)b", "a kind of group"), (r"\p{Han}", "a property other than"),
        ("[a", "a class without an end"), ("[z-a]", "a range that is none"), ("*a", "a quantifier of nothing"),
        ("(a*)*", "a quantifier of what may be empty"), (r"\b", "an escape that"), ("a)", "a bracket that nothing"),
        ("a{5,2}", "a number of times"), ("(" * 40 + "a" + ")" * 40, "groups that are too deep"),
        ("((a{1000}){1000}){1000}", "too many parts"), ("(a+)+b", "takes more than"),
        ("(?:a|a){15}b|a", "takes more than"),  # all searches together, each of them far less
        ("(?:a??)+", "a quantifier of what may be empty"), ("(?:b|(?:a+?)??)*", "a quantifier of what may be empty"),
        ("a" * 70000, "has too many bytes"),
    ]
] + [
    ({"pre_tokenizer": {"type": "Metaspace", "replacement": "__"}}, "the replacement of a pre-tokenizer must be one character"),
    ({"pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Digits"}] * 33}}, "more than 32 pre-tokenizers"),
    ({"normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}] * 33}}, "more than 32 normalizers"),
    ({"normalizer": {"type": "Sequence", "normalizers": [DOUBLE] * 32}}, "the normalizers make 81920 bytes of 40"),
    ({"normalizer": DOUBLE | {"content": "a" * 33}}, "a content of 33 bytes, must be at most 32"),
]  # fmt: skip


def refusals(folder):
    failed = 0
    base = {"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}, "added_tokens": []}
    (folder / "a").write_text("a" * 40)
    for change, message in REFUSED:
        path = folder / "refused.json"
        path.write_text(json.dumps(base | change))
        got = ids(path, folder / "a", False)
        if not isinstance(got, str) or message not in got:
            failed += 1
            print(f"{change}: '{message}' was expected, there is {got}")
    return failed


def main():
    texts = library()
    kinds = {
        "mixed": mixed().encode(), "code": "\n".join(texts)[: 200000 if LONG else 60000].encode(),
        "broken": rng.randbytes(30000) + mixed().encode()[:20001], "empty": b"", "blank": b" ",
    }  # fmt: skip
    failed = count = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for kind, text in kinds.items():
            (folder / kind).write_bytes(text)
        makers = [(one, bytes_of_bpe) for one in ["gpt2", "smollm", *EXPRESSIONS]] + [(one, pieces) for one in PIECES]
        for one, maker in makers:
            failed += compare(folder, one, maker(one, texts), kinds)
            count += 2 * len(kinds)
        (folder / "signs").write_text(signs := "".join(rng.choices(SIGNS, k=2000)))
        for one, made in cuts():
            failed += compare(folder, one, made, {"signs": signs.encode()})
            count += 2
        failed += refusals(folder)
        count += len(REFUSED)
    print(f"{count - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
