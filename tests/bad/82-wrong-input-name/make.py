"""Makes samples that name an input wrongly."""

import numpy as np

import cli_models

cli_models.two_outputs()
np.savez("x.npz", x=cli_models.numbers(1, 4), z=cli_models.numbers(1, 4))
