"""Stacked experts: floats, MXFP4, and MXFP4 without its scales."""

from lib import llm_experts

llm_experts.write_stacks("stacks")
llm_experts.write_gpt_oss("oss")
arrays, _ = llm_experts.gpt_oss()
del arrays["model.layers.1.mlp.experts.down_proj_scales"]
llm_experts.write("damaged", arrays, "gpt_oss", {"quant_method": "mxfp4"})
