"""Makes a file with this defect: cut off."""

import llm_files as made

made.safetensors_text("bad.safetensors", '{"a": {"dtype": "F32"')
