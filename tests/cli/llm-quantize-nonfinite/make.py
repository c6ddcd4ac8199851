"""A small language model with weights that are not finite."""

import ml_dtypes
import numpy as np
from lib import llm_weights

arrays = {name: value.astype(ml_dtypes.bfloat16) for name, value in llm_weights.tensors().items()}
arrays["model.layers.1.mlp.up_proj.weight"][5, 7] = np.inf
arrays["model.layers.1.mlp.up_proj.weight"][6, 0] = np.nan
llm_weights.write_model("model", arrays)
