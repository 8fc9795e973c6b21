"""Plots of results: their data from a pool, as tables and as SVG."""
