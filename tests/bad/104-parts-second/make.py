"""Makes a file with this defect: it is not the first part."""

import llm_files as made

made.gguf_parts("bad", [["a"], ["b"], ["c"]])
