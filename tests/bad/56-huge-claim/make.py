"""Makes an .npy file that claims terabytes."""

from bad_samples import identity, npy_text, write

identity(("x", "float32", [1, 3]))
write("x.npy", npy_text("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000), }\n", bytes(12)))
