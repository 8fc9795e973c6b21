"""Judges: they turn a prediction into one verdict per gold item. One works by rules, one asks a model."""
