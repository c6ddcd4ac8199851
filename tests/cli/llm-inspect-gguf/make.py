"""Makes a model for inspect gguf."""

import llm_files as made

made.gguf("model.gguf", [made.pair("general.architecture", made.STRING, "llama")],
          [made.tensor("blk.0.attn_q.weight", [32, 4], 2, 0),
           made.tensor("token_embd.weight", [32, 2], 1, 96)], bytes(224))
