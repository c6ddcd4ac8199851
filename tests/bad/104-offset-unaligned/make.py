"""Makes a file with this defect: offset unaligned."""

import llm_files as made

made.gguf("bad.gguf", [], [made.tensor("a", [8], 0, 8)], bytes(96))
