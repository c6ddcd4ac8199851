"""Quark's package for tools, as far as Baryon provides it."""
