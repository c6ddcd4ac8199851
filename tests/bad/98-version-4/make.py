"""Makes a file with this defect: version 4."""

import llm_files as made

made.gguf("bad.gguf", version=4)
