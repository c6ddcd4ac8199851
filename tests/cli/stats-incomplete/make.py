"""Copies statistics of few and of no samples."""

from stats_samples import copy

copy(one="part-5-6", empty="part-0-0")
