"""Screens for labelling: runs and sets, drawing a set, labelling items, and adjudication."""
