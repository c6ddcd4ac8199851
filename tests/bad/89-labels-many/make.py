"""Makes more labels than the samples have rows."""

import evaluate_made

evaluate_made.models(2)
open('labels.txt', 'w').write('0 1 2 3 4')
