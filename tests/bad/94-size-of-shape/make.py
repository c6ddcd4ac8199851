"""Makes a file with this defect: size of shape."""

import llm_files as made

made.safetensors("bad.safetensors", {"a": made.entry("F32", [4], 0, 4)}, b"1234")
