"""Makes a file with this defect: overflow."""

import llm_files as made

made.gguf("bad.gguf", [], [made.tensor("a", [2**40, 2**40], 0, 0)], bytes(32))
