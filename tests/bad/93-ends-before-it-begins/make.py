"""Makes a file with this defect: ends before it begins."""

import llm_files as made

made.safetensors("bad.safetensors", {"a": made.entry("U8", [4], 4, 0)}, b"1234")
