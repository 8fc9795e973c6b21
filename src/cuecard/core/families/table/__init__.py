"""Table tasks: gold tables, offline play, judging and scores."""
