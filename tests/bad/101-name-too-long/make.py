"""Makes a file with this defect: name too long."""

import llm_files as made

made.gguf("bad.gguf", [], [made.tensor("a" * 65, [8], 0, 0)], bytes(32))
