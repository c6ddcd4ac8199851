"""Copies statistics for ranges of several types."""

from stats_samples import copy

copy(whole="part-0-30")
