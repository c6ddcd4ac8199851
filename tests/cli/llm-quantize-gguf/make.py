"""Makes a small Llama with a tokenizer."""

from lib import llm_tokenizer, llm_weights

llm_weights.write_model("model")
llm_tokenizer.write_tokenizer("model")
