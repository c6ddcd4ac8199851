"""Makes a small Llama with a tokenizer, and an importance matrix of some of its tensors, in llama-imatrix's older form."""

import pathlib
import struct

from lib import llm_tokenizer, llm_weights

llm_weights.write_model("model")
llm_tokenizer.write_tokenizer("model")


def entry(name, values):
    return struct.pack(f"<i{len(name)}sii", len(name), name, 2, len(values)) + struct.pack(f"<{len(values)}f", *values)


names = [f"blk.{layer}.attn_{part}.weight".encode() for layer in (0, 1) for part in ("q", "k", "v", "output")]
entries = [entry(name, [1 + i % 5 for i in range(llm_weights.HIDDEN)]) for name in [*names, b"blk.7.attn_q.weight"]]
pathlib.Path("importance.dat").write_bytes(struct.pack("<i", len(entries)) + b"".join(entries))
pathlib.Path("short.dat").write_bytes(struct.pack("<i", 1) + entry(names[0], [1.0] * 5))
