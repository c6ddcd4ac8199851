"""Makes a file with this defect: nested too deep."""

import llm_files as made

content = (made.U8, [1])
for _ in range(5):
    content = (made.ARRAY, [content])
made.gguf("bad.gguf", [made.pair("deep", made.ARRAY, content)])
