"""Makes a file with this defect: parts that disagree about how many there are."""

import llm_files as made

made.gguf_parts("bad", [["a"], ["b"], ["c"]], counts=[3, 3, 4])
