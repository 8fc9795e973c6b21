"""Users: scripted and simulated players of the user part, and checks of what they say."""
