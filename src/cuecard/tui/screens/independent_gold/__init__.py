"""Screens for independent golds: building one from the brief, and comparing it with the author's."""
