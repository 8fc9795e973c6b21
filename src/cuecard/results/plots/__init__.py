"""Plots of results: what is drawn (`model`), from a pool (`builders`), as tables (`tables`) and as SVG (`svg`)."""
