"""Makes a file with this defect: unknown key."""

import llm_files as made

made.safetensors("bad.safetensors", {"a": {**made.entry("U8", [4], 0, 4), "scale": 1}}, b"1234")
