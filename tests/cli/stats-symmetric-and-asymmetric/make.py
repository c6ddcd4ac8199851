"""Copies statistics for --symmetric together with --asymmetric."""

from stats_samples import copy

copy(whole="part-0-30")
