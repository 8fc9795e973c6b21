"""Screens for results of runs: comparisons, errors, plots, and the trials behind a number."""
