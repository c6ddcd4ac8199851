"""Makes a file with this defect: metadata no text."""

import llm_files as made

made.safetensors("bad.safetensors", {}, __metadata__={"a": 1})
