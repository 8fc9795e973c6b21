"""Working apart: what one person did as a file, and such files brought together."""
