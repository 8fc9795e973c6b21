"""Checkpoint tasks: chains of sub-questions, offline play and scores."""
