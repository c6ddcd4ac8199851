"""Makes a file with this defect: pairs claimed."""

import llm_files as made

made.gguf("bad.gguf", counts=(0, (1 << 64) - 1))
