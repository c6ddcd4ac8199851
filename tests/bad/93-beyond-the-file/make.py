"""Makes a file with this defect: beyond the file."""

import llm_files as made

made.safetensors("bad.safetensors", {"a": made.entry("U8", [4], 0, 4)}, b"123")
