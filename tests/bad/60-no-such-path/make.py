from bad_samples import identity

identity(("x", "float32", [1, 3]))
