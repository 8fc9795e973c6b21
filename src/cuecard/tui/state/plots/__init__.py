"""Plots drawn in characters, and where their cursor goes: no Textual, no colours but names of inks."""
