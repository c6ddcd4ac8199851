"""Makes a file with this defect: type unknown."""

import llm_files as made

made.gguf("bad.gguf", [], [made.tensor("a", [8], 99, 0)], bytes(32))
