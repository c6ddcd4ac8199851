"""Makes a file with this defect: tensors claimed."""

import llm_files as made

made.gguf("bad.gguf", counts=(1 << 60, 0))
