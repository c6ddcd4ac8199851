"""Copies a statistics file that the command cuts off."""

from stats_samples import copy

copy(whole="part-0-30")
