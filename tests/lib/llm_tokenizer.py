"""A tokenizer.json for small language models: byte-level BPE of letters and two merges."""

import json
import pathlib
import string


def write_tokenizer(folder):
    vocab = {letter: number for number, letter in enumerate(string.ascii_lowercase)}
    vocab |= {"th": 26, "the": 27}
    added = [{"id": 28, "content": "<|end|>", "special": True}]
    root = {
        "added_tokens": added,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True},
        "model": {"type": "BPE", "vocab": vocab, "merges": ["t h", "th e"]},
    }
    pathlib.Path(folder, "tokenizer.json").write_text(json.dumps(root))
    settings = {"eos_token": "<|end|>", "chat_template": "{{ messages }}"}
    pathlib.Path(folder, "tokenizer_config.json").write_text(json.dumps(settings))
