"""Makes a file with this defect: a tensor in two parts."""

import llm_files as made

made.gguf_parts("bad", [["a"], ["b"], ["a"]])
