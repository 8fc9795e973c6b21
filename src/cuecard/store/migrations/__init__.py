"""The versions of the database, oldest first. A test keeps this list equal to the scripts."""

VERSIONS = ("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008")
HEAD = VERSIONS[-1]
