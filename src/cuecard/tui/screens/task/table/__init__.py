"""The tabs of a table: its rows, and how its columns are compared."""
