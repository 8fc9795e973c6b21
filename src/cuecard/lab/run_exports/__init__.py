"""Runs out of the workspace into files that other programs read."""
