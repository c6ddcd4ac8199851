"""Makes a model for inspect awq."""

import llm_files as made

made.llama("model", layers=1)
made.safetensors("model/model.safetensors", {
    "model.layers.0.self_attn.q_proj.qweight": made.entry("I32", [8, 1], 0, 32),
    "model.layers.0.self_attn.q_proj.qzeros": made.entry("I32", [1, 1], 32, 36),
    "model.layers.0.self_attn.q_proj.scales": made.entry("F16", [1, 8], 36, 52)}, bytes(52))
config = made.json.loads(open("model/config.json").read())
config["quantization_config"] = {"quant_method": "awq", "bits": 4, "group_size": 8}
made.write("model/config.json", made.json.dumps(config).encode())
