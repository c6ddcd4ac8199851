"""Makes a file with this defect: lfs pointer."""

import llm_files as made

made.write("bad.safetensors", b"version https://git-lfs.github.com/spec/v1\n")
