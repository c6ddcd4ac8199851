"""Makes a file with this defect: tensor twice."""

import llm_files as made

made.gguf("bad.gguf", [], [made.tensor("a", [8], 0, 0), made.tensor("a", [8], 0, 32)], bytes(64))
