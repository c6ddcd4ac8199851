"""Makes a file with this defect: overflow."""

import llm_files as made

made.safetensors("bad.safetensors", {"a": made.entry("U8", [2**40, 2**40], 0, 4)}, b"1234")
