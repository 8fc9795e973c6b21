"""Labels in files: formats, export of items to be labelled, and import of labels that were given outside."""
