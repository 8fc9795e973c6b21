"""Worlds: they offer an agent's tools and answer its tool calls."""
