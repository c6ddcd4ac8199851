import evaluate_made

evaluate_made.folders()
