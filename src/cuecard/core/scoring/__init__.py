"""Pure functions from verdicts and events to numbers."""
