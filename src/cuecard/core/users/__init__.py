"""Players of the user part of a trial."""
