"""Makes a file with this defect: big endian."""

import llm_files as made

made.gguf("bad.gguf", version=3 << 24)
