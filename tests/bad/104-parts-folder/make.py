"""Makes a file with this defect: a folder that lacks the first part."""

import llm_files as made

made.gguf_parts("bad/bad", [["a"], ["b"], ["c"]], left_out=[0])
