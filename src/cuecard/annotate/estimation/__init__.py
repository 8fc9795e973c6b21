"""Estimates that rest on few labels or few tasks: corrected scores, when to stop, components, ranks, items of gold."""
