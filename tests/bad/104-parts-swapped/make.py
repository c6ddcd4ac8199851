"""Makes a file with this defect: the number is of another part."""

import llm_files as made

made.gguf_parts("bad", [["a"], ["b"], ["c"]], numbers=[0, 2, 1])
