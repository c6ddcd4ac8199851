"""Makes a folder of results of which the command names only one."""

import evaluate_made

evaluate_made.folders()
