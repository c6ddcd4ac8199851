"""Makes labels of which one is a text."""

import evaluate_made

evaluate_made.models(2)
open('labels.txt', 'w').write('0 1 cat 3')
