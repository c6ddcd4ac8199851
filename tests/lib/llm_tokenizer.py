"""Tokenizers for small language models: a tokenizer.json of byte-level BPE, a tokenizer.model of pieces."""

import json
import pathlib
import string
import struct


def byte_level():
    """tokenizer.json and tokenizer_config.json."""
    vocab = {letter: number for number, letter in enumerate(string.ascii_lowercase)}
    vocab |= {"th": 26, "the": 27}
    root = {
        "added_tokens": [{"id": 28, "content": "<|end|>", "special": True}],
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True},
        "model": {"type": "BPE", "vocab": vocab, "merges": ["t h", "th e"]},
    }
    return root, {"eos_token": "<|end|>", "chat_template": "{{ messages }}"}


def write_tokenizer(folder):
    for name, content in zip(("tokenizer.json", "tokenizer_config.json"), byte_level()):
        pathlib.Path(folder, name).write_text(json.dumps(content))


def _field(number, value):
    """A field of protobuf: bytes, or a whole number."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


PIECES = [("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("</s>", 0.0, 3), ("\u2581", -1.5, 1), ("a", -2.25, 1), ("b", -3.0, 1),
          ("\u2581ab", -0.5, 1), ("tool", 0.0, 4)]  # fmt: skip
CHARSMAP = bytes(range(7))


def sentencepiece(pieces, prefix=True):
    """The bytes of a BPE model: (text, score, kind) each."""
    model = b"".join(
        _field(1, _field(1, text.encode()) + b"\x15" + struct.pack("<f", score) + _field(3, kind))
        for text, score, kind in pieces)  # fmt: skip
    return model + _field(2, _field(3, 2) + _varint(35 << 3) + b"\x01") + _field(3, _field(3, int(prefix)) + _field(4, 0))


def write_pieces(folder, unigram=False):
    """tokenizer.model of SentencePiece: BPE, or a unigram model with a normalization."""
    model = b"".join(
        _field(1, _field(1, text.encode()) + b"\x15" + struct.pack("<f", score) + _field(3, kind))
        for text, score, kind in PIECES)  # fmt: skip
    model += _field(2, _field(3, 1 if unigram else 2))
    model += _field(3, (_field(2, CHARSMAP) if unigram else b"") + _field(3, 1) + _field(4, int(unigram)))
    pathlib.Path(folder, "tokenizer.model").write_bytes(model)
    settings = {"bos_token": "<s>", "eos_token": {"content": "</s>"}, "unk_token": "<unk>", "add_bos_token": True}
    pathlib.Path(folder, "tokenizer_config.json").write_text(json.dumps(settings))
