import evaluate_made

evaluate_made.models(2)
