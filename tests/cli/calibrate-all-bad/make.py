"""Makes samples none of which can be read."""

import os

import cli_models

cli_models.net()
os.mkdir("data")
for name in "ab":
    with open(f"data/{name}.npy", "w") as file:
        file.write("no array")
