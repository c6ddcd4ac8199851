"""Makes a file with this defect: a first part with another name."""

import llm_files as made

made.gguf("bad.gguf", [made.pair("split.no", made.U16, 0), made.pair("split.count", made.U16, 3),
                       made.pair("split.tensors.count", made.I32, 0)])
