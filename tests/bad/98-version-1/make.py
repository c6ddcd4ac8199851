"""Makes a file with this defect: version 1."""

import llm_files as made

made.gguf("bad.gguf", version=1)
