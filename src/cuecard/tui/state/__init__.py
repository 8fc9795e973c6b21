"""What screens show and decide, in plain Python: no Textual here, so that tests need none."""
