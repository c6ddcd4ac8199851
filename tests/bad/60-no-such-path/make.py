"""Makes a model whose sample path does not exist."""

from bad_samples import identity

identity(("x", "float32", [1, 3]))
