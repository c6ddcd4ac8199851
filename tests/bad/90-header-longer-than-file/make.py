"""Makes a file with this defect: header longer than file."""

import llm_files as made

made.safetensors_text("bad.safetensors", "{}", length=3)
