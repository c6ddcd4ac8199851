"""Makes results for `evaluate --json`."""

import evaluate_made

evaluate_made.folders()
