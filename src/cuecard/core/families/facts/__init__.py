"""Facts tasks: closed worlds of atomic facts, offline play and scores."""
