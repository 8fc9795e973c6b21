"""Widgets shared by screens: `load(model)` in, `to_model()` and typed messages out."""
