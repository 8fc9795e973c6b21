"""Parts that many screens are made of."""
