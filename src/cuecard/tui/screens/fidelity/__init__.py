"""Screens on the fidelity of simulated users, and re-play of recorded dialogues by people."""
