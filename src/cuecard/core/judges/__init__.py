"""Players of the judge part: from a prediction to verdicts."""
