"""Results of runs: scores with intervals, comparisons, errors, plots, reports, all computed from one `Pool`."""
