"""Play the agent of somebody else's session: Wizard of Oz."""
