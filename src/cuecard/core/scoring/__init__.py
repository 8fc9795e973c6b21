"""Scores: pure functions from verdicts and events to numbers, each with its n."""
