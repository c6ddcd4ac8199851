"""Makes a file with this defect: another number of tensors than the parts have."""

import llm_files as made

made.gguf_parts("bad", [["a"], ["b"], ["c"]], tensors=4)
