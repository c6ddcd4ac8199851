"""Makes two folders without results."""

import os

for name in ('one', 'two'):
    os.makedirs(name)
open('one/notes.txt', 'w').close()
