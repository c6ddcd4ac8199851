"""Makes a file with this defect: hole."""

import llm_files as made

made.safetensors("bad.safetensors", {"a": made.entry("U8", [4], 0, 4), "b": made.entry("U8", [4], 6, 10)}, b"1234567890")
