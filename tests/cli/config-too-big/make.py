open('a.yaml', 'w').write('#' * (5 << 20))
