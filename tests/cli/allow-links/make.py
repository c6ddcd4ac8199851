"""Makes a model whose data file is a symbolic link."""

import os

import cli_models

cli_models.external()
os.rename("weights.bin", "blob")
os.symlink("blob", "weights.bin")
