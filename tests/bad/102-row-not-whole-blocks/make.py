"""Makes a file with this defect: row not whole blocks."""

import llm_files as made

made.gguf("bad.gguf", [], [made.tensor("a", [48, 2], 2, 0)], bytes(32))
