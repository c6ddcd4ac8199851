"""Makes a file with this defect: version 0."""

import llm_files as made

made.gguf("bad.gguf", version=0)
