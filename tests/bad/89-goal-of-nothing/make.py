"""Makes models for a goal on a measure that needs labels."""

import evaluate_made

evaluate_made.models(2)
