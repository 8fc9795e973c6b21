"""One module (or package) a screen, with its `.tcss` beside it."""
