open('a.yaml', 'wb').write(b'nodes: true\n# \xff\n')
