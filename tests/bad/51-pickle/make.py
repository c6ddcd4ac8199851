"""Makes an .npy file whose unpickling would run code."""

import numpy as np
from bad_samples import identity, npy, write

identity(("x", "float32", [1, 3]))


class Trap:
    """Unpickling this would write a file."""

    def __reduce__(self):
        return open, ("executed", "w")


write("x.npy", npy(np.array([[Trap(), 1, 2]], object)))
