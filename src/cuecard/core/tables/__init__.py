"""Tables of everything, and one renderer of them for each form."""
