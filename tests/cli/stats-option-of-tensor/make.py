"""Copies statistics for an option that needs --tensor."""

from stats_samples import copy

copy(whole="part-0-30")
