"""Makes a file with this defect: no object."""

import llm_files as made

made.safetensors_text("bad.safetensors", "[1]")
