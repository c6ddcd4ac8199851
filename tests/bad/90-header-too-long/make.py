"""Makes a file with this defect: header too long."""

import llm_files as made

made.safetensors_text("bad.safetensors", "{}", length=200_000_000)
