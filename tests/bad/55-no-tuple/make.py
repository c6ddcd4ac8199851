"""Makes an .npy file whose shape is no tuple."""

from bad_samples import identity, npy_text, write

identity(("x", "float32", [1, 3]))
write("x.npy", npy_text("{'descr': '<f4', 'fortran_order': False, 'shape': [1, 3], }\n", bytes(12)))
