"""What went wrong in trials, and how agents behaved in them: figures and tables of them, from a pool."""
