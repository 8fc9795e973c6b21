"""The families of tasks: the gold, offline play, judging and scores of each."""
