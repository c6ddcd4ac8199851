"""Makes a file with this defect: type removed."""

import llm_files as made

made.gguf("bad.gguf", [], [made.tensor("a", [32], 4, 0)], bytes(32))
