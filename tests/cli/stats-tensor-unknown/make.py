"""Copies statistics for --tensor with a misspelled name."""

from stats_samples import copy

copy(whole="part-0-30")
