"""Is the simulator a faithful user, and does the score mean anything."""
