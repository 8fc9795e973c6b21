"""Scores: pure functions from verdicts and events to measures, each with the number of cases (n) it rests on."""
