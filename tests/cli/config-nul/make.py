"""Makes a configuration file with a NUL byte."""

open('a.yaml', 'wb').write(b'nodes: true\n\0\n')
