"""Quark's package for quantization, as far as Baryon provides it."""
