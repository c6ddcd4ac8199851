"""Copies statistics for `stats --json`."""

from stats_samples import copy

copy(whole="part-0-30")
