"""Copies statistics for a logarithmic histogram."""

from stats_samples import copy

copy(whole="part-0-30")
