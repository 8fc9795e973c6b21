"""The list of tasks: find, open, begin, import, archive."""
