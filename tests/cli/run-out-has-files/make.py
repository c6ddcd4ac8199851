"""Makes samples for an output folder that has files."""

import os

import numpy as np

import cli_models

cli_models.two_outputs()
os.makedirs("data")
for i in range(3):
    np.savez(f"data/s{i}.npz", x=np.full((1, 4), i, np.float32), y=np.full((1, 4), 10, np.float32))
