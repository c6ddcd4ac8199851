"""Copies a statistics file that the command extends."""

from stats_samples import copy

copy(whole="part-0-30")
