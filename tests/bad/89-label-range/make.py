"""Makes labels of which one is not a class."""

import evaluate_made

evaluate_made.models(2)
open('labels.txt', 'w').write('0 1 2 8')
