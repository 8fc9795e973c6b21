"""The tab of a closed world's facts."""
