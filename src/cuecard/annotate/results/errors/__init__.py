"""Error analysis: what went wrong in trials and how agents behaved, as numbers and tables."""
