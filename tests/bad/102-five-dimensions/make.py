"""Makes a file with this defect: five dimensions."""

import llm_files as made

made.gguf("bad.gguf", [], [made.tensor("a", [8, 1, 1, 1, 1], 0, 0)], bytes(32))
