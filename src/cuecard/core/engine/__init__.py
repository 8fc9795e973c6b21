"""The engine: plays one trial or many, records each step once, and goes on from what is recorded."""
