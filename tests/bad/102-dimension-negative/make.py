"""Makes a file with this defect: dimension negative."""

import llm_files as made

made.gguf("bad.gguf", [], [made.tensor("a", [2**64 - 8], 0, 0)], bytes(32))
