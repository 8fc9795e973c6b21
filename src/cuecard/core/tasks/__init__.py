"""Tasks, personas, what every family's gold has in common, and task files."""
