"""Makes a file with this defect: string too long."""

import llm_files as made

made.gguf("bad.gguf", [b"\xff" * 7 + b"\x7f" + b"key" + bytes(20)])
