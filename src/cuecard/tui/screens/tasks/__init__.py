"""The Tasks screen: list, filter, create, import, export, archive."""
