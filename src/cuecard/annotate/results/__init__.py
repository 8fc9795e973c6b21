"""What runs say: scores with intervals, comparisons, errors, plots and reports, all counted from one `Pool` of trials."""
