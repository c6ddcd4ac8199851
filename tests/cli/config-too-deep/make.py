open('a.json', 'w').write('{"nodes":' + '[' * 40 + ']' * 40 + '}')
