"""Labelling verdicts by hand: choosing and drawing sets, labelling, and adjudicating disputes."""
