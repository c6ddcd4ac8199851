"""Copies statistics for `stats --sort`."""

from stats_samples import copy

copy(whole="part-0-30")
