"""Makes a configuration file that is too big."""

open('a.yaml', 'w').write('#' * (5 << 20))
