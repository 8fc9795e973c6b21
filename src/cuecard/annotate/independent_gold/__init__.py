"""Independent golds: a second person builds the gold from the brief alone, both are compared, differences are decided."""
