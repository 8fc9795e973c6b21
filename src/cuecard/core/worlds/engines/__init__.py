"""Search engines: how each is asked, and how its results read."""
