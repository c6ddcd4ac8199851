"""Makes two models and samples for reports of `evaluate`."""

import evaluate_made

evaluate_made.models(9)
