"""The screens, one module or package each, with their `.tcss` beside them."""
