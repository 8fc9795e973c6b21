"""The window of a person who plays the agent of somebody else's session (Wizard of Oz)."""
