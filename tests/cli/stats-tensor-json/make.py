"""Copies statistics for `stats --tensor --json`."""

from stats_samples import copy

copy(one="part-5-6")
