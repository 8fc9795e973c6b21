"""The Run screen: trials while they are played, and scores of those that are judged."""
