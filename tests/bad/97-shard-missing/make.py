"""Makes a file with this defect: shard missing."""

import llm_files as made

made.safetensors("bad/one.safetensors", {"a": made.entry("U8", [4], 0, 4)}, b"1234")
made.write("bad/model.safetensors.index.json", b'{"weight_map": {"a": "one.safetensors", "b": "two.safetensors"}}')
