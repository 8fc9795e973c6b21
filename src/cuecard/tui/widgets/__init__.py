"""Widgets shared by screens. Data goes in with `load`, and comes out as typed messages."""
