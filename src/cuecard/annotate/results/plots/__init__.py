"""Plots of results: what is drawn, from a pool, as tables and as SVG."""
