"""Copies statistics for an option of the table beside --tensor."""

from stats_samples import copy

copy(whole="part-0-30")
