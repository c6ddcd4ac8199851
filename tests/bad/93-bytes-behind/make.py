"""Makes a file with this defect: bytes behind."""

import llm_files as made

made.safetensors("bad.safetensors", {"a": made.entry("U8", [4], 0, 4)}, b"12345")
