"""Makes results for --min with a misspelled measure."""

import evaluate_made

evaluate_made.folders()
