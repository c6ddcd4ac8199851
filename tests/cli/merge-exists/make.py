"""Copies statistics to merge into a file that exists."""

from stats_samples import copy

copy(a="part-0-13", b="part-13-30", one="part-5-6", whole="part-0-30", empty="part-0-0", other="other-20-30")
