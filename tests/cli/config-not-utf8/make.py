"""Makes a configuration file that is not UTF-8."""

open('a.yaml', 'wb').write(b'nodes: true\n# \xff\n')
