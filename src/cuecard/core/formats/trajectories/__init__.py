"""Played trials as other programs' files: pure conversions of a `Trajectory`; `lab.run_exports` writes them."""
