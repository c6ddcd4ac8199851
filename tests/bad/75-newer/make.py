"""Makes a statistics file of a newer version."""

from stats_samples import copy, damaged

copy(whole="part-0-30")
damaged("whole.stats", 8, 3)
