"""Copies statistics for a plain `stats`."""

from stats_samples import copy

copy(whole="part-0-30")
