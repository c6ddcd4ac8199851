"""Makes a result in one folder that the other lacks."""

import numpy as np

import evaluate_made

evaluate_made.folders()
np.save('one/more.npy', np.zeros(3))
