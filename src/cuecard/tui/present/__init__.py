"""What screens show and decide, in plain Python: no widgets here, so that tests need no screen."""
