"""Makes a file with this defect: part missing."""

import llm_files as made

made.safetensors("bad/model-00001-of-00002.safetensors", {})
