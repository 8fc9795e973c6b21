"""Joins the engine to the workspace: runs, play sessions, judging, scores."""
