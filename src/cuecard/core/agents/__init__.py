"""Players of the agent part of a trial."""
