"""Fidelity of simulated users: how far they decide and speak like people, and whether scores agree with ratings."""
