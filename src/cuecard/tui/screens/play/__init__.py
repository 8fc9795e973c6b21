"""Play: be the user, live."""
