"""Makes an .npy file whose dimensions overflow when multiplied."""

from bad_samples import identity, npy_text, write

identity(("x", "float32", [1, 3]))
write("x.npy", npy_text("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }\n", bytes(12)))
