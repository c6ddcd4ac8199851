"""Makes samples of the same name in two folders."""

import os

import numpy as np

import cli_models

cli_models.embedding()
for i, folder in enumerate(("one", "two")):
    os.makedirs(folder)
    np.save(f"{folder}/a.npy", np.full((1, 3), i, np.int64))
open("list.txt", "w").write("one/a.npy\ntwo/a.npy\n")
