"""Whether the simulated user is a faithful one, and recorded dialogues re-played by people."""
