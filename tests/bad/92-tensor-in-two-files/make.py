"""Makes a file with this defect: tensor in two files."""

import llm_files as made

for name in ("a", "b"):
    made.safetensors(f"bad/{name}.safetensors", {"w": made.entry("U8", [4], 0, 4)}, b"1234")
