"""Makes a file with this defect: dtype unknown."""

import llm_files as made

made.safetensors("bad.safetensors", {"a": made.entry("Q4_0", [4], 0, 4)}, b"1234")
