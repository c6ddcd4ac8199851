"""Makes a file with this defect: a part is missing."""

import llm_files as made

made.gguf_parts("bad", [["a"], ["b"], ["c"]], left_out=[1])
