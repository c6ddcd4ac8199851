"""Makes a file with this defect: no weight map."""

import llm_files as made

made.write("bad/model.safetensors.index.json", b"{}")
