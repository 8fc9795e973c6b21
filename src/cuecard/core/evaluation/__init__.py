"""Runs, play sessions, judging and scores: the engine's trials kept in a workspace, through the port `Archive`."""
