"""Checks that standard input is JSON without repeated keys and prints it."""

import json
import sys
from collections import Counter


def unique(pairs):
    twice = [key for key, count in Counter(key for key, _ in pairs).items() if count > 1]
    assert not twice, f"{sys.argv[1]}: {twice} stand twice"
    return dict(pairs)


print(sys.argv[1], *json.loads(sys.stdin.read(), object_pairs_hook=unique), sep=" ", end="\n")
