"""Screens of what runs say: comparisons, errors, plots, and the trials behind a figure."""
