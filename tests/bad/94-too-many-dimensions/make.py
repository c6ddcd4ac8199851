"""Makes a file with this defect: too many dimensions."""

import llm_files as made

made.safetensors("bad.safetensors", {"a": made.entry("U8", [1] * 9, 0, 1)}, b"1")
