"""A small language model."""

from lib import llm_weights

llm_weights.write_model("model")
