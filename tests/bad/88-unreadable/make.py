"""Makes a result that is no .npy file."""

import numpy as np

import evaluate_made

evaluate_made.folders()
open('two/result_1.npy', 'wb').write(b'no array')
