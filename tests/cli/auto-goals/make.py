"""Makes a model and samples for `auto`."""

import numpy as np

import cli_models

samples = cli_models.smooth_net()
np.save("x.npy", samples)
np.save("one.npy", samples[:1])
np.save("two.npy", samples[:2])
np.save("few.npy", samples[:5])
with open("labels.txt", "w", encoding="ascii") as file:
    file.write("\n".join(["0"] * len(samples)))
with open("short.txt", "w", encoding="ascii") as file:
    file.write("0 1 2")
for name, label in (("beyond", "99"), ("below", "-1")):
    with open(f"{name}.txt", "w", encoding="ascii") as file:
        file.write(" ".join([*["0"] * (len(samples) - 1), label]))
