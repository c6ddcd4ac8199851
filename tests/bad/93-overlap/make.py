"""Makes a file with this defect: overlap."""

import llm_files as made

made.safetensors("bad.safetensors", {"a": made.entry("U8", [4], 0, 4), "b": made.entry("U8", [4], 2, 6)}, b"123456")
