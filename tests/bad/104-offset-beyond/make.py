"""Makes a file with this defect: offset beyond."""

import llm_files as made

made.gguf("bad.gguf", [], [made.tensor("a", [8], 0, 1152921504606846976)], bytes(32))
