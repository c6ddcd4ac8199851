"""Makes a statistics file with a flipped bit."""

from stats_samples import copy, damaged

copy(whole="part-0-30")
damaged("whole.stats", 3000)
