"""A report on one or more runs in one file that can be sent."""
