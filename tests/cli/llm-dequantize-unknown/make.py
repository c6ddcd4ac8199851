"""A language model in a layout that is not read: codes must not be copied as if they were weights."""

from lib import llm_weights

llm_weights.write_model("model", quantization={"quant_method": "bitsandbytes"})
