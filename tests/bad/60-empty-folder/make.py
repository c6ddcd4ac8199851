"""Makes an empty folder of samples."""

import pathlib

from bad_samples import identity

identity(("x", "float32", [1, 3]))
pathlib.Path("data").mkdir()
