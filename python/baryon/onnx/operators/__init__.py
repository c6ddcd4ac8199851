"""Quark's package for operators, as far as Baryon provides it."""
