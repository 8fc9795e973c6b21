"""What rescoring a run moved, and why."""
