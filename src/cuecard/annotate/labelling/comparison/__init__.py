"""Agreement of judges with people: labels and verdicts are read, compared, and shown as tables."""
