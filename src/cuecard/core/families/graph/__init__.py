"""Graph tasks: gold triples, offline play, judging and scores."""
