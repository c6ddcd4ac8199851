"""Makes a configuration file that is nested too deep."""

open('a.json', 'w').write('{"nodes":' + '[' * 40 + ']' * 40 + '}')
