"""People's labels on a judge's verdicts: drawn, given blind, adjudicated, compared, and what they change of scores."""
