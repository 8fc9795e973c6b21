"""What a reviewer would find wrong with a well-formed task, found by rule before a reviewer has to."""
