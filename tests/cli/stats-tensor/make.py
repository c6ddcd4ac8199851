"""Copies statistics for `stats --tensor`."""

from stats_samples import copy

copy(whole="part-0-30")
