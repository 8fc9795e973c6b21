"""Labels in files: formats, export of items to label, and import of labels given elsewhere."""
