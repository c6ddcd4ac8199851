"""Makes two models with different outputs."""

import cli_models
import evaluate_made

evaluate_made.models(2)
cli_models.net('other.onnx')
