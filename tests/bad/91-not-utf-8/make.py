"""Makes a file with this defect: not utf 8."""

import llm_files as made

made.safetensors_text("bad.safetensors", b"{\"\xff\": 1}")
