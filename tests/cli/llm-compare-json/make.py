"""Makes models for compare json."""

import llm_files as made

made.llama("a", layers=1, hidden=32)
made.llama("b", layers=1, hidden=32)
data = bytearray(open("b/model.safetensors", "rb").read())
data[-1] ^= 1
made.write("b/model.safetensors", bytes(data))
