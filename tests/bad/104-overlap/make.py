"""Makes a file with this defect: overlap."""

import llm_files as made

made.gguf("bad.gguf", [], [made.tensor("a", [16], 0, 0), made.tensor("b", [8], 0, 32)], bytes(96))
