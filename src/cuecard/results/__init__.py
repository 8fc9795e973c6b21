"""What a run says: scores with intervals, comparisons, errors, plots' data, and reports to hand on.

Everything is counted from a `Pool` of trials, so that a table on the screen, one in a report and the numbers of
`cuecard score --json` are the same numbers.
"""
