"""Makes a file with this defect: key empty."""

import llm_files as made

made.gguf("bad.gguf", [made.pair("", made.U32, 1)])
