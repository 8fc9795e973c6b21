"""Tools, and what answers them."""
