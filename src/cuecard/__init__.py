"""Cuecard: a terminal workbench for benchmarks of interactive search agents."""

__version__ = "0.1.0"
