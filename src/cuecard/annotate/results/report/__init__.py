"""A report on one or more runs as a single file."""
