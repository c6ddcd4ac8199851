open('a.yaml', 'wb').write(b'nodes: true\n\0\n')
