"""Makes an int64 sample with a value that does not fit the input's int32."""

import numpy as np
from bad_samples import identity, npy, write

identity(("x", "int32", [1, 3]))
write("x.npy", npy(np.array([[1, 2, 1 << 31]])))
