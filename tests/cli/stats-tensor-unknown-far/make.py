"""Copies statistics for --tensor with a name unlike all others."""

from stats_samples import copy

copy(whole="part-0-30")
